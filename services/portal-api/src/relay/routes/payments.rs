//! `POST /v1/payments/{provider}/webhook`: notifications of the payment provider. Forwarded unread to wallet, which verifies
//! the signature over the exact bytes.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::wallet::PaymentNotice;
use serde_json::json;
use web::{ApiError, read_bytes};

use crate::state::State;

/// Longer than any provider's signature.
const HEADER_MAX: usize = 256;

/// The provider retries all responses other than 2xx.
#[utoipa::path(
    post,
    path = "/v1/payments/{provider}/webhook",
    operation_id = "takePaymentNotice",
    tag = "Payments",
    summary = "Receive a signed notification of the payment provider",
    params(("provider" = String, Path, description = "The name of the provider.")),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, description = "The notification was accepted.")),
)]
pub(crate) async fn webhook(
    state: Data<State>,
    provider: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    // Other headers are not forwarded: the signature covers only the body.
    let signature = request.headers().get("x-razorpay-signature").and_then(|value| value.to_str().ok());
    let signature = match (provider.as_str(), signature.filter(|value| value.len() <= HEADER_MAX)) {
        // Where the sandbox is not the provider, wallet answers 404.
        ("razorpay" | "sandbox", Some(signature)) => signature.to_owned(),
        ("razorpay" | "sandbox", None) => {
            let message = "The signature is missing or too long. Send the signature over the body as X-Razorpay-Signature.";
            return Err(ApiError::new(StatusCode::UNAUTHORIZED, "payment_signature_invalid", message));
        }
        _ => return Err(ApiError::not_found("payment_provider_not_found", "payment provider")),
    };
    let bytes = read_bytes(&request, payload).await?;
    let body = String::from_utf8(bytes.to_vec()).map_err(|_| {
        ApiError::new(
            StatusCode::BAD_REQUEST,
            "payment_notice_unreadable",
            "The notification is not valid UTF-8. Send it as JSON.",
        )
    })?;
    let notice = PaymentNotice { signature, body };
    let answer = state.peers.wallet.payment_notice(&provider, &notice).await?;
    Ok(HttpResponse::Ok().json(json!({ "received": true, "outcome": answer.outcome })))
}
