//! Places an order (SPECIFICATION §10). A test order takes one transaction. A live order moves money in the wallet's
//! database too: it is stored as `pending_payment`, paid by an idempotent debit, and then placed. Each step may be
//! repeated by a later request or by recovery, with the same result.

mod admission;
mod outcome;
pub(crate) mod receipt;

use std::time::Duration;

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{DeliveryStatus, Mode, OrderId, Paise, TrackingCode};
use internal_api::keys::AuthenticatedKey;
use postgres::StoreError;
use tokio::time::Instant;

use self::admission::{check_live_access, complete_pickup};
pub use self::outcome::{CreateError, CreateOrder, InvalidOrder, LockedBusiness, Placed, ReusedKey};
use super::settlement::{Settlement, SettlementError, debit, void};
use crate::domain::{ExistingOrder, NewOrder, OrderDraft, Placement, Resolution, differences};
use crate::order_writer::InsertOutcome;
use crate::state::State;
use crate::store::{existing_orders, orders, placement};

/// A request without an outcome by then is told to retry.
const DEADLINE: Duration = Duration::from_secs(5);

/// Places the requested order, or returns the order that an earlier request placed. Most requests are new, so the order
/// is stored first, and only a conflict loads the existing order. `known` skips the first step: it is the result of
/// [`find_by_key`].
pub async fn create_order(
    state: &State,
    request: CreateOrder,
    known: Option<ExistingOrder>,
) -> Result<Placed, CreateError> {
    let deadline = Instant::now() + DEADLINE;
    let mut creation = Creation { state, request: &request, draft: None, deadline };
    let mut step = Step::resolve_or_insert(known);
    loop {
        step = match step {
            Step::Done(placed) => return Ok(placed),
            _ if Instant::now() >= deadline => return Err(CreateError::Unknown),
            Step::Insert => creation.insert().await?,
            Step::Resolve(existing) => creation.resolve(*existing).await?,
        };
    }
}

/// The order with the Idempotency-Key of this request.
pub async fn find_by_key(state: &State, request: &CreateOrder) -> Result<Option<ExistingOrder>, StoreError> {
    let AuthenticatedKey { business_id, mode, .. } = request.caller;
    let key = &request.identity.idempotency_key;
    let find = async |conn: &mut _| existing_orders::by_key(conn, business_id, mode, key).await;
    state.unit.database.read(find).await
}

enum Step {
    /// Store the request as a new order.
    Insert,
    /// An existing order has the reference or the Idempotency-Key.
    Resolve(Box<ExistingOrder>),
    Done(Placed),
}

impl Step {
    fn resolve_or_insert(existing: Option<ExistingOrder>) -> Self {
        existing.map_or(Self::Insert, |existing| Self::Resolve(Box::new(existing)))
    }
}

/// The row of an order: a new one, or a released one.
struct Row {
    id: OrderId,
    tracking_code: TrackingCode,
    /// Of the first request. Lists promise this order, and are sorted by the ids, which a takeover keeps.
    created_at: DateTime<Utc>,
}

struct Creation<'a> {
    state: &'a State,
    request: &'a CreateOrder,
    /// The valid draft with its pickup, after the first admission.
    draft: Option<OrderDraft>,
    deadline: Instant,
}

