//! `POST /v1/integration/orders` (`spec.md` §4.1).

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, LOCATION};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::keys::GoodKey;
use web::{ApiError, read_json};

use super::{authenticate, errors, order_body, quota};
use crate::app::App;
use crate::commands::create_order::{CreateError, CreateOrder, create_order, held_by_key};
use crate::domain::Fingerprint;

const IDEMPOTENCY_KEY_MAX: usize = 255;

/// Authenticates before it reads, and reads before it judges (`design.md` §5, order of checks).
pub(super) async fn create(
    app: Data<App>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let caller = authenticate::identify(&app, &request).await?;
    let replay = quota::charge_replay(&app, &request, &caller)?;
    let command = match read(&request, payload, caller.clone()).await {
        Ok(command) => command,
        Err(unreadable) => {
            quota::charge_request(&app, &request, &caller)?;
            return Err(unreadable);
        }
    };
    let refused = |error: CreateError| {
        errors::from_create(error, |claim| app.ambient.tracking_url(&claim.tracking_code))
    };
    let held = match quota::charge_request(&app, &request, &caller) {
        Ok(()) => None,
        // Only a replay may still be answered.
        Err(too_many) => Some(held_by_key(&app, &command).await.map_err(refused)?.ok_or(too_many)?),
    };
    let charged = held.is_none().then_some(caller.key_id);
    // The client may go away; its order is placed or not, but never left half-way.
    let running = Arc::clone(&app);
    let outcome = app.tasks.run(async move { create_order(&running, command, held).await }).await?;
    let placed = outcome.map_err(refused)?;
    if placed.replayed {
        quota::was_replay(&app, &request, replay, charged);
    }
    let mut response = HttpResponse::build(StatusCode::CREATED);
    response.content_type("application/json");
    response.insert_header((LOCATION, format!("/v1/integration/orders/{}", placed.order_id)));
    if placed.replayed {
        response.insert_header(("Idempotent-Replayed", "true"));
    }
    Ok(response.body(placed.receipt))
}

async fn read(request: &HttpRequest, payload: Payload, caller: GoodKey) -> Result<CreateOrder, ApiError> {
    let idempotency_key = idempotency_key(request.headers())?;
    let body = read_json(request, payload).await?;
    let (fingerprint, draft) = (Fingerprint::of(&body), order_body::read(&body));
    Ok(CreateOrder { caller, idempotency_key, fingerprint, draft })
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
            "The Idempotency-Key must be given once and be 1 to 255 printable ASCII characters.",
        )),
    }
}
