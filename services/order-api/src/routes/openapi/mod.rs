//! The API's description (OpenAPI 3.1). Schemas come from the types of requests and answers, bounds from the parsers, examples from
//! the views, and errors from the code that answers with them.

mod answers;
mod components;
mod feed;
mod fleet;
mod integration;
mod new_order;
mod operation;
pub(super) mod ordered;
mod parameters;
mod refusals;
mod samples;
mod schema;
mod shared;
#[cfg(test)]
mod tests;
mod tracking;
mod webhooks;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, HeaderValue};
use domain::Clock;
use settings::Brand;
use url::Url;
use utoipa::OpenApi;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::info::{Info, InfoBuilder, License};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, Server};
use web::ApiError;

use self::new_order::{NewItem, OrderReference};
use self::ordered::Json;
use self::samples::Samples;
use crate::commands::create_order::receipt::Receipt;
use crate::rate_limits::{KeyRate, RateLimits};

const INTRODUCTION: &str = include_str!("introduction.md");

#[derive(OpenApi)]
#[openapi(
    tags(
        (name = "Orders", description = "For a business's backend, with an API key. Everything is seen in the mode of the key."),
        (name = "Tracking", description = "For holders of a tracking code."),
        (name = "Webhooks", description = "The events that a business's own endpoint receives."),
        (name = "Fleet", description = "For the operator's driver system, with the fleet token."),
    ),
    paths(
        integration::create_order,
        integration::list_orders,
        integration::get_order,
        integration::list_order_events,
        integration::cancel_order,
        integration::simulate_progress,
        feed::list_events,
        feed::get_event,
        fleet::list_fleet_orders,
        fleet::report_progress,
        tracking::get_tracking,
        tracking::get_tracking_page,
    ),
    components(schemas(
        NewItem,
        OrderReference,
        Receipt,
        events::ProgressData,
        events::WalletLowBalance,
        parameters::EventCursor,
        parameters::EventIdParameter,
        parameters::FeedKind,
        parameters::FleetCursor,
        parameters::IdempotencyKey,
        parameters::OrderCursor,
        parameters::OrderIdParameter,
        parameters::PageLimit,
        parameters::TimelineCursor,
        parameters::TrackingCodeParameter,
        parameters::WaitSeconds,
        refusals::Error,
        refusals::Problem,
        webhooks::WebhookEvent,
    )),
)]
struct Document;

/// The document, for the service at `public_url`.
///
/// # Errors
/// When an example cannot be rendered, which a test rules out.
pub(super) fn document(brand: &Brand, public_url: &Url) -> anyhow::Result<Json> {
    let samples = Samples::new(brand, public_url)?;
    let mut document = Document::openapi();
    document.info = info(brand);
    document.servers = Some(vec![Server::new(public_url.as_str().trim_end_matches('/'))]);
    document.webhooks = Some(webhooks::webhooks(brand, &samples));
    document.extensions = Some(Extensions::from_iter([("x-refusals-of-other-calls", other_refusals()?)]));
    let mut operations = integration::operations(&samples)?;
    operations.extend(feed::operations(&samples));
    operations.extend(fleet::operations(&samples));
    operations.extend(tracking::operations(&samples));
    operation::complete(&mut document, operations)?;
    let components = document.components.get_or_insert_default();
    add_security_schemes(components, brand);
    let policy = RateLimits::new(KeyRate::default(), Clock::system()).requests.policy().header();
    components.headers = answers::headers(&policy);
    components::complete(&mut components.schemas);
    Ok(components::ordered(Json::of(&document)?))
}

fn info(brand: &Brand) -> Info {
    let mut license = License::new("Apache-2.0");
    license.identifier = Some("Apache-2.0".to_owned());
    // utoipa has no field for it.
    let summary =
        "Create deliveries for confirmed orders, track them, and receive signed webhooks about them.";
    let introduction = INTRODUCTION.replace("{segment}", &brand.key_segment);
    InfoBuilder::new()
        .title(format!("{} API", brand.name))
        .version("1")
        .description(Some(introduction.trim_end()))
        .license(Some(license))
        .extensions(Some(Extensions::from_iter([("summary", summary)])))
        .build()
}

fn add_security_schemes(components: &mut Components, brand: &Brand) {
    let bearer = |description: String| {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
        SecurityScheme::Http(bearer.description(Some(description)).build())
    };
    let segment = &brand.key_segment;
    let keys =
        format!("A Test key (`sk_test_{segment}_…`) or a Live key (`sk_live_{segment}_…`) of the business.");
    components.add_security_scheme("apiKey", bearer(keys));
    components
        .add_security_scheme("fleetToken", bearer("The operator's token for the driver system.".to_owned()));
}

/// The answers to calls of which no operation is reached.
fn other_refusals() -> anyhow::Result<serde_json::Value> {
    let wrong_method = ApiError::from_status(StatusCode::METHOD_NOT_ALLOWED)
        .with_header(ALLOW, HeaderValue::from_static("GET, POST"));
    let errors = [
        ApiError::from_status(StatusCode::NOT_FOUND),
        wrong_method,
        ApiError::malformed_request(),
        ApiError::from_status(StatusCode::BAD_REQUEST),
        ApiError::from_status(StatusCode::URI_TOO_LONG),
        ApiError::from_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
    ];
    Ok(serde_json::to_value(answers::refusals(&errors, &["Request-Id"]))?)
}
