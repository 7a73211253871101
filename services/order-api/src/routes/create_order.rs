//! `POST /v1/integration/orders` (SPECIFICATION §4.1).

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, LOCATION};
use actix_web::web::{Data, Payload};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use domain::{BusinessId, Mode, OrderId, RequestId};
use internal_api::keys::AuthenticatedKey;
use web::{ApiError, no_query, read_json};

use super::{authenticate, errors, order_body, quota};
use crate::app::App;
use crate::commands::create_order::{CreateError, CreateOrder, create_order, held_by_key};
use crate::domain::{Claim, FailedRequest, Fingerprint, KeyHash, Replay, Said};
use crate::retries::Seen;

const IDEMPOTENCY_KEY_MAX: usize = 255;

/// Authenticates before it reads, and reads before it judges (SPECIFICATION §12, order of checks).
pub(super) async fn create(
    app: Data<App>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let caller = authenticate::identify(&app, &request).await?;
    let request_id = request_id(&request)?;
    let outcome = place(&app, &request, payload, &caller, request_id).await;
    if outcome.is_err() && caller.mode == Mode::Test {
        note_failure(&app, request.headers(), caller.business_id, request_id);
    }
    outcome
}

async fn place(
    app: &Data<App>,
    request: &HttpRequest,
    payload: Payload,
    caller: &AuthenticatedKey,
    request_id: RequestId,
) -> Result<HttpResponse, ApiError> {
    let replay = quota::charge_replay(app, request, caller)?;
    let command = match read(request, payload, caller.clone(), request_id).await {
        Ok(command) => command,
        Err(unreadable) => {
            quota::charge_request(app, request, caller)?;
            return Err(unreadable);
        }
    };
    let refused = |error: CreateError| {
        let tracking_url = |claim: &Claim| app.ambient.tracking_url(&claim.tracking_code);
        errors::from_create(error, &app.settings.brand.name, tracking_url)
    };
    let held = match quota::charge_request(app, request, caller) {
        Ok(()) => None,
        // Only a replay may still be answered.
        Err(too_many) => Some(held_by_key(app, &command).await.map_err(refused)?.ok_or(too_many)?),
    };
    let charged = held.is_none().then_some(caller.key_id);
    // The client may go away; its order is placed or not, but never left half-way.
    let running = Arc::clone(app);
    let outcome = app.tasks.run(async move { create_order(&running, command, held).await }).await?;
    let placed = outcome.map_err(refused)?;
    if placed.replayed {
        quota::was_replay(app, request, replay, charged);
        note_replay(app, caller, placed.order_id, request_id);
    }
    let mut response = HttpResponse::build(StatusCode::CREATED);
    response.content_type("application/json");
    response.insert_header((LOCATION, format!("/v1/integration/orders/{}", placed.order_id)));
    if placed.replayed {
        response.insert_header(("Idempotent-Replayed", "true"));
    }
    Ok(response.body(placed.receipt))
}

/// Evidence that a retry of what succeeded was tried.
fn note_replay(app: &App, caller: &AuthenticatedKey, order_id: OrderId, request_id: RequestId) {
    if caller.mode == Mode::Test {
        let (business_id, at) = (caller.business_id, app.ambient.clock.now());
        app.retries.saw(Seen::Replayed(Replay { business_id, order_id, request_id, at }));
    }
}

/// Evidence of the failure, should the same key succeed later.
fn note_failure(app: &App, headers: &HeaderMap, business_id: BusinessId, request_id: RequestId) {
    if let Ok(key) = idempotency_key(headers) {
        let (key, at) = (KeyHash::of(&key), app.ambient.clock.now());
        app.retries.saw(Seen::Failed(FailedRequest { business_id, key, request_id, at }));
    }
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
    let said = Said {
        fingerprint: Fingerprint::of(&body),
        meaning: Fingerprint::of_meaning(&body),
        order_reference: order_body::reference(&body),
    };
    Ok(CreateOrder { caller, request_id, idempotency_key, said, draft: order_body::read(&body) })
}

/// As the edge gave it.
fn request_id(request: &HttpRequest) -> Result<RequestId, ApiError> {
    let given = request.extensions().get::<RequestId>().copied();
    given.ok_or_else(|| ApiError::internal("a request came without its id"))
}

pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<String, ApiError> {
    let mut keys = headers.get_all("Idempotency-Key");
    let Some(key) = keys.next() else {
        return Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "idempotency_key_missing",
            "Send an Idempotency-Key header: a stable unique text per local order, such as <website>-<order id>.",
        ));
    };
    let printable = |key: &&[u8]| {
        (1..=IDEMPOTENCY_KEY_MAX).contains(&key.len()) && key.iter().all(|byte| (0x20..0x7f).contains(byte))
    };
    let text =
        Some(key.as_bytes().trim_ascii()).filter(printable).and_then(|key| std::str::from_utf8(key).ok());
    match (text, keys.next()) {
        (Some(key), None) => Ok(key.to_owned()),
        _ => Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "idempotency_key_invalid",
            "Send one Idempotency-Key header of 1 to 255 printable ASCII characters.",
        )),
    }
}
