//! `POST /internal/payments/{provider}/notices`: a notice of the payment provider, which portal-api forwards unchanged.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use internal_api::wallet::{NoticeAnswer, PaymentNotice};
use web::{ApiError, JsonBody, Tasks};

use super::errors;
use crate::commands::process_notice::process_notice;
use crate::payments::RawNotice;
use crate::state::State;

pub(super) async fn process(
    state: Data<State>,
    tasks: Data<Tasks>,
    provider: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    if *provider != state.provider.name().as_str() {
        return Err(ApiError::not_found("payment_provider_not_found", "payment provider"));
    }
    let notice: PaymentNotice = serde_json::from_value(body.0)
        .map_err(|_| ApiError::invalid_field("", "invalid_type", "The body must be a payment notice."))?;
    let raw = RawNotice { signature: notice.signature, body: notice.body };
    let state = state.into_inner();
    let work = async move { process_notice(&state, &raw).await };
    let outcome = tasks.run(work).await?.map_err(errors::from_notice)?;
    Ok(HttpResponse::Ok().json(NoticeAnswer { outcome: outcome.to_string() }))
}