impl Creation<'_> {
    async fn insert(&mut self) -> Result<Step, CreateError> {
        let unit = &self.state.unit;
        let row = Row {
            id: OrderId::generate(&unit.clock, &unit.entropy),
            tracking_code: TrackingCode::generate(self.request.caller.mode, &unit.entropy),
            created_at: unit.clock.now(),
        };
        let new = match self.admit(row).await {
            Ok(new) => new,
            // A replay is answered even if the business is locked now.
            Err(refusal) => {
                let existing = find_by_key(self.state, self.request).await?.ok_or(refusal)?;
                return Ok(Step::Resolve(Box::new(existing)));
            }
        };
        match self.state.order_writer.insert(new.clone()).await? {
            InsertOutcome::Stored if new.mode == Mode::Test => Ok(Step::Done(placed(new.id, new.receipt))),
            InsertOutcome::Stored => {
                let now = new.created_at;
                self.pay(&pending(new, 1, now)).await
            }
            InsertOutcome::Conflict => Ok(Step::resolve_or_insert(self.find_conflicting(&new).await?)),
        }
    }

    /// Mirrors the table of [`ExistingOrder::resolve`].
    async fn resolve(&mut self, existing: ExistingOrder) -> Result<Step, CreateError> {
        match existing.resolve(&self.request.identity) {
            Resolution::Replay => Ok(Step::Done(replayed(existing))),
            Resolution::Resume => self.resume(existing).await,
            Resolution::TakeOver => self.take_over(existing).await,
            Resolution::RefuseReusedKey => Err(self.reused_key(existing).await?),
            Resolution::RefuseExistingReference => Err(CreateError::ReferenceExists(Box::new(existing))),
            Resolution::RefuseInProgress => Err(CreateError::OrderInProgress),
        }
    }

    /// Continues the payment of an earlier request. If the business is locked meanwhile, voids the payment instead.
    async fn resume(&self, existing: ExistingOrder) -> Result<Step, CreateError> {
        let settled = match check_live_access(self.state, &self.request.caller).await {
            Ok(_) => debit(self.state, &existing, self.deadline).await,
            Err(locked @ CreateError::Locked { .. }) => {
                match void(self.state, &existing, self.deadline).await {
                    Ok(Settlement::Voided | Settlement::Rejected { .. }) => return Err(locked),
                    ended => ended,
                }
            }
            Err(error) => return Err(error),
        };
        match settled {
            Ok(Settlement::Placed) => Ok(Step::Done(replayed(existing))),
            Ok(Settlement::Rejected { balance, owed }) => Err(insufficient_balance(&existing, balance, owed)),
            Ok(Settlement::Voided) => Ok(Step::Insert),
            Err(SettlementError::OutcomeUnknown) => Err(CreateError::KeyInProgress),
            Err(error) => Err(error.into()),
        }
    }

    /// Reuses the row of a released order. The next attempt prevents that a late debit of the previous one posts.
    async fn take_over(&mut self, released: ExistingOrder) -> Result<Step, CreateError> {
        let row = Row {
            id: released.order_id,
            tracking_code: released.tracking_code.clone(),
            created_at: released.created_at,
        };
        let new = self.admit(row).await?;
        let now = self.state.unit.clock.now();
        let take_over = async |conn: &mut _| placement::take_over(conn, &released, &new, now).await;
        // One statement needs no transaction; in one, a violated constraint would be an error.
        match self.state.unit.database.read(take_over).await? {
            true => self.pay(&pending(new, released.attempt + 1, now)).await,
            false => Ok(Step::Insert),
        }
    }

    async fn pay(&self, order: &ExistingOrder) -> Result<Step, CreateError> {
        match debit(self.state, order, self.deadline).await? {
            Settlement::Placed => Ok(Step::Done(placed(order.order_id, order.receipt.clone()))),
            Settlement::Rejected { balance, owed } => Err(insufficient_balance(order, balance, owed)),
            Settlement::Voided => Ok(Step::Insert),
        }
    }

    /// Checks live access before each attempt, and validates the draft once.
    async fn admit(&mut self, row: Row) -> Result<NewOrder, CreateError> {
        let caller = &self.request.caller;
        let context = check_live_access(self.state, caller).await?;
        let draft = match self.draft.take() {
            Some(draft) => draft,
            None => {
                let draft = self.request.draft.clone().map_err(CreateError::Invalid)?;
                complete_pickup(self.state, caller, context, draft).await?
            }
        };
        let new = self.new_order(row, &draft)?;
        self.draft = Some(draft);
        Ok(new)
    }

    fn new_order(&self, row: Row, draft: &OrderDraft) -> Result<NewOrder, CreateError> {
        let CreateOrder { caller, identity, request_id, .. } = self.request;
        let mut new = NewOrder {
            id: row.id,
            business_id: caller.business_id,
            mode: caller.mode,
            order_reference: draft.order_reference.clone(),
            idempotency_key: identity.idempotency_key.clone(),
            fingerprint: identity.fingerprint,
            meaning: identity.meaning,
            tracking_code: row.tracking_code,
            order_source: draft.order_source.clone(),
            payment_type: draft.payment.payment_type,
            delivery_fee: draft.payment.delivery_fee_paise,
            cod_amount: draft.payment.cod_amount_paise,
            details: draft.details().into(),
            receipt: Vec::new(),
            created_at: row.created_at,
            request_id: *request_id,
            key_id: caller.key_id,
        };
        new.receipt = receipt::render(&self.state.tracking_urls, &new, &draft.warnings.listed())?;
        Ok(new)
    }

    /// The order with the key, else the one with the reference. `None`: it has released its key meanwhile.
    async fn find_conflicting(&self, new: &NewOrder) -> Result<Option<ExistingOrder>, StoreError> {
        let NewOrder { business_id, mode, .. } = *new;
        let find = async |conn: &mut AsyncPgConnection| -> Result<_, StoreError> {
            match existing_orders::by_key(conn, business_id, mode, &new.idempotency_key).await? {
                Some(existing) => Ok(Some(existing)),
                None => existing_orders::by_reference(conn, business_id, mode, &new.order_reference).await,
            }
        };
        self.state.unit.database.read(find).await
    }

    async fn reused_key(&self, existing: ExistingOrder) -> Result<CreateError, StoreError> {
        let AuthenticatedKey { business_id, mode, .. } = self.request.caller;
        let find = async |conn: &mut _| orders::find(conn, business_id, Some(mode), existing.order_id).await;
        let order = self.state.unit.database.read(find).await?;
        let differences = match (&self.request.draft, order) {
            (Ok(draft), Some(order)) => differences(draft, &order),
            _ => Vec::new(),
        };
        Ok(CreateError::KeyReused(Box::new(ReusedKey { existing, differences })))
    }
}

fn placed(order_id: OrderId, receipt: Vec<u8>) -> Placed {
    Placed { order_id, receipt, replayed: false }
}

fn replayed(existing: ExistingOrder) -> Placed {
    Placed { order_id: existing.order_id, receipt: existing.receipt, replayed: true }
}

fn insufficient_balance(order: &ExistingOrder, balance: Paise, owed: Paise) -> CreateError {
    CreateError::InsufficientBalance { balance, owed, required: order.delivery_fee }
}

/// The row of a stored order that waits for its payment.
fn pending(new: NewOrder, attempt: i32, now: DateTime<Utc>) -> ExistingOrder {
    ExistingOrder {
        order_id: new.id,
        business_id: new.business_id,
        placement: Placement::PendingPayment,
        attempt,
        meaning: Some(new.bound_meaning()),
        order_reference: new.order_reference,
        tracking_code: new.tracking_code,
        status: DeliveryStatus::Created,
        idempotency_key: new.idempotency_key,
        fingerprint: new.fingerprint,
        payment_type: new.payment_type,
        delivery_fee: new.delivery_fee,
        cod_amount: new.cod_amount,
        receipt: new.receipt,
        created_at: new.created_at,
        updated_at: now,
    }
}
