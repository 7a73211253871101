//! Query strings: pages and single values.

use actix_web::{HttpRequest, web};
use internal_api::PageQuery;

use crate::ApiError;

const LIMIT_DEFAULT: usize = 20;
const LIMIT_MAX: usize = 100;

/// One value of the query string; 400 when it is given twice.
///
/// # Errors
/// When the query string is malformed or names the value more than once.
pub fn query_value(request: &HttpRequest, name: &str) -> Result<Option<String>, ApiError> {
    let pairs = web::Query::<Vec<(String, String)>>::from_query(request.query_string())
        .map_err(|_| ApiError::invalid_field(name, "invalid_format", "The query string cannot be read."))?;
    let mut values = pairs.into_inner().into_iter().filter(|(key, _)| key == name).map(|(_, value)| value);
    match (values.next(), values.next()) {
        (_, Some(_)) => {
            Err(ApiError::invalid_field(name, "invalid_value", format!("{name} is given more than once.")))
        }
        (Some(value), None) if value.contains('\0') => {
            Err(ApiError::invalid_field(name, "invalid_format", format!("{name} must not contain NUL.")))
        }
        (first, None) => Ok(first),
    }
}

/// `limit` (1–100, 20 when left out) and `startingAfter`.
///
/// # Errors
/// When `limit` is not such a number.
pub fn page_query(request: &HttpRequest) -> Result<PageQuery, ApiError> {
    let limit = match query_value(request, "limit")? {
        None => LIMIT_DEFAULT,
        Some(text) => text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit)).ok_or_else(|| {
            let message = format!("limit must be a whole number between 1 and {LIMIT_MAX}.");
            ApiError::invalid_field("limit", "out_of_range", message)
        })?,
    };
    Ok(PageQuery { limit, starting_after: query_value(request, "startingAfter")? })
}
