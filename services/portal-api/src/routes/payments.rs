//! `POST /v1/payments/{provider}/webhook`: where the payment provider tells of payments. wallet knows the secret and
//! judges the signature, over the bytes as they came; nothing of them is read here.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::wallet::PaymentNotice;
use serde_json::json;
use web::{ApiError, read_bytes};

use crate::app::App;

/// Longer than any signature of a provider's.
const HEADER_MAX: usize = 256;

/// 2xx is final; the provider sends everything else again.
#[utoipa::path(
    post,
    path = "/v1/payments/{provider}/webhook",
    operation_id = "takePaymentNotice",
    tag = "Payments",
    summary = "A notice of the payment provider, signed by it",
    params(("provider" = String, Path, description = "Its name.")),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, description = "It was taken.")),
)]
pub(super) async fn webhook(
    app: Data<App>,
    provider: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    // No other header is passed on: the signature is over the body alone.
    let signature = request.headers().get("x-razorpay-signature").and_then(|value| value.to_str().ok());
    let signature = match (provider.as_str(), signature.filter(|value| value.len() <= HEADER_MAX)) {
        ("razorpay", Some(signature)) => signature.to_owned(),
        ("razorpay", None) => {
            let message = "Send the signature over the body as X-Razorpay-Signature.";
            return Err(ApiError::new(StatusCode::UNAUTHORIZED, "payment_signature_invalid", message));
        }
        _ => return Err(ApiError::not_found("payment_provider_not_found", "payment provider")),
    };
    let bytes = read_bytes(&request, payload).await?;
    let body = String::from_utf8(bytes.to_vec()).map_err(|_| {
        ApiError::new(StatusCode::BAD_REQUEST, "payment_notice_unreadable", "The notice is not valid UTF-8.")
    })?;
    let notice = PaymentNotice { signature, body };
    let answer = app.peers.wallet.payment_notice(&provider, &notice).await?;
    Ok(HttpResponse::Ok().json(json!({ "received": true, "outcome": answer.outcome })))
}
