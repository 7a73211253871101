//! `GET /v1/portal/events`: forwarded to order-api.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::orders::BusinessEventsQuery;
use web::{ApiError, read_query};

use crate::domain::Session;
use crate::http::openapi::params;
use crate::relay::routes::orders;
use crate::state::State;

#[utoipa::path(
    get,
    path = "/v1/portal/events",
    operation_id = "listEvents",
    tag = "Orders",
    summary = "List the events of all orders with their webhooks, newest first",
    params(params::EventsParams),
    responses((status = 200, description = "A page of events.", body = internal_api::orders::BusinessEventsPage)),
)]
pub(crate) async fn list(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = read_query(&request, |fields| {
        let page = fields.page();
        BusinessEventsQuery {
            mode: orders::mode(fields),
            limit: Some(page.limit),
            starting_after: page.starting_after,
            event: fields.text("event", orders::FORWARDED),
            search: fields.text("search", orders::FORWARDED),
        }
    })?;
    Ok(HttpResponse::Ok().json(state.peers.orders.business_events(session.business, &query).await?))
}
