//! Fields of request bodies: `{url, events?, modes?, status?}`. Reports all errors at once.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use domain::{EventKind, Mode};
use outbound::{UrlError, parse_url};
use url::Url;
use web::{Fields, TextRule};

use crate::commands::Activity;

const URL: TextRule = TextRule::line(2_048);
/// More than there are kinds of events.
const WORDS_MAX: usize = 50;
/// 0 removes the limit.
const MAX_PER_SECOND: i64 = 1_000;

/// Refuses unknown fields: an endpoint with a misspelt `events` would receive everything.
pub(super) fn refuse_unknown(fields: &Fields<'_>, known: &[&str]) {
    for field in fields.unknown(known) {
        fields.reject(&field, "unknown_field", format!("{field} is no field of this request."));
    }
}

pub(super) fn time(fields: &Fields<'_>, name: &str) -> Option<DateTime<Utc>> {
    let time = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc));
    let time = fields.value(name)?.as_str().and_then(time);
    if time.is_none() {
        let message = format!("{name} must be a time in RFC 3339 format, such as 2026-01-31T15:00:00Z.");
        fields.reject(name, "invalid_format", message);
    }
    time
}

pub(super) fn required_time(fields: &Fields<'_>, name: &str) -> Option<DateTime<Utc>> {
    match fields.value(name) {
        None => fields.missing(name),
        Some(_) => time(fields, name),
    }
}

pub(super) fn url(fields: &Fields<'_>) -> Option<Url> {
    let text = fields.optional_text("url", URL)?;
    match parse_url(&text) {
        Ok(url) => Some(url),
        Err(error) => {
            let code = match error {
                UrlError::NotAbsolute => "invalid_format",
                UrlError::UserInfo | UrlError::Fragment | UrlError::Port | UrlError::HostName => {
                    "invalid_value"
                }
                UrlError::TooLong => "too_long",
            };
            fields.reject("url", code, error.message("url"));
            None
        }
    }
}

pub(super) fn required_url(fields: &Fields<'_>) -> Option<Url> {
    // A blank text counts as missing.
    fields.required_text("url", TextRule::line(usize::MAX))?;
    url(fields)
}

/// None if absent or invalid. `offers_requests` says whether the operator switched these kinds on.
pub(super) fn events(fields: &Fields<'_>, offers_requests: bool) -> Option<Vec<EventKind>> {
    let events: Vec<EventKind> = words(fields, "events", "an event kind, such as order.delivered")?;
    let is_refused = |kind: &EventKind| !kind.can_be_subscribed() || (kind.is_request() && !offers_requests);
    let refused = events.iter().copied().find(is_refused);
    let Some(refused) = refused else { return Some(events) };
    let message = if refused.is_request() {
        format!("events must not name {refused}; your operator has not switched it on.")
    } else {
        format!("events must not name {refused}; it is sent when you test an endpoint.")
    };
    fields.reject("events", "invalid_value", message);
    None
}

/// None if absent or invalid.
pub(super) fn modes(fields: &Fields<'_>) -> Option<Vec<Mode>> {
    words(fields, "modes", "test or live")
}

/// None if absent or invalid.
pub(super) fn activity(fields: &Fields<'_>) -> Option<Activity> {
    fields.optional_word("status", "active or paused")
}

/// `Some(None)` removes the limit. None if absent or invalid.
pub(super) fn max_per_second(fields: &Fields<'_>) -> Option<Option<i32>> {
    let limit = fields.optional_integer("maxPerSecond", 0, MAX_PER_SECOND)?;
    Some(i32::try_from(limit).ok().filter(|limit| *limit > 0))
}

