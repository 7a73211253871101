//! The URL tables. A handler reads the request, calls one command or query, and builds the response.

mod after_failure;
mod authenticate;
mod backend_only;
mod business_events;
mod create_order;
mod docs;
mod errors;
mod evidence;
mod feed;
mod feed_page;
mod fleet;
mod fleet_page;
mod integration;
mod internal;
mod limits;
mod openapi;
mod order_body;
mod payments;
mod personal_data;
mod quota;
mod simulate;
mod support;
mod timeline;
mod tracking;
mod views;

use actix_web::middleware::from_fn;
use actix_web::web::{ServiceConfig, get, post, resource, scope, to};
use actix_web::{HttpRequest, HttpResponse};
use web::ApiError;

/// For integrators, the fleet, and customers of businesses.
pub fn public(config: &mut ServiceConfig) {
    config
        .service(resource("/").route(get().to(docs::site::home)))
        .service(
            scope("/v1/integration")
                // The last middleware runs first.
                .wrap(from_fn(backend_only::refuse_browsers))
                .wrap(from_fn(quota::headers))
                .service(
                    resource("/orders")
                        .route(post().to(create_order::create))
                        .route(get().to(integration::list)),
                )
                .service(resource("/events").route(get().to(feed::list)))
                .service(resource("/events/{id}").route(get().to(feed::get)))
                .service(resource("/orders/{id}").route(get().to(integration::get)))
                .service(resource("/orders/{id}/events").route(get().to(timeline::of_key)))
                .service(resource("/orders/{id}/cancel").route(post().to(integration::cancel)))
                .service(resource("/orders/{id}/delivery-code").route(post().to(evidence::issue_code)))
                .service(resource("/orders/{id}/evidence").route(get().to(evidence::of_key)))
                .service(resource("/orders/{id}/delivery-details").route(post().to(after_failure::correct)))
                .service(resource("/orders/{id}/reattempt").route(post().to(after_failure::reattempt)))
                .service(resource("/orders/{id}/return").route(post().to(after_failure::request_return)))
                .service(resource("/orders/{id}/simulate").route(post().to(simulate::of_key))),
        )
        .service(
            scope("/v1/fleet/orders")
                .service(resource("").route(get().to(fleet::list)))
                .service(resource("/{id}/events").route(post().to(fleet::report))),
        )
        .service(resource("/v1/tracking/{code}").route(get().to(tracking::json)))
        .service(resource("/track/{code}").route(get().to(tracking::page)))
        .service(resource("/docs").route(get().to(docs::site::home)))
        .service(resource("/docs/downloads").route(get().to(docs::downloads::list)))
        .service(resource("/docs/downloads/{file}").route(get().to(docs::downloads::file)))
        .service(resource("/docs/{page:.*}").route(get().to(docs::site::file)))
        .service(resource("/v1/openapi.json").route(get().to(docs::json)))
        .default_service(to(no_route));
}

async fn no_route(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    // The edge gives other addresses their error.
    errors::without_version(request.path()).map_or_else(|| Ok(HttpResponse::NotFound().finish()), Err)
}

/// The description of the API, for the public listener.
pub use docs::{Description, Packages, Site};

/// The OpenAPI document for the service at `public_url`, in the format of `proto-docs/openapi/`.
///
/// # Errors
/// When an example cannot be made. Tests rule that out.
pub fn openapi_document(brand: &settings::Brand, public_url: &url::Url) -> anyhow::Result<String> {
    openapi::document(brand, public_url).map(|document| document.pretty() + "\n")
}

/// For the other services.
pub fn internal(config: &mut ServiceConfig) {
    config.service(
        scope("/internal/businesses/{business}")
            .wrap(from_fn(web::require_internal_token))
            .service(resource("/events").route(get().to(business_events::list)))
            .service(resource("/exceptions").route(get().to(internal::exceptions)))
            .service(resource("/open-orders").route(get().to(support::open)))
            .service(resource("/orders").route(get().to(internal::list)))
            .service(resource("/orders/activity").route(get().to(support::activity)))
            .service(resource("/orders/live").route(get().to(support::live)))
            .service(resource("/orders/{id}").route(get().to(internal::get)))
            .service(resource("/orders/{id}/events").route(get().to(timeline::of_business)))
            .service(resource("/orders/{id}/evidence").route(get().to(evidence::of_business)))
            .service(resource("/orders/{id}/simulate").route(post().to(simulate::of_business)))
            .service(resource("/orders/{id}/request").route(get().to(internal::request)))
            .service(resource("/orders/{id}/cancel").route(post().to(internal::cancel)))
            .service(
                resource("/orders/{id}/delivery-code").route(post().to(evidence::issue_code_of_business)),
            )
            .service(
                resource("/orders/{id}/delivery-details")
                    .route(post().to(after_failure::correct_of_business)),
            )
            .service(
                resource("/orders/{id}/reattempt").route(post().to(after_failure::reattempt_of_business)),
            )
            .service(resource("/orders/{id}/return").route(post().to(after_failure::return_of_business)))
            .service(resource("/orders/{id}/erase-personal-data").route(post().to(personal_data::erase_one)))
            .service(
                resource("/personal-data-erasure")
                    .route(post().to(personal_data::begin))
                    .route(get().to(personal_data::latest)),
            )
            .service(resource("/retry-evidence").route(get().to(support::retry_evidence)))
            .service(resource("/order-references").route(post().to(internal::references)))
            .service(resource("/test-orders/any").route(get().to(internal::any_test_order))),
    );
    config.service(
        resource("/internal/packages")
            .wrap(from_fn(web::require_internal_token))
            .route(get().to(docs::downloads::names)),
    );
    config.service(
        scope("/internal/orders")
            .wrap(from_fn(web::require_internal_token))
            .service(resource("").route(get().to(support::find_anywhere)))
            .service(resource("/activity").route(post().to(support::activity_of)))
            .service(resource("/exceptions").route(get().to(support::exceptions)))
            .service(resource("/exceptions/counts").route(get().to(support::exception_counts)))
            .service(resource("/search").route(get().to(support::search)))
            .service(resource("/payments").route(get().to(payments::changed)).route(post().to(payments::of))),
    );
}
