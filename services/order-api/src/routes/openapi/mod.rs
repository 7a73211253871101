//! The API's description (OpenAPI 3.1), made by the code that answers: bounds come from the parsers, examples of answers
//! from the views, errors with their statuses and words from where they are chosen.

mod answers;
mod components;
mod fleet;
mod history;
mod integration;
mod operation;
pub(super) mod ordered;
mod refusals;
mod samples;
pub(super) mod schema;
mod shared;
#[cfg(test)]
mod tests;
mod tracking;
mod webhook_events;
mod webhooks;

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, HeaderValue};
use domain::Clock;
use settings::Brand;
use url::Url;
use web::ApiError;

use self::operation::{Area, Operation};
use self::ordered::{Json, object};
use self::samples::Samples;
use super::order_body;
use crate::rate_limits::{KeyRate, RateLimits};

const INTRODUCTION: &str = include_str!("introduction.md");

/// The document, for the service at `public_url`.
///
/// # Errors
/// When an example cannot be made, which a test rules out.
pub(super) fn document(brand: &Brand, public_url: &Url) -> anyhow::Result<Json> {
    let samples = Samples::new(brand, public_url)?;
    let mut operations = integration::operations(&samples)?;
    operations.extend(fleet::operations(&samples));
    operations.extend(tracking::operations(&samples));
    let (paths, responses) = paths(operations);
    let server = object! { "url": public_url.as_str().trim_end_matches('/') };
    Ok(object! {
        "openapi": "3.1.0",
        "info": info(brand),
        "servers": [server],
        "tags": tags(),
        "paths": paths,
        "webhooks": webhooks::webhooks(brand, &samples),
        "components": object! {
            "securitySchemes": security_schemes(brand),
            "headers": answers::headers(&RateLimits::new(KeyRate::default(), Clock::system()).requests.policy().header()),
            "responses": responses,
            "schemas": schemas(),
        },
    })
}

fn info(brand: &Brand) -> Json {
    let description = INTRODUCTION.replace("{segment}", &brand.key_segment);
    object! {
        "title": format!("{} API", brand.name),
        "version": "1",
        "summary": "Create deliveries for confirmed orders, follow them, and hear of them by signed webhooks.",
        "description": description.trim_end(),
    }
}

fn tags() -> Json {
    let tag = |name: &str, description: &str| object! { "name": name, "description": description };
    Json::from(vec![
        tag(
            Area::Integration.tag(),
            "For a business's back end, with an API key. Everything is seen in the mode of the key.",
        ),
        tag(Area::Tracking.tag(), "For whoever holds a tracking code."),
        tag("Webhooks", "What a business's own endpoint receives."),
        tag(Area::Fleet.tag(), "For the operator's driver system, with the fleet token."),
    ])
}

fn security_schemes(brand: &Brand) -> Json {
    let bearer = |description: String| {
        object! { "type": "http", "scheme": "bearer", "description": description }
    };
    let segment = &brand.key_segment;
    object! {
        "apiKey": bearer(format!("A Test key (`sk_test_{segment}_…`) or a Live key (`sk_live_{segment}_…`) of the business.")),
        "fleetToken": bearer("The operator's token for the driver system.".to_owned()),
    }
}

/// The paths, and the answers that several operations share.
fn paths(operations: Vec<Operation>) -> (Json, Json) {
    let mut counts: BTreeMap<(&str, u16, String), usize> = BTreeMap::new();
    for operation in &operations {
        for (status, answer) in operation.all_answers() {
            *counts.entry((operation.area.name(), status, answer.to_string())).or_default() += 1;
        }
    }
    let mut shared: Vec<(String, Json)> = elsewhere();
    let mut paths: Vec<(String, Json)> = Vec::new();
    for operation in operations {
        let area = operation.area.name();
        let answers = operation.all_answers().into_iter().map(|(status, answer)| {
            if counts.get(&(area, status, answer.to_string())).is_none_or(|count| *count < 2) {
                return (status.to_string(), answer);
            }
            let name = share(&mut shared, area, status, answer);
            (status.to_string(), object! { "$ref": format!("#/components/responses/{name}") })
        });
        let answers = Json::object(answers.collect::<Vec<_>>());
        let (path, method) = (operation.path, operation.method);
        let described = operation.describe(answers);
        match paths.iter_mut().find(|(known, _)| known == path) {
            Some((_, Json::Object(methods))) => methods.push((method.to_owned(), described)),
            _ => paths.push((path.to_owned(), Json::object([(method.to_owned(), described)]))),
        }
    }
    (Json::object(paths), Json::object(shared))
}

/// The name of a shared answer, which is added when it is new.
fn share(shared: &mut Vec<(String, Json)>, area: &str, status: u16, answer: Json) -> String {
    if let Some((name, _)) = shared.iter().find(|(name, known)| name.starts_with(area) && *known == answer) {
        return name.clone();
    }
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let base: String = reason.unwrap_or("Answer").split_whitespace().collect();
    let same = shared.iter().filter(|(name, _)| name.starts_with(&format!("{area}{base}"))).count();
    let name = if same == 0 { format!("{area}{base}") } else { format!("{area}{base}{}", same + 1) };
    shared.push((name.clone(), answer));
    name
}

/// What a call gets that is none of the operations.
fn elsewhere() -> Vec<(String, Json)> {
    let wrong_method = ApiError::from_status(StatusCode::METHOD_NOT_ALLOWED)
        .with_header(ALLOW, HeaderValue::from_static("GET, POST"));
    let errors = [
        ("NothingHere", ApiError::from_status(StatusCode::NOT_FOUND)),
        ("MethodNotAllowed", wrong_method),
        ("NotHttp", ApiError::malformed_request()),
        ("NotUnderstood", ApiError::from_status(StatusCode::BAD_REQUEST)),
        ("UriTooLong", ApiError::from_status(StatusCode::URI_TOO_LONG)),
        ("HeadersTooLarge", ApiError::from_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)),
    ];
    let described = errors.into_iter().map(|(name, error)| {
        let answers = answers::errors(&[error], &["Request-Id"]);
        (name.to_owned(), answers.into_iter().next().map_or(Json::Null, |(_, answer)| answer))
    });
    described.collect()
}

fn schemas() -> Json {
    let all = [
        order_body::schema::schemas(),
        integration::schemas(),
        components::schemas(),
        webhook_events::schemas(),
        fleet::schemas(),
    ];
    Json::object(all.into_iter().flatten().map(|(name, schema)| (name.to_owned(), schema)))
}