/// A list without repetitions that is not empty.
fn words<T: FromStr + Ord + Copy + Display>(
    fields: &Fields<'_>,
    name: &str,
    allowed: &str,
) -> Option<Vec<T>> {
    let given = fields.value(name)?.as_array().map_or(0, Vec::len);
    let words: Vec<T> = fields.optional_words(name, WORDS_MAX, allowed)?;
    if given == 0 {
        fields.reject(
            name,
            "invalid_value",
            format!("{name} must not be empty; leave it out for the default."),
        );
        return None;
    }
    let mut seen = BTreeSet::new();
    if let Some(repeated) = words.iter().find(|word| !seen.insert(**word)) {
        fields.reject(name, "invalid_value", format!("{name} names {repeated} more than once."));
        return None;
    }
    (words.len() == given).then_some(words)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use web::FieldErrors;

    use super::*;

    fn errors_of(body: Value) -> Vec<(String, &'static str)> {
        let field_errors = FieldErrors::default();
        if let Some(fields) = Fields::of_body(&body, &field_errors) {
            required_url(&fields);
            events(&fields, false);
            modes(&fields);
            activity(&fields);
        }
        field_errors.into_vec().into_iter().map(|error| (error.field, error.code)).collect()
    }

    #[test]
    fn a_full_and_a_minimal_input_are_accepted() {
        let url = "https://shop.example/hook";
        assert_eq!(errors_of(json!({"url": url})), []);
        let full = json!({"url": url, "events": ["order.created", "wallet.low_balance"], "modes": ["live"], "status": "paused"});
        assert_eq!(errors_of(full), []);
        assert_eq!(errors_of(json!({"url": url, "events": null, "modes": null})), []);
    }

    #[test]
    fn each_error_names_its_field() {
        for (body, field, code) in [
            (json!({}), "url", "required"),
            (json!({"url": " "}), "url", "required"),
            (json!({"url": 5}), "url", "invalid_type"),
            (json!({"url": "shop.example"}), "url", "invalid_format"),
            (json!({"url": "https://a:b@shop.example"}), "url", "invalid_value"),
            (json!({"url": format!("https://shop.example/{}", "x".repeat(2_048))}), "url", "too_long"),
            (json!({"url": format!("https://shop.example/{}", "क".repeat(300))}), "url", "too_long"),
            (json!({"url": "https://shop.example:0/"}), "url", "invalid_value"),
            (json!({"url": "https://a..example/"}), "url", "invalid_value"),
            (json!({"url": "https://a.example", "events": []}), "events", "invalid_value"),
            (json!({"url": "https://a.example", "events": "all"}), "events", "invalid_type"),
            (json!({"url": "https://a.example", "events": ["order.lost"]}), "events[0]", "invalid_value"),
            (
                json!({"url": "https://a.example", "events": ["order.created", 7]}),
                "events[1]",
                "invalid_type",
            ),
            (json!({"url": "https://a.example", "events": ["webhook.test"]}), "events", "invalid_value"),
            (
                json!({"url": "https://a.example", "events": ["order.failed", "order.failed"]}),
                "events",
                "invalid_value",
            ),
            (json!({"url": "https://a.example", "events": vec!["order.failed"; 51]}), "events", "too_long"),
            (json!({"url": "https://a.example", "modes": []}), "modes", "invalid_value"),
            (json!({"url": "https://a.example", "modes": ["live", "live"]}), "modes", "invalid_value"),
            (json!({"url": "https://a.example", "modes": ["production"]}), "modes[0]", "invalid_value"),
            (json!({"url": "https://a.example", "status": "disabled"}), "status", "invalid_value"),
        ] {
            assert_eq!(errors_of(body.clone()), [(field.to_owned(), code)], "{body}");
        }
    }

    #[test]
    fn requests_after_a_failure_are_subscribed_to_by_name_where_they_are_switched_on() {
        let both = [EventKind::OrderReattemptScheduled, EventKind::OrderReturning];
        for (body, is_on, expected) in [
            (json!({ "events": both }), true, Some(both.to_vec())),
            (json!({ "events": both }), false, None),
            (json!({ "events": ["order.failed", "order.returning"] }), false, None),
            (json!({ "events": ["order.failed"] }), false, Some(vec![EventKind::OrderFailed])),
            (json!({}), true, None),
        ] {
            let field_errors = FieldErrors::default();
            let read = Fields::of_body(&body, &field_errors).and_then(|fields| events(&fields, is_on));
            assert_eq!(read, expected, "{body}");
            let is_refused = expected.is_none() && !is_on;
            assert_eq!(field_errors.into_vec().len(), usize::from(is_refused), "{body}");
        }
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let found = errors_of(json!({"url": "x", "events": [], "modes": ["x"], "status": 1}));
        assert_eq!(found.len(), 4, "{found:?}");
    }
}
