//! Ids in paths. An invalid id is 404, like an unknown one.

use domain::{ApiKeyId, BusinessId};
use web::ApiError;

use super::errors::key_not_found;

pub(super) fn business(text: &str) -> Result<BusinessId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("business_not_found", "business"))
}

pub(super) fn key_of_business(
    (business, key): &(String, String),
) -> Result<(BusinessId, ApiKeyId), ApiError> {
    Ok((self::business(business)?, key.parse().map_err(|_| key_not_found())?))
}
