//! `POST /internal/payments/{provider}/notices`: what a payment provider posted to portal-api, passed on as it came.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use internal_api::wallet::{NoticeAnswer, PaymentNotice};
use web::{ApiError, JsonBody};

use super::errors;
use crate::commands::take_notice::take_notice;
use crate::payments::RawNotice;
use crate::state::State;

pub(super) async fn notice(
    state: Data<State>,
    provider: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    // A provider that is not ours has nothing to tell us.
    if *provider != state.provider.name().as_str() || !state.provider.name().is_real() {
        return Err(ApiError::not_found("payment_provider_not_found", "payment provider"));
    }
    let notice: PaymentNotice = serde_json::from_value(body.0)
        .map_err(|_| ApiError::invalid_field("", "invalid_type", "The body must be a payment notice."))?;
    let raw = RawNotice { signature: notice.signature, body: notice.body };
    let state = state.into_inner();
    let tasks = state.tasks.clone();
    let work = async move { take_notice(&state, &raw).await };
    let outcome = tasks.run(work).await?.map_err(errors::from_notice)?;
    Ok(HttpResponse::Ok().json(NoticeAnswer { outcome: outcome.to_string() }))
}
