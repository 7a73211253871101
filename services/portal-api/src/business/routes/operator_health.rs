//! `GET /v1/operator/businesses/{id}/health`: the health of a business.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::Paise;
use internal_api::orders::{ModeActivity, OrdersActivity};
use internal_api::webhooks::EndpointView;
use serde::Serialize;
use web::ApiError;

use crate::business::domain::Problem;
use crate::business::queries::business_health::{BusinessHealth, business_health};
use crate::go_live::routes::status::{GoLiveView, IndicatorsView};
use crate::http::errors;
use crate::relay::routes::webhook_endpoints::without_query;
use crate::state::State;

/// The health of a business. Values of services in `incomplete` are null or `Unknown`.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct HealthView {
    indicators: IndicatorsView,
    go_live: GoLiveView,
    balance_paise: Option<Paise>,
    /// What the business owes. Deposits and refunds pay it first.
    owed_paise: Option<Paise>,
    low_balance_threshold_paise: Option<Paise>,
    orders: Option<OrdersHealth>,
    /// Without the query parts of the URLs, which may contain secrets.
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
    summary = "Read the health of a business",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    responses((status = 200, description = "The health, as far as all services answered.", body = HealthView)),
)]
pub(crate) async fn health(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = business.parse().map_err(|_| errors::business_not_found())?;
    let found = business_health(&state, business).await?;
    Ok(HttpResponse::Ok().json(HealthView::from(found.ok_or_else(errors::business_not_found)?)))
}

impl From<BusinessHealth> for HealthView {
    fn from(health: BusinessHealth) -> Self {
        let owed_paise = health.wallet.as_ref().map(|wallet| wallet.owed_paise);
        let (balance_paise, low_balance_threshold_paise) =
            health.wallet.map(|wallet| (wallet.balance_paise, wallet.low_balance_threshold_paise)).unzip();
        Self {
            indicators: health.indicators.into(),
            go_live: GoLiveView::of(health.go_live, health.done_since),
            balance_paise,
            owed_paise,
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
