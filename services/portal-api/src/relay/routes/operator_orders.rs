//! `/v1/operator/orders`: the staff searches orders of all businesses, lists the orders of one business and the orders that need
//! attention, and reads timelines and evidence.

use std::collections::HashMap;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, OrderId};
use internal_api::Page;
use internal_api::orders::{
    EvidenceView, ExceptionCounts, ExceptionLimits, ExceptionOrder, FoundOrdersPage, OrderView, OrdersQuery,
    SearchAnywhere,
};
use postgres::StoreError;
use serde::Serialize;
use web::{ApiError, TextRule, page_query, read_query};

use crate::business::queries::businesses;
use crate::business::routes::businesses::business_id;
use crate::http::openapi::params;
use crate::http::operator_records::Sent;
use crate::relay::routes::after_failure::exception_filter;
use crate::relay::routes::orders::{FORWARDED, evidence_file, mode, order_id};
use crate::state::State;

/// order-api validates it.
const SEARCH: TextRule = TextRule::line(200);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundOrders {
    data: Vec<FoundOrderView>,
    /// Whether more orders follow, or may follow.
    has_more: bool,
    /// The `startingAfter` of the next page, if it is not the last id. A page may be short or even empty, and older orders follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<OrderId>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ExceptionsOfAll {
    counts: ExceptionCounts,
    /// The attempts that the operator makes at a delivery.
    attempts_max: u32,
    limits: ExceptionLimits,
    data: Vec<FoundExceptionView>,
    /// Whether there are more than are listed.
    has_more: bool,
}

#[derive(Serialize, utoipa::ToSchema)]
struct FoundExceptionView {
    business: BusinessName,
    order: ExceptionOrder,
}

#[derive(Serialize, utoipa::ToSchema)]
struct FoundOrderView {
    business: BusinessName,
    order: OrderView,
}

#[derive(Serialize, utoipa::ToSchema)]
struct BusinessName {
    id: BusinessId,
    name: String,
}

#[utoipa::path(
    get,
    path = "/v1/operator/orders",
    operation_id = "findOrders",
    tag = "Operator",
    summary = "Find orders of any business",
    params(params::FindOrdersParams),
    responses((status = 200, description = "A page of orders: those whose id, tracking code or reference is exactly the text, and then the newest first. With `code`, at most 20. Those after the first 256 KiB have no items.", body = FoundOrders)),
)]
pub(crate) async fn orders(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (code, search) = read_query(&request, |fields| {
        let page = fields.page();
        let search = SearchAnywhere {
            business: fields.parsed("businessId", "the id of a business"),
            search: fields.text("search", SEARCH),
            city: fields.text("city", SEARCH),
            status: fields.text("status", FORWARDED),
            created_from: fields.text("createdFrom", FORWARDED),
            created_until: fields.text("createdUntil", FORWARDED),
            limit: page.limit,
            starting_after: page.starting_after,
        };
        (fields.text("code", SEARCH), search)
    })?;
    let filters = filters_of(&search);
    let has_period = search.created_from.is_some() && search.created_until.is_some();
    let searched = match &code {
        Some(code) if search.search.is_none() && filters.is_empty() => code.clone(),
        None if search.search.is_some() || search.city.is_some() || has_period => {
            filters + search.search.as_deref().unwrap_or_default()
        }
        _ => {
            let message = "Send search, city, or createdFrom and createdUntil, or only code.";
            return Err(ApiError::invalid_field("search", "required", message));
        }
    };
    let sent = |ids: &[OrderId]| Sent::new("orders", ids).found_by(&state, Some(&searched)).record(&request);
    // The log names a search that fails too, so the handler names it before it asks.
    sent(&[]);
    let orders = &state.peers.orders;
    let found = match code {
        Some(code) => {
            let data = orders.find_anywhere(&code).await?;
            FoundOrdersPage { data, has_more: false, next: None }
        }
        None => orders.search_anywhere(&search).await?,
    };
    sent(&found.data.iter().map(|found| found.order.id).collect::<Vec<_>>());
    let names = Names::of(&state, found.data.iter().map(|found| found.business_id)).await?;
    let data = found.data.into_iter();
    let data =
        data.map(|found| FoundOrderView { business: names.named(found.business_id), order: found.order });
    let data = data.collect();
    Ok(HttpResponse::Ok().json(FoundOrders { data, has_more: found.has_more, next: found.next }))
}

/// The names of businesses.
struct Names(HashMap<BusinessId, String>);

impl Names {
    async fn of(state: &State, ids: impl Iterator<Item = BusinessId>) -> Result<Self, StoreError> {
        let ids: Vec<BusinessId> = ids.collect();
        Ok(Self(businesses::names(state, &ids).await?.into_iter().collect()))
    }

