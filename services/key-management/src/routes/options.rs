//! The options of a new key in requests: its end, its scopes, and its IP allow-list.

use std::str::FromStr;

use actix_web::http::StatusCode;
use chrono::{DateTime, TimeDelta, Utc};
use domain::{IpAllowList, IpNetwork, KeyRestrictions, KeyScope};
use serde_json::Value;
use strum::VariantArray;
use web::{ApiError, FieldErrors, Fields};

pub(super) const EXPIRES_AT: &str = "expiresAt";
pub(super) const SCOPES: &str = "scopes";
pub(super) const IP_ALLOW_LIST: &str = "ipAllowList";

const LIFE_MAX: TimeDelta = TimeDelta::days(3_660);

/// In the future, in whole seconds: a key never works longer than it is asked for.
pub(super) fn expires_at(fields: &Fields<'_>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let reject = |code, wanted: &str| {
        fields.reject(EXPIRES_AT, code, format!("{EXPIRES_AT} must be {wanted}."));
        None
    };
    let Value::String(text) = fields.value(EXPIRES_AT)? else { return reject("invalid_type", "a string") };
    let parsed = DateTime::parse_from_rfc3339(text).ok();
    let Some(end) = parsed.and_then(|end| DateTime::from_timestamp(end.timestamp(), 0)) else {
        return reject("invalid_format", "a time, such as 2026-01-31T09:30:00Z");
    };
    if end <= now || end - now > LIFE_MAX {
        return reject("out_of_range", "in the future, and at most ten years ahead");
    }
    Some(end)
}

pub(super) fn restrictions(fields: &Fields<'_>) -> KeyRestrictions {
    const NETWORK: &str = "a network, such as 203.0.113.0/24 or 2001:db8::/32, or an address";
    let scopes = words::<KeyScope>(fields, SCOPES, KeyScope::VARIANTS.len(), KeyScope::WORDS);
    let networks = words::<IpNetwork>(fields, IP_ALLOW_LIST, IpAllowList::ENTRIES_MAX, NETWORK);
    let scopes = scopes.map(|mut scopes| {
        scopes.sort_unstable();
        scopes.dedup();
        scopes
    });
    KeyRestrictions { scopes, ip_allow_list: networks.map(IpAllowList::new) }
}

/// It is unclear whether an empty list allows everything or nothing.
fn words<T: FromStr>(fields: &Fields<'_>, name: &str, max: usize, allowed: &str) -> Option<Vec<T>> {
    let words = fields.optional_words(name, max, allowed)?;
    if fields.value(name).and_then(Value::as_array).is_some_and(Vec::is_empty) {
        fields.reject(name, "invalid_value", format!("{name} must have an entry, or be left out."));
    }
    Some(words)
}

/// A misspelt option must not issue a key without it.
pub(super) fn refuse_unknown(fields: &Fields<'_>, known: &[&str]) {
    for name in fields.unknown(known) {
        fields.reject(&name, "unknown_field", format!("{name} is not a field of this request."));
    }
}

/// 422 if only options are refused, else 400. Both name every error.
pub(super) fn refusal(of_request: FieldErrors, of_options: FieldErrors) -> ApiError {
    let status =
        if of_request.is_empty() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::BAD_REQUEST };
    let errors = [of_request.into_vec(), of_options.into_vec()].concat();
    ApiError::invalid(errors).with_status(status)
}
