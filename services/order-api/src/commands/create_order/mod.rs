//! Placing an order (SPECIFICATION §10). A test order is one transaction. A live order moves money in another service's
//! database, so it is intent, idempotent debit, finalise: stored as `pending_payment`, paid, then placed; and every
//! step may be done again by whoever comes next, with the same end.

mod batches;
mod drive;
pub(crate) mod receipt;

use std::time::Duration;

use domain::{GoLiveItem, Mode, OrderId, RequestId, TrackingCode};
use internal_api::CallError;
use internal_api::keys::AuthenticatedKey;
use internal_api::ordering::OrderingContext;
use postgres::StoreError;
use telemetry::TraceContext;
use tokio::time::Instant;
use web::FieldError;

pub use batches::{Intent, IntentBatch, IntentOutcome, Payment, PaymentBatch};
pub(super) use drive::{Driven, settle};

use crate::app::App;
use crate::domain::{
    Claim, NewOrder, OrderDraft, Pickup, Placement, Said, Warning, differences, warn_of_place,
};
use crate::store::{claims, orders, placing};

/// How long a request may take to learn its outcome before it is told to come again.
const DEADLINE: Duration = Duration::from_secs(5);

/// A request for an order, read but not yet judged.
pub struct CreateOrder {
    pub caller: AuthenticatedKey,
    pub request_id: RequestId,
    pub idempotency_key: String,
    pub said: Said,
    /// The faults count only once a replay and a locked business are ruled out (SPECIFICATION §12, order of checks).
    pub draft: Result<OrderDraft, InvalidOrder>,
}

/// A body that is no order: every fault, and what else in it may not be what was meant.
#[derive(Clone, Debug)]
pub struct InvalidOrder {
    pub field_errors: Vec<FieldError>,
    pub warnings: Vec<Warning>,
}

/// The order that holds the key of another request, and in which fields the two differ, as far as the order tells.
#[derive(Debug)]
pub struct ReusedKey {
    pub claim: Claim,
    pub differences: Vec<String>,
}

/// A placed order's 201.
#[derive(Debug)]
pub struct Placed {
    pub order_id: OrderId,
    /// The bytes stored with the order.
    pub receipt: Vec<u8>,
    pub replayed: bool,
}