    fn named(&self, id: BusinessId) -> BusinessName {
        BusinessName { id, name: self.0.get(&id).cloned().unwrap_or_default() }
    }
}

#[utoipa::path(
    get,
    path = "/v1/operator/exceptions",
    operation_id = "listExceptionsOfAll",
    tag = "Operator",
    summary = "List the live orders of all businesses that need attention, newest first",
    params(params::ExceptionsOfAllParams),
    responses((status = 200, description = "At most 100 orders of one kind, and the number of each kind. Those after the first 256 KiB have no items.", body = ExceptionsOfAll)),
)]
pub(crate) async fn exceptions(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let ((kind, decision), business, area) = read_query(&request, |fields| {
        let business = fields.parsed::<BusinessId>("businessId", "the id of a business");
        (exception_filter(fields), business, fields.text("area", SEARCH))
    })?;
    let found = state.peers.orders.exceptions_anywhere(kind, decision, business, area).await?;
    Sent::new("orders", found.data.iter().map(|found| found.order.order.id)).record(&request);
    let names = Names::of(&state, found.data.iter().map(|found| found.business_id)).await?;
    let data = found.data.into_iter();
    let data =
        data.map(|found| FoundExceptionView { business: names.named(found.business_id), order: found.order });
    Ok(HttpResponse::Ok().json(ExceptionsOfAll {
        counts: found.counts,
        attempts_max: found.attempts_max,
        limits: found.limits,
        data: data.collect(),
        has_more: found.has_more,
    }))
}

/// With other filters, the same text is another search.
fn filters_of(search: &SearchAnywhere) -> String {
    let business = search.business.map(|id| format!("{id} ")).unwrap_or_default();
    let period = match (&search.created_from, &search.created_until) {
        (None, None) => String::new(),
        (from, until) => {
            format!("{}..{} ", from.as_deref().unwrap_or_default(), until.as_deref().unwrap_or_default())
        }
    };
    let others = [&search.status, &search.city].into_iter().flatten();
    let others = others.map(|text| format!("{text} ")).collect::<String>();
    business + &period + &others
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/orders",
    operation_id = "listOrdersOfBusiness",
    tag = "Operator",
    summary = "List the orders of a business, newest first",
    params(("id" = domain::BusinessId, Path, description = "The business."), params::OrdersOfBusinessParams),
    responses((status = 200, description = "A page of orders.", body = Page<OrderView>)),
)]
pub(crate) async fn of_business(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = read_query(&request, |fields| {
        let page = fields.page();
        OrdersQuery {
            mode: mode(fields),
            limit: Some(page.limit),
            starting_after: page.starting_after,
            status: fields.text("status", FORWARDED),
            ..OrdersQuery::default()
        }
    })?;
    let business = business_id(&state, &business).await?;
    let page = state.peers.orders.list(business, &query).await?;
    Sent::new("orders", page.data.iter().map(|order| order.id)).record(&request);
    Ok(HttpResponse::Ok().json(page))
}

#[utoipa::path(
    get,
    path = "/v1/operator/orders/{id}/events",
    operation_id = "readTimelineOfAny",
    tag = "Operator",
    summary = "Read the timeline of an order of any business",
    params(("id" = domain::OrderId, Path, description = "The order."), params::PageParams),
    responses((status = 200, description = "A page of the timeline, oldest first.", body = internal_api::orders::TimelinePage)),
)]
pub(crate) async fn order_events(
    state: Data<State>,
    order: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let order: OrderId = order_id(&order)?;
    let page = page_query(&request)?;
    let business = business_of(&state, order).await?;
    Ok(HttpResponse::Ok().json(state.peers.orders.events(business, &order.to_string(), &page).await?))
}

#[utoipa::path(
    get,
    path = "/v1/operator/orders/{id}/evidence",
    operation_id = "readEvidenceOfAny",
    tag = "Operator",
    summary = "Read the evidence of the attempts of an order of any business, as a file",
    description = "For disputes: `verification` says how to check the hashes.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    responses((status = 200, description = "The evidence.", body = EvidenceView)),
)]
pub(crate) async fn order_evidence(
    state: Data<State>,
    order: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let order: OrderId = order_id(&order)?;
    let business = business_of(&state, order).await?;
    let evidence = state.peers.orders.evidence(business, &order.to_string()).await?;
    Ok(evidence_file(&order.to_string(), &evidence))
}

async fn business_of(state: &State, order: OrderId) -> Result<BusinessId, ApiError> {
    let business = state.peers.orders.business_of(order).await?;
    business.ok_or_else(|| ApiError::not_found("order_not_found", "order"))
}
