//! The API's description (OpenAPI 3.1). Operations are described at their handlers, bodies at their types; bounds come from the
//! parsers, examples from the views, and errors from the code that answers with them.

mod answers;
pub(super) mod bodies;
mod components;
mod errors;
mod operation;
mod operations;
pub(super) mod ordered;
pub(super) mod params;
mod samples;
mod schema;
#[cfg(test)]
mod tests;
pub(super) mod webhooks;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, HeaderValue};
use anyhow::Context;
use settings::Brand;
use url::Url;
use utoipa::OpenApi;
use utoipa::openapi::Content;
use web::ApiError;

use self::answers::add_samples;
use self::ordered::Json;
use self::samples::Samples;
use super::{after_failure, create_order, evidence, feed, fleet, integration, simulate, timeline, tracking};
use crate::commands::create_order::receipt::Receipt;

/// The parts that nothing in the code says.
const COMMON: &str = include_str!("common.json");
const INTRODUCTION: &str = include_str!("introduction.md");

#[derive(OpenApi)]
#[openapi(
    paths(
        create_order::create,
        integration::list,
        integration::get,
        timeline::of_key,
        integration::cancel,
        after_failure::correct,
        after_failure::reattempt,
        after_failure::request_return,
        evidence::issue_code,
        evidence::of_key,
        simulate::of_key,
        feed::list,
        feed::get,
        fleet::list,
        fleet::report,
        tracking::json,
        tracking::page,
    ),
    components(schemas(
        Receipt,
        bodies::NewItem,
        errors::Error,
        errors::Problem,
        events::Evidence,
        events::ProgressData,
        events::Remittance,
        events::ScheduledAttempt,
        events::WalletLowBalance,
        schema::EventCursor,
        schema::EventIdParameter,
        schema::FeedKind,
        schema::FleetCursor,
        schema::IdempotencyKey,
        schema::OrderCursor,
        schema::OrderIdParameter,
        schema::OrderReference,
        schema::PageLimit,
        schema::SearchText,
        schema::TimelineCursor,
        schema::TrackingCodeParameter,
        schema::WaitSeconds,
        webhooks::WebhookEvent,
    ))
)]
struct Described;

/// The document, for the service at `public_url`.
///
/// # Errors
/// When an example cannot be rendered, which a test rules out.
pub(super) fn document(brand: &Brand, public_url: &Url) -> anyhow::Result<Json> {
    let samples = Samples::new(brand, public_url)?;
    let mut described = Described::openapi();
    operation::complete(&mut described, operations::operations(&samples)?)?;
    components::complete(&mut described.components.get_or_insert_default().schemas);
    let described = components::ordered(Json::of(&described)?);
    let mut document = common(brand, public_url)?;
    for path in [&["paths"][..], &["components", "schemas"], &["components", "responses"]] {
        let part = path.iter().try_fold(&described, |part, name| part.get(name));
        document.set(path, part.context("a part of the document")?.clone());
    }
    let mut webhook = Content::default();
    add_samples(&mut webhook, webhooks::examples(&samples))?;
    let body = ["webhooks", "orderEvent", "post", "requestBody", "content", "application/json", "examples"];
    document.set(&body, components::ordered(Json::of(&webhook.examples)?));
    let refusals = serde_json::to_value(answers::refusals(&other_refusals(), &["Request-Id"]))?;
    document.set(&["x-refusals-of-other-calls"], components::ordered(Json::of(&refusals)?));
    Ok(document)
}

fn common(brand: &Brand, public_url: &Url) -> serde_json::Result<Json> {
    let document: Json = serde_json::from_str(COMMON)?;
    Ok(document.map_texts(&|text| {
        text.replace("{introduction}", INTRODUCTION.trim_end())
            .replace("{brand}", &brand.name)
            .replace("{segment}", &brand.key_segment)
            .replace("{prefix}", &brand.header_prefix)
            .replace("{url}", public_url.as_str().trim_end_matches('/'))
    }))
}

/// The answers to calls of which no operation is reached.
fn other_refusals() -> [ApiError; 6] {
    let wrong_method = ApiError::from_status(StatusCode::METHOD_NOT_ALLOWED)
        .with_header(ALLOW, HeaderValue::from_static("GET, POST"));
    [
        ApiError::from_status(StatusCode::NOT_FOUND),
        wrong_method,
        ApiError::malformed_request(),
        ApiError::from_status(StatusCode::BAD_REQUEST),
        ApiError::from_status(StatusCode::URI_TOO_LONG),
        ApiError::from_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
    ]
}
