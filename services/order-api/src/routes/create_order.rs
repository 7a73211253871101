//! `POST /v1/integration/orders` (`spec.md` §4.1).

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, LOCATION};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use web::{ApiError, read_json};

use super::{authenticate, errors, order_body};
use crate::app::App;
use crate::commands::create_order::{CreateOrder, create_order};
use crate::domain::Fingerprint;

const IDEMPOTENCY_KEY_MAX: usize = 255;

/// Authenticates before it reads, and reads before it judges (`design.md` §5, order of checks).
pub(super) async fn create(
    app: Data<App>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let caller = authenticate::business(&app, &request).await?;
    let idempotency_key = idempotency_key(request.headers())?;
    let body = read_json(&request, payload).await?;
    let command = CreateOrder {
        caller,
        idempotency_key,
        fingerprint: Fingerprint::of(&body),
        draft: order_body::read(&body),
    };
    // The client may go away; its order is placed or not, but never left half-way.
    let app = Arc::clone(&app);
    let (tasks, links) = (app.tasks.clone(), app.ambient.clone());
    let outcome = tasks.run(async move { create_order(&app, command).await }).await?;
    let placed = outcome
        .map_err(|error| errors::from_create(error, |claim| links.tracking_url(&claim.tracking_code)))?;
    let mut response = HttpResponse::build(StatusCode::CREATED);
    response.content_type("application/json");
    response.insert_header((LOCATION, format!("/v1/integration/orders/{}", placed.order_id)));
    if placed.replayed {
        response.insert_header(("Idempotent-Replayed", "true"));
    }
    Ok(response.body(placed.receipt))
}

fn idempotency_key(headers: &HeaderMap) -> Result<String, ApiError> {
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
