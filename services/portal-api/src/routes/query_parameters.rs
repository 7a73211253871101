//! Rejects unknown query parameters. Lists validate their own; all other calls accept none.

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;
use web::no_query;

/// The `GET` calls whose handlers read the query and reject unknown parameters.
const READERS: [&str; 33] = [
    "/v1/operator/approvals",
    "/v1/operator/audit-log",
    "/v1/operator/audit-log.csv",
    "/v1/operator/audit-log.jsonl",
    "/v1/operator/businesses",
    "/v1/operator/businesses/{id}/audit-log",
    "/v1/operator/businesses/{id}/users",
    "/v1/operator/businesses/{id}/wallet/entries",
    "/v1/operator/cod",
    "/v1/operator/cod/discrepancies",
    "/v1/operator/orders",
    "/v1/operator/orders/{id}/events",
    "/v1/operator/sessions",
    "/v1/operator/staff",
    "/v1/operator/tokens",
    "/v1/portal/api-keys",
    "/v1/portal/audit-log",
    "/v1/portal/audit-log.csv",
    "/v1/portal/audit-log.jsonl",
    "/v1/portal/cod",
    "/v1/portal/events",
    "/v1/portal/invitations",
    "/v1/portal/orders",
    "/v1/portal/orders/stream",
    "/v1/portal/orders/{id}/events",
    "/v1/portal/sessions",
    "/v1/portal/users",
    "/v1/portal/wallet/entries",
    "/v1/portal/wallet/entries.csv",
    "/v1/portal/wallet/spend",
    "/v1/portal/webhook-endpoints",
    "/v1/portal/webhook-endpoints/{id}/deliveries",
    "/v1/portal/webhook-endpoints/{id}/recoveries",
];

/// Middleware: 400 for a parameter of a call that accepts none. Callbacks of payment providers may have any.
///
/// # Errors
/// The errors of the handlers.
pub(super) async fn refuse_unknown(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody + 'static>, Error> {
    if !request.query_string().is_empty() && accepts_none(&request) {
        no_query(request.request())?;
    }
    next.call(request).await
}

fn accepts_none(request: &ServiceRequest) -> bool {
    let path = request.match_info().as_str();
    let Some(pattern) = request.resource_map().match_pattern(path) else { return false };
    let is_call = pattern.starts_with("/v1/portal/") || pattern.starts_with("/v1/operator/");
    let reads =
        matches!(*request.method(), Method::GET | Method::HEAD) && READERS.contains(&pattern.as_str());
    is_call && !reads
}
