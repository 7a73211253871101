//! `POST /v1/integration/orders` (SPECIFICATION §4.1).

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, LOCATION};
use actix_web::web::{Data, Payload};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use domain::{KeyScope, Mode, RequestId};
use internal_api::keys::AuthenticatedKey;
use web::{ApiError, no_query, read_json};

use super::openapi::{bodies, params};
use super::{authenticate, errors, order_body, quota};
use crate::commands::create_order::{CreateError, CreateOrder, Placed, create_order, find_by_key};
use crate::commands::retry_tests::{note_failure, note_replay};
use crate::domain::{ExistingOrder, Fingerprint, RequestIdentity};
use crate::state::State;

/// Create an order
///
/// Call this once per confirmed order, from your backend. A Test key creates a test order: no driver, no money, the same webhooks.
/// A Live key creates a real delivery and takes `payment.deliveryFeePaise` from the wallet, exactly once.
///
/// If you get no answer, or 429 or 503, repeat the request with the same `Idempotency-Key` and the same body: if the order already
/// exists, you get the first answer again, byte for byte, with `Idempotent-Replayed: true`. A refused request leaves nothing
/// behind, so the corrected request may use the same key.
#[utoipa::path(
    post,
    path = "/v1/integration/orders",
    operation_id = "createOrder",
    tag = "Orders",
    params(params::CreateHeaders),
    request_body(content = bodies::NewOrder, description = "The confirmed order."),
    responses((
        status = 201,
        description = "The order is created; a live one is paid. A repeated request gets this exact answer again.",
        body = ref("#/components/schemas/OrderCreated"),
        content_type = "application/json",
    )),
)]
// Authenticates, then reads the body, then decides (SPECIFICATION §4.1, order of checks).
pub(super) async fn create(
    state: Data<State>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let caller = authenticate::identify(&state, &request).await?;
    let request_id = request_id(&request)?;
    let outcome = place(&state, &request, payload, &caller, request_id).await;
    // Neither floods nor outages may cause writes.
    if let Err(error) = &outcome
        && caller.mode == Mode::Test
        && !matches!(error.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
        && let Ok(key) = idempotency_key(request.headers())
    {
        note_failure(&state, caller.business_id, &key, request_id).await;
    }
    outcome
}

async fn place(
    state: &Data<State>,
    request: &HttpRequest,
    payload: Payload,
    caller: &AuthenticatedKey,
    request_id: RequestId,
) -> Result<HttpResponse, ApiError> {
    let replay = quota::charge_replay(state, request, caller)?;
    authenticate::require(caller, KeyScope::WriteOrders)?;
    let command = match read(request, payload, caller.clone(), request_id).await {
        Ok(command) => command,
        Err(unreadable) => {
            quota::charge_request(state, request, caller)?;
            return Err(unreadable);
        }
    };
    let known = match quota::charge_request(state, request, caller) {
        Ok(()) => None,
        // Over the limit, only replays are answered.
        Err(too_many) => Some(find_by_key(state, &command).await?.ok_or(too_many)?),
    };
    let charged = known.is_none().then_some(caller.key_id);
    // A client that disconnects must not stop a payment half-way.
    let running = Arc::clone(state);
    let outcome = state.tasks.run(async move { create_order(&running, command, known).await }).await?;
    let placed = outcome.map_err(|error| refusal(state, error))?;
    if placed.replayed {
        quota::was_replay(state, request, replay, charged);
        if caller.mode == Mode::Test {
            note_replay(state, caller.business_id, placed.order_id, request_id).await;
        }
    }
    Ok(created(placed))
}

fn refusal(state: &State, error: CreateError) -> ApiError {
    let tracking_url = |existing: &ExistingOrder| state.tracking_urls.of(&existing.tracking_code);
    errors::from_create(error, &state.brand, tracking_url)
}

fn created(placed: Placed) -> HttpResponse {
    let mut response = HttpResponse::build(StatusCode::CREATED);
    response.content_type("application/json");
    response.insert_header((LOCATION, format!("/v1/integration/orders/{}", placed.order_id)));
    if placed.replayed {
        response.insert_header(("Idempotent-Replayed", "true"));
    }
    response.body(placed.receipt)
}

async fn read(
    request: &HttpRequest,
    payload: Payload,
    caller: AuthenticatedKey,
    request_id: RequestId,
) -> Result<CreateOrder, ApiError> {
    no_query(request)?;
    let idempotency_key = idempotency_key(request.headers())?;
    let body = read_json(request, payload).await?;
    let draft = order_body::read(&body);
    let identity = RequestIdentity {
        idempotency_key,
        order_reference: order_body::reference(&body),
        fingerprint: Fingerprint::of(&body),
        meaning: Fingerprint::of_meaning(body),
    };
    Ok(CreateOrder { caller, request_id, identity, draft })
}

/// The id that the edge assigned.
fn request_id(request: &HttpRequest) -> Result<RequestId, ApiError> {
    let given = request.extensions().get::<RequestId>().copied();
    given.ok_or_else(|| ApiError::internal("the request has no id"))
}

pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<String, ApiError> {
    web::idempotency_key(headers)?.ok_or_else(|| {
        ApiError::new(
            StatusCode::BAD_REQUEST,
            "idempotency_key_missing",
            "Send an Idempotency-Key header: a stable unique text per local order, such as <website>-<order id>.",
        )
    })
}
