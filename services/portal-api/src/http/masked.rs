//! Masks personal data in the response of a call, for roles that do not see it.

use actix_web::Error;
use actix_web::body::{BoxBody, MessageBody, to_bytes_limited};
use actix_web::dev::ServiceResponse;
use domain::BusinessId;
use serde_json::Value;
use web::ApiError;

use crate::domain::Mask;
use crate::state::State;

/// More than any page of orders.
const ANSWER_MAX_BYTES: usize = 2 * 1024 * 1024;
/// Larger responses are masked outside of the thread that serves all requests.
const INLINE_MAX_BYTES: usize = 16 * 1024;

/// Sends an error instead of a response that cannot be masked. Errors of calls contain no personal data of others.
pub(crate) async fn masked<B: MessageBody + 'static>(
    state: &State,
    business: BusinessId,
    response: ServiceResponse<B>,
    mask: Option<Mask>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let Some(mask) = mask.filter(|_| response.status().is_success()) else {
        return Ok(response.map_into_boxed_body());
    };
    let unreadable = || ApiError::internal("a response with orders is not JSON, so it cannot be masked");
    let (request, response) = response.into_parts();
    let (head, body) = response.into_parts();
    let bytes = to_bytes_limited(body, ANSWER_MAX_BYTES).await.map_err(|_| unreadable())?;
    let bytes = bytes.map_err(|_| unreadable())?;
    let body = if bytes.len() > INLINE_MAX_BYTES {
        state.masking.run(business, move || masked_json(&bytes, mask)).await?
    } else {
        masked_json(&bytes, mask)
    };
    let body = body.map_err(|_| unreadable())?;
    Ok(ServiceResponse::new(request, head.set_body(BoxBody::new(body))))
}

fn masked_json(bytes: &[u8], mask: Mask) -> Result<Vec<u8>, serde_json::Error> {
    let mut answer: Value = serde_json::from_slice(bytes)?;
    mask.apply(&mut answer);
    serde_json::to_vec(&answer)
}
