//! What an operation can answer: its successes, and each error with the status, words and fields that the service gives
//! it.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use web::ApiError;

use super::ordered::{Json, object};
use super::schema::reference;

/// In the errors of the examples.
const REQUEST_ID: &str = "req_01KG9J8W0ZQ6T1M4V7X2B5N8CD";

/// Headers that are described once.
pub(super) fn header(name: &str) -> (String, Json) {
    let component: String = name.split('-').collect();
    (name.to_owned(), object! { "$ref": format!("#/components/headers/{component}") })
}

/// An answer with a body.
pub(super) fn success<const N: usize>(
    description: &str,
    headers: &[&str],
    schema: &str,
    examples: [(&str, &str, Json); N],
) -> Json {
    let content = object! { "application/json": content(reference(schema), examples) };
    answer(description, headers, content)
}

pub(super) fn answer(description: &str, headers: &[&str], content: Json) -> Json {
    object! {
        "description": description,
        "headers": Json::object(headers.iter().map(|name| header(name))),
        "content": content,
    }
}

/// A body's schema with examples: name, summary, value.
pub(super) fn content<const N: usize>(schema: Json, examples: [(&str, &str, Json); N]) -> Json {
    let examples = examples
        .map(|(name, summary, value)| (name.to_owned(), object! { "summary": summary, "value": value }));
    object! { "schema": schema, "examples": Json::object(examples) }
}

/// One answer for each status that these errors have, with an example for each error.
pub(super) fn errors(errors: &[ApiError], headers: &[&str]) -> Vec<(u16, Json)> {
    let mut by_status: BTreeMap<u16, Vec<&ApiError>> = BTreeMap::new();
    for error in errors {
        by_status.entry(error.status().as_u16()).or_default().push(error);
    }
    by_status.into_iter().map(|(status, errors)| (status, refusal(status, &errors, headers))).collect()
}

fn refusal(status: u16, errors: &[&ApiError], headers: &[&str]) -> Json {
    let mut names: Vec<&str> = headers.to_vec();
    for (own, name) in
        [("retry-after", "Retry-After"), ("www-authenticate", "WWW-Authenticate"), ("allow", "Allow")]
    {
        if errors.iter().any(|error| error.headers().iter().any(|(header, _)| header.as_str() == own)) {
            names.push(name);
        }
    }
    let plain = examples(errors, |error| error.body(REQUEST_ID).into());
    let problems = examples(errors, |error| error.problem(REQUEST_ID).into());
    let content = object! {
        "application/json": object! { "schema": reference("Error"), "examples": plain },
        "application/problem+json": object! { "schema": reference("Problem"), "examples": problems },
    };
    answer(meaning(status), &names, content)
}

fn examples(errors: &[&ApiError], body: impl Fn(&ApiError) -> Json) -> Json {
    let mut named: Vec<(String, Json)> = Vec::new();
    for error in errors {
        // One code can have answers of different kinds: a single fault, say, and many.
        let same = named.iter().filter(|(name, _)| name.starts_with(error.code())).count();
        let name = if same == 0 { error.code().to_owned() } else { format!("{}_{}", error.code(), same + 1) };
        named.push((name, object! { "summary": error.code(), "value": body(error) }));
    }
    Json::object(named)
}

/// What a status means here, whatever the operation.
fn meaning(status: u16) -> &'static str {
    match StatusCode::from_u16(status) {
        Ok(StatusCode::BAD_REQUEST) => {
            "The request is malformed or not valid. `errors` names every fault at once."
        }
        Ok(StatusCode::UNAUTHORIZED) => "The caller is not known.",
        Ok(StatusCode::PAYMENT_REQUIRED) => {
            "The wallet does not hold the delivery fee. Nothing was created: top up, and retry with the same key."
        }
        Ok(StatusCode::FORBIDDEN) => "The caller may not do this.",
        Ok(StatusCode::NOT_FOUND) => "There is no such thing, or it is not yours.",
        Ok(StatusCode::METHOD_NOT_ALLOWED) => "The address does not take this method.",
        Ok(StatusCode::REQUEST_TIMEOUT) => "The request did not arrive in time.",
        Ok(StatusCode::CONFLICT) => "What is asked for does not go with what is there.",
        Ok(StatusCode::PAYLOAD_TOO_LARGE) => "The body is larger than 256 KiB.",
        Ok(StatusCode::UNSUPPORTED_MEDIA_TYPE) => "The body is not JSON.",
        Ok(StatusCode::UNPROCESSABLE_ENTITY) => "The key or id was used for another request.",
        Ok(StatusCode::TOO_MANY_REQUESTS) => "Too many calls. Wait as long as `Retry-After` says.",
        Ok(StatusCode::SERVICE_UNAVAILABLE) => {
            "The outcome is not known, or the service cannot answer for the moment. Retry after `Retry-After`."
        }
        _ => "A mistake of the service's own. It has been recorded under the request id.",
    }
}

/// The headers that answers name, by the names of their components.
pub(super) fn headers(policy: &str) -> Json {
    let text = |description: &str, example: &str| {
        object! {
            "description": description, "schema": object! { "type": "string" }, "example": example,
        }
    };
    let request_id = object! {
        "description": "Names the request in our logs. Every answer has one.",
        "required": true,
        "schema": super::schema::id("req_", "Id of the request."),
        "example": REQUEST_ID,
    };
    let seconds = object! { "type": "integer", "minimum": 1 };
    object! {
        "RequestId": request_id,
        "Location": text("Where the order is.", "/v1/integration/orders/ord_01KG9J8W0ZQ6T1M4V7X2B5N8CD"),
        "IdempotentReplayed": object! {
            "description": "On the repeated answer to a request that had succeeded before; else left out.",
            "schema": object! { "type": "string", "enum": ["true"] },
            "example": "true",
        },
        "RateLimit": text(
            "What is left of your limit (`r`, calls) and when it is whole again (`t`, seconds); IETF draft-ietf-httpapi-ratelimit-headers.",
            "\"default\";r=199;t=1",
        ),
        "RateLimitPolicy": text("The limit: calls at once (`q`) in a window (`w`, seconds).", policy),
        "RetryAfter": object! {
            "description": "Seconds to wait before you try again.", "schema": seconds, "example": 2,
        },
        "WWWAuthenticate": text("How to authenticate.", "Bearer"),
        "Allow": text("The methods that the address takes.", "GET, POST"),
        "CacheControl": text("Nothing here may be kept by a cache.", "no-store"),
    }
}