/// Why there is no order. Nothing is kept of any of these: the same key may be tried again.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    #[error("the key was used for another body")]
    KeyReused(Box<ReusedKey>),
    #[error("live orders are locked")]
    Locked { missing: Vec<GoLiveItem>, was_live: bool },
    #[error("the request is not valid")]
    Invalid(InvalidOrder),
    #[error("the reference has an order")]
    ReferenceExists(Box<Claim>),
    #[error("another request for this reference is being paid")]
    OrderInProgress,
    #[error("the wallet is too low")]
    InsufficientBalance { balance: domain::Paise, required: domain::Paise },
    #[error("the outcome is not known in time")]
    Unknown,
    #[error("an earlier request of the same key is not done in time")]
    KeyInProgress,
    #[error(transparent)]
    Peer(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Places the order that `request` asks for, or finds the one that it asked for before. `held` is what [`held_by_key`]
/// found of it, if it was asked: most requests are new, and learn from the attempt to store theirs that they are not.
pub async fn create_order(
    app: &App,
    mut request: CreateOrder,
    mut held: Option<Claim>,
) -> Result<Placed, CreateError> {
    let deadline = Instant::now() + DEADLINE;
    let mut looked_up = held.is_some();
    while Instant::now() < deadline {
        if let Some(claim) = held.take() {
            if let Some(placed) = resume(app, &request, claim, deadline).await? {
                return Ok(placed);
            }
        } else {
            match judge(app, &mut request).await {
                // What was placed before is answered again, whatever has become of the business since.
                Err(_) if !looked_up => {}
                Err(refusal) => return Err(refusal),
                Ok(()) => match place_new(app, &request, deadline).await? {
                    Attempt::Placed(placed) => return Ok(placed),
                    Attempt::Conflict(new) if looked_up => {
                        if let Some(placed) = resolve_conflict(app, &request, *new, deadline).await? {
                            return Ok(placed);
                        }
                    }
                    Attempt::Conflict(_) | Attempt::CalledOff => {}
                },
            }
        }
        held = held_by_key(app, &request).await?;
        looked_up = true;
    }
    Err(CreateError::Unknown)
}

/// Answers for the order that holds the request's key, once it is placed. `None`: its debit was called off.
async fn resume(
    app: &App,
    request: &CreateOrder,
    claim: Claim,
    deadline: Instant,
) -> Result<Option<Placed>, CreateError> {
    if claim.placement != Placement::Placed {
        let driven = match live_access(app, &request.caller).await {
            Ok(_) => drive::drive(app, &claim, deadline).await,
            // Locked since: nothing more is asked of the wallet, and whatever was asked for is called off first.
            Err(locked @ CreateError::Locked { .. }) => match drive::call_off(app, &claim, deadline).await {
                Ok(Driven::Released) => return Err(locked),
                ended => ended,
            },
            Err(error) => return Err(error),
        };
        match driven {
            Ok(Driven::Placed) => {}
            Ok(Driven::Released) => return Ok(None),
            Err(CreateError::Unknown) => return Err(CreateError::KeyInProgress),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(Placed { order_id: claim.order_id, receipt: claim.receipt, replayed: true }))
}

/// Whether the request may be placed; what it leaves out of its pickup is filled in.
async fn judge(app: &App, request: &mut CreateOrder) -> Result<(), CreateError> {
    let context = live_access(app, &request.caller).await?;
    match &mut request.draft {
        Ok(draft) => fill_pickup(app, &request.caller, context, draft).await,
        Err(invalid) => Err(CreateError::Invalid(invalid.clone())),
    }
}

/// The order that this request's key holds; another body under the same key is refused.
pub async fn held_by_key(app: &App, request: &CreateOrder) -> Result<Option<Claim>, CreateError> {
    let mut conn = app.database.connection().await?;
    let AuthenticatedKey { business_id, mode, .. } = request.caller;
    let claim = claims::by_key(&mut conn, business_id, mode, &request.idempotency_key).await?;
    match claim {
        Some(claim) if !claim.is_said_by(&request.said) => {
            let order = orders::find(&mut conn, business_id, Some(mode), claim.order_id).await?;
            let differences = match (&request.draft, order) {
                (Ok(draft), Some(order)) => differences(draft, &order),
                _ => Vec::new(),
            };
            Err(CreateError::KeyReused(Box::new(ReusedKey { claim, differences })))
        }
        claim => Ok(claim),
    }
}

/// What portal-api says of a business that orders for real; a locked one is refused. Test orders need not ask.
async fn live_access(app: &App, caller: &AuthenticatedKey) -> Result<Option<OrderingContext>, CreateError> {
    if caller.mode == Mode::Test {
        return Ok(None);
    }
    let context = app.ordering.context(caller.business_id).await?;
    match context.missing.is_empty() {
        true => Ok(Some(context)),
        false => {
            let mut conn = app.database.connection().await?;
            let was_live = orders::has_live(&mut conn, caller.business_id).await?;
            Err(CreateError::Locked { missing: context.missing, was_live })
        }
    }
}

/// What a request leaves out of its pickup, the business's profile says. A business that only tries things out may not
/// have one yet, which its test order survives.
async fn fill_pickup(
    app: &App,
    caller: &AuthenticatedKey,
    context: Option<OrderingContext>,
    draft: &mut OrderDraft,
) -> Result<(), CreateError> {
    let given = draft.pickup.take().unwrap_or_default();
    let vague = given.has_part_of_an_address();
    let pickup = if given.leaves_something_out() {
        let context = match context {
            Some(context) => context,
            None => app.ordering.context(caller.business_id).await?,
        };
        draft.pickup_is_filled = true;
        let filled = given.filled_from(context.pickup.map(Pickup::from).unwrap_or_default());
        warn_of_place("pickup", &filled.place, &mut draft.warnings);
        filled
    } else {
        given
    };
    if pickup.is_usable() {
        draft.pickup = Some(pickup);
        if vague {
            draft.warnings.add(
                "pickup",
                "pickup_address_replaced",
                "The pickup gives only part of an address, so that of the pickup profile is used. Send addressLine1, city and pincode, or fullAddress, or none of it.",
            );
        }
    } else {
        draft.pickup = Some(pickup).filter(|pickup| !pickup.is_empty());
        draft.warnings.add(
            "pickup",
            "pickup_profile_incomplete",
            "The pickup has no whole address and the pickup profile is not complete; a driver needs one of them.",
        );
    }
    Ok(())
}

/// What became of storing an order as a new one.
enum Attempt {
    Placed(Placed),
    /// Its debit was called off meanwhile.
    CalledOff,
    /// Its reference, or its key, is held by another order.
    Conflict(Box<NewOrder>),
}

/// Stores the order and drives it to its end.
async fn place_new(app: &App, request: &CreateOrder, deadline: Instant) -> Result<Attempt, CreateError> {
    let draft = request.draft.as_ref().map_err(|invalid| CreateError::Invalid(invalid.clone()))?;
    let new = new_order(app, request, draft)?;
    let placement = match request.caller.mode {
        Mode::Test => Placement::Placed,
        Mode::Live => Placement::PendingPayment,
    };
    let order_id = new.id;
    let receipt = new.receipt.clone();
    match app.intents.submit(Intent { order: new.clone(), placement, trace: TraceContext::current() }).await?
    {
        IntentOutcome::Stored if placement == Placement::Placed => {
            app.testers.note(request.caller.business_id);
            app.notifier.notify();
            Ok(Attempt::Placed(Placed { order_id, receipt, replayed: false }))
        }
        IntentOutcome::Stored => {
            let paid = pay(app, &claim_of(&new, order_id, 1), deadline).await?;
            Ok(paid.map_or(Attempt::CalledOff, Attempt::Placed))
        }
        IntentOutcome::Conflict => Ok(Attempt::Conflict(Box::new(new))),
    }
}

async fn pay(app: &App, claim: &Claim, deadline: Instant) -> Result<Option<Placed>, CreateError> {
    Ok(match drive::drive(app, claim, deadline).await? {
        Driven::Placed => {
            Some(Placed { order_id: claim.order_id, receipt: claim.receipt.clone(), replayed: false })
        }
        Driven::Released => None,
    })
}

/// The reference, or the key, is held by another order. `None`: something else moved meanwhile; look again.
async fn resolve_conflict(
    app: &App,
    request: &CreateOrder,
    mut new: NewOrder,
    deadline: Instant,
) -> Result<Option<Placed>, CreateError> {
    let mut conn = app.database.connection().await?;
    let AuthenticatedKey { business_id, mode, .. } = request.caller;
    let Some(holder) = claims::by_reference(&mut conn, business_id, mode, &new.order_reference).await? else {
        // The key is held; the next look finds by whom.
        return Ok(None);
    };
    let ours = holder.idempotency_key == request.idempotency_key;
    match holder.placement {
        Placement::Released => {
            // The row keeps its id and tracking code from now on; only the request's own part changes.
            new.id = holder.order_id;
            new.tracking_code = holder.tracking_code.clone();
            new.receipt = receipt::render(&app.ambient, &new, &warnings(request))?;
            if !placing::take_over(&mut conn, &holder, &new).await? {
                return Ok(None);
            }
            drop(conn);
            pay(app, &claim_of(&new, holder.order_id, holder.attempt + 1), deadline).await
        }
        _ if ours => Ok(None),
        Placement::Placed => Err(CreateError::ReferenceExists(Box::new(holder))),
        Placement::PendingPayment => Err(CreateError::OrderInProgress),
    }
}

fn warnings(request: &CreateOrder) -> Vec<Warning> {
    request.draft.as_ref().map(|draft| draft.warnings.listed()).unwrap_or_default()
}

fn new_order(app: &App, request: &CreateOrder, draft: &OrderDraft) -> Result<NewOrder, CreateError> {
    let mode = request.caller.mode;
    let mut new = NewOrder {
        id: OrderId::generate(&app.ambient.clock, &app.ambient.entropy),
        business_id: request.caller.business_id,
        mode,
        order_reference: draft.order_reference.clone(),
        idempotency_key: request.idempotency_key.clone(),
        fingerprint: request.said.fingerprint,
        meaning: request.said.meaning,
        tracking_code: TrackingCode::generate(mode, &app.ambient.entropy),
        order_source: draft.order_source.clone(),
        payment_type: draft.payment.payment_type,
        delivery_fee: draft.payment.delivery_fee_paise,
        cod_amount: draft.payment.cod_amount_paise,
        details: draft.details().into(),
        receipt: Vec::new(),
        created_at: app.ambient.clock.now(),
        request_id: request.request_id,
        key_id: request.caller.key_id,
    };
    new.receipt = receipt::render(&app.ambient, &new, &draft.warnings.listed())?;
    Ok(new)
}

fn claim_of(new: &NewOrder, order_id: OrderId, attempt: i32) -> Claim {
    Claim {
        order_id,
        business_id: new.business_id,
        placement: Placement::PendingPayment,
        attempt,
        order_reference: new.order_reference.clone(),
        tracking_code: new.tracking_code.clone(),
        status: domain::DeliveryStatus::Created,
        idempotency_key: new.idempotency_key.clone(),
        fingerprint: new.fingerprint,
        meaning: Some(new.sealed_meaning()),
        delivery_fee: new.delivery_fee,
        receipt: new.receipt.clone(),
    }
}
