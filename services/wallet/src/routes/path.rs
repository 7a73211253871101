//! Ids in paths. A malformed id is 404, like an unknown one.

use domain::{BusinessId, OrderId, TopUpId};
use web::ApiError;

use super::errors::top_up_not_found;
use crate::domain::DebitId;

pub(super) fn business(text: &str) -> Result<BusinessId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("business_not_found", "business"))
}

/// `{business}/orders/{order}`
pub(super) fn order((business, order): &(String, String)) -> Result<(BusinessId, OrderId), ApiError> {
    let order = order.parse().map_err(|_| ApiError::not_found("order_not_found", "order"))?;
    Ok((self::business(business)?, order))
}

/// `{business}/top-ups/{id}`
pub(super) fn top_up((business, id): &(String, String)) -> Result<(BusinessId, TopUpId), ApiError> {
    let id = id.parse().map_err(|_| top_up_not_found())?;
    Ok((self::business(business)?, id))
}

/// `{order}/{attempt}`; attempts are counted from 1.
pub(super) fn debit((order, attempt): &(String, String)) -> Result<DebitId, ApiError> {
    let order = order.parse().ok();
    let attempt = attempt.parse().ok().filter(|attempt: &i32| *attempt >= 1);
    match (order, attempt) {
        (Some(order), Some(attempt)) => Ok(DebitId { order, attempt }),
        _ => Err(ApiError::not_found("debit_not_found", "debit: its id is an order's and an attempt from 1")),
    }
}
