//! `GET /v1/portal/home`: the home page of a business.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use domain::Paise;
use internal_api::cash::CashTotals;
use internal_api::orders::LiveOrders;
use internal_api::webhooks::{EndpointStatus, EndpointView};
use serde::Serialize;
use web::ApiError;

use crate::domain::Session;
use crate::home::queries::home::{self, Home};
use crate::state::State;

/// A part is null if the role may not read it, and if its service is among `incomplete`.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct HomeView {
    orders: Option<LiveOrders>,
    wallet: Option<HomeWallet>,
    /// The cash on delivery that the business waits for.
    cash: Option<CashTotals>,
    endpoints: Option<HomeEndpoints>,
    /// The services that did not answer.
    incomplete: Vec<&'static str>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct HomeWallet {
    balance_paise: Paise,
    /// What the business owes. Deposits and refunds pay it first.
    owed_paise: Paise,
    low_balance_threshold_paise: Paise,
    /// The whole days that the balance lasts at the average of the last seven days, without those before the first deposit.
    /// Null if it spent nothing.
    days_left: Option<i64>,
}

/// The numbers of webhook endpoints.
#[derive(Serialize, utoipa::ToSchema)]
struct HomeEndpoints {
    total: usize,
    failing: usize,
    disabled: usize,
    paused: usize,
}

#[utoipa::path(
    get,
    path = "/v1/portal/home",
    operation_id = "readHome",
    tag = "Overview",
    summary = "Read what happens today: live orders, cash, balance and webhook endpoints",
    responses((status = 200, description = "The parts that the role may read.", body = HomeView)),
)]
pub(crate) async fn home(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let home = home::home(&state, session.business, session.role).await;
    Ok(HttpResponse::Ok().json(HomeView::from(home)))
}

impl From<Home> for HomeView {
    fn from(home: Home) -> Self {
        let days_left = home.days_left;
        Self {
            orders: home.orders,
            wallet: home.wallet.map(|wallet| HomeWallet {
                balance_paise: wallet.balance_paise,
                owed_paise: wallet.owed_paise,
                low_balance_threshold_paise: wallet.low_balance_threshold_paise,
                days_left,
            }),
            cash: home.cash,
            endpoints: home.endpoints.as_deref().map(HomeEndpoints::of),
            incomplete: home.incomplete,
        }
    }
}

impl HomeEndpoints {
    fn of(endpoints: &[EndpointView]) -> Self {
        let count = |status| endpoints.iter().filter(|endpoint| endpoint.status == status).count();
        Self {
            total: endpoints.len(),
            failing: count(EndpointStatus::Failing),
            disabled: count(EndpointStatus::Disabled),
            paused: count(EndpointStatus::Paused),
        }
    }
}
