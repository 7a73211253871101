//! What the operator looks at to help a business: the business itself, how it fares, and any order by its code.

use std::collections::HashMap;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, OrderId, Paise};
use internal_api::orders::{ModeActivity, OrderView, OrdersActivity};
use internal_api::webhooks::EndpointView;
use serde::Serialize;
use url::Url;
use web::{ApiError, TextRule, page_query, read_query};

use super::errors;
use super::openapi::params;
use super::operator::BusinessView;
use super::orders::order_id;
use super::status::{GoLiveView, IndicatorsView};
use crate::app::App;
use crate::domain::Problem;
use crate::queries::health::{Health, health as business_health};
use crate::store::businesses::{self, BusinessFilter};
use crate::store::users;

/// An order's id, tracking code or reference; order-api judges it.
const CODE: TextRule = TextRule::line(200);

/// One business as the operator sees it.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct BusinessDetails {
    #[serde(flatten)]
    business: BusinessView,
    pickup_profile: ProfileState,
    /// How many people log in for it.
    users: i64,
}

#[derive(Serialize, utoipa::ToSchema)]
struct ProfileState {
    complete: bool,
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}",
    operation_id = "readBusiness",
    tag = "Operator",
    summary = "Read a business",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    responses((status = 200, description = "The business.", body = BusinessDetails)),
)]
pub(super) async fn read(app: Data<App>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business: BusinessId = business.parse().map_err(|_| errors::business_not_found())?;
    let only = BusinessFilter { only: Some(business), ..BusinessFilter::default() };
    let read: Result<_, postgres::StoreError> = app
        .database
        .read(async |conn| {
            let listed = businesses::list(conn, 1, None, &only).await?.and_then(|mut found| found.pop());
            Ok((listed, users::count(conn, business).await?))
        })
        .await;
    let (listed, users) = read.map_err(errors::store)?;
    let listed = listed.ok_or_else(errors::business_not_found)?;
    Ok(HttpResponse::Ok().json(BusinessDetails {
        pickup_profile: ProfileState { complete: listed.standing.pickup.is_some() },
        business: BusinessView::of(listed.standing, Some(listed.owner_email)),
        users,
    }))
}

/// How a business fares. What a service in `incomplete` would say is null, or `Unknown`.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct HealthView {
    indicators: IndicatorsView,
    go_live: GoLiveView,
    balance_paise: Option<Paise>,
    low_balance_threshold_paise: Option<Paise>,
    orders: Option<OrdersHealth>,
    /// Without the queries of their URLs, which may carry secrets.
    endpoints: Option<Vec<EndpointView>>,
    problems: Vec<ProblemView>,
    /// The services that did not answer.
    incomplete: Vec<&'static str>,
}

#[derive(Serialize, utoipa::ToSchema)]
struct OrdersHealth {
    live: ModeActivity,
    test: ModeActivity,
}

#[derive(Serialize, utoipa::ToSchema)]
struct ProblemView {
    code: &'static str,
    message: String,
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/health",
    operation_id = "readBusinessHealth",
    tag = "Operator",
    summary = "How a business fares",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    responses((status = 200, description = "Its health, as far as its services answered.", body = HealthView)),
)]
pub(super) async fn health(app: Data<App>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = business.parse().map_err(|_| errors::business_not_found())?;
    let found = business_health(&app, business).await.map_err(errors::store)?;
    Ok(HttpResponse::Ok().json(HealthView::from(found.ok_or_else(errors::business_not_found)?)))
}

impl From<Health> for HealthView {
    fn from(health: Health) -> Self {
        let (balance_paise, low_balance_threshold_paise) =
            health.wallet.map(|wallet| (wallet.balance_paise, wallet.low_balance_threshold_paise)).unzip();
        Self {
            indicators: health.indicators.into(),
            go_live: GoLiveView::of(health.go_live, health.done_since),
            balance_paise,
            low_balance_threshold_paise,
            orders: health.orders.map(|OrdersActivity { live, test }| OrdersHealth { live, test }),
            endpoints: health.endpoints.map(|endpoints| endpoints.into_iter().map(without_query).collect()),
            problems: health
                .problems
                .into_iter()
                .map(|Problem { code, message }| ProblemView { code, message })
                .collect(),
            incomplete: health.incomplete,
        }
    }
}

fn without_query(endpoint: EndpointView) -> EndpointView {
    let url = match Url::parse(&endpoint.url) {
        Ok(mut url) if url.query().is_some() => {
            url.set_query(None);
            url.into()
        }
        Ok(_) => endpoint.url,
        // None of ours: it was vetted when it was set.
        Err(_) => String::new(),
    };
    EndpointView { url, ..endpoint }
}

#[derive(Serialize, utoipa::ToSchema)]
struct FoundOrders {
    data: Vec<FoundOrderView>,
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
    summary = "Find orders of any business by id, tracking code or reference",
    params(params::CodeParams),
    responses((status = 200, description = "At most 20, newest first.", body = FoundOrders)),
)]
pub(super) async fn orders(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let code = read_query(&request, |fields| fields.text("code", CODE))?;
    let code = code.ok_or_else(|| ApiError::invalid_field("code", "required", "code is required."))?;
    let found = app.peers.orders.find_anywhere(&code).await?;
    let ids: Vec<BusinessId> = found.iter().map(|found| found.business_id).collect();
    let named = app.database.read(async |conn| businesses::names(conn, &ids).await).await;
    let names: HashMap<BusinessId, String> = named.map_err(errors::store)?.into_iter().collect();
    let data = found.into_iter().map(|found| FoundOrderView {
        business: BusinessName {
            id: found.business_id,
            name: names.get(&found.business_id).cloned().unwrap_or_default(),
        },
        order: found.order,
    });
    Ok(HttpResponse::Ok().json(FoundOrders { data: data.collect() }))
}

#[utoipa::path(
    get,
    path = "/v1/operator/orders/{id}/events",
    operation_id = "readTimelineOfAny",
    tag = "Operator",
    summary = "All that happened to an order of any business",
    params(("id" = domain::OrderId, Path, description = "The order."), params::PageParams),
    responses((status = 200, description = "A page of the timeline, oldest first.", body = internal_api::orders::TimelinePage)),
)]
pub(super) async fn order_events(
    app: Data<App>,
    order: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let order: OrderId = order_id(&order)?;
    let page = page_query(&request)?;
    let business = app.peers.orders.business_of(order).await?;
    let business = business.ok_or_else(|| ApiError::not_found("order_not_found", "order"))?;
    Ok(HttpResponse::Ok().json(app.peers.orders.events(business, &order.to_string(), &page).await?))
}
