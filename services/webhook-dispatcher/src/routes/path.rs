//! The ids in a path. A malformed id is an unknown one: 404.

use domain::{BusinessId, EndpointId, WebhookDeliveryId};
use web::ApiError;

use super::errors::{delivery_not_found, endpoint_not_found};

pub(super) fn business(text: &str) -> Result<BusinessId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("business_not_found", "business"))
}

pub(super) fn endpoint(
    (business, endpoint): &(String, String),
) -> Result<(BusinessId, EndpointId), ApiError> {
    Ok((self::business(business)?, endpoint.parse().map_err(|_| endpoint_not_found())?))
}

pub(super) fn delivery(
    (business, delivery): &(String, String),
) -> Result<(BusinessId, WebhookDeliveryId), ApiError> {
    Ok((self::business(business)?, delivery.parse().map_err(|_| delivery_not_found())?))
}
