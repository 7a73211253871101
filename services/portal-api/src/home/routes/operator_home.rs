//! `GET /v1/operator/home`: what waits for the operator.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use chrono::{DateTime, Utc};
use domain::{BusinessId, Paise};
use internal_api::orders::ExceptionCounts;
use serde::Serialize;
use strum::VariantArray;
use web::ApiError;

use crate::approvals::domain::ApprovalKind;
use crate::business::domain::ListedBusiness;
use crate::domain::{OperatorPermission, OperatorRole};
use crate::home::queries::operator_home::{OperatorHome, operator_home};
use crate::http::audited::OperatorAuthor;
use crate::state::State;

/// Lists of at most 20 businesses each. A list is null if its service is among `incomplete`.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct OperatorHomeView {
    /// Businesses that wait for their approval, or asked again after a refusal, newest first.
    sign_ups: Vec<WaitingBusiness>,
    /// Businesses that wait for their plan and were not refused, or asked again, newest first.
    plan_requests: Vec<WaitingBusiness>,
    /// The number of requests for approval that the caller may see, at most 21; null without the permission.
    approvals: Option<usize>,
    /// Endpoints whose attempts all fail, the longest first.
    failing_endpoints: Option<Vec<FailingView>>,
    /// Wallets below their warning threshold, the lowest first.
    low_balances: Option<Vec<LowBalanceView>>,
    /// Closed businesses whose wallet has a balance, such as a late payment, to be paid out; the last closing first.
    closed_with_money: Option<Vec<ClosedWithMoneyView>>,
    /// Cash that is not settled although its promised day is over, the oldest first.
    late_cash: Option<Vec<LateCashView>>,
    /// Orders with an unexpected amount of cash that nobody has closed, up to 1,000; null as a list.
    open_discrepancies: Option<i64>,
    /// The live orders of all businesses that need attention, up to 1,000 of each kind; null as a list.
    attention: Option<ExceptionCounts>,
    /// The services that did not answer.
    incomplete: Vec<&'static str>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct WaitingBusiness {
    id: BusinessId,
    name: String,
    requested_plan: Option<String>,
    /// Whether it was refused, and asked again.
    asked_again: bool,
    created_at: DateTime<Utc>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct FailingView {
    business_id: BusinessId,
    name: String,
    failing_since: DateTime<Utc>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct LowBalanceView {
    business_id: BusinessId,
    name: String,
    balance_paise: Paise,
    owed_paise: Paise,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ClosedWithMoneyView {
    business_id: BusinessId,
    name: String,
    balance_paise: Paise,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct LateCashView {
    business_id: BusinessId,
    name: String,
    orders: i64,
    amount_paise: Paise,
    /// Of the oldest order.
    due_since: DateTime<Utc>,
}

#[utoipa::path(
    get,
    path = "/v1/operator/home",
    operation_id = "readOperatorHome",
    tag = "Operator",
    summary = "Read what waits for the operator, and which businesses need attention",
    responses((status = 200, description = "As far as all services answered.", body = OperatorHomeView)),
)]
pub(crate) async fn home(
    state: Data<State>,
    author: OperatorAuthor,
    role: ReqData<OperatorRole>,
) -> Result<HttpResponse, ApiError> {
    let reviews = author.0.may(*role, OperatorPermission::ReviewApprovals);
    let kinds = ApprovalKind::VARIANTS.iter().copied();
    let kinds = kinds.filter(|kind| reviews && author.0.may(*role, kind.permission())).collect();
    let home = operator_home(&state, kinds).await?;
    Ok(HttpResponse::Ok().json(OperatorHomeView::of(home, reviews)))
}

impl OperatorHomeView {
    fn of(home: OperatorHome, reviews: bool) -> Self {
        let OperatorHome {
            sign_ups,
            plan_requests,
            approvals,
            failing,
            wallets,
            closed_with_money,
            orders,
            names,
            incomplete,
        } = home;
        // A business that no longer exists needs nothing.
        let named = |id: BusinessId| names.get(&id).map(|name| (id, name.clone()));
        let failing = failing.map(|failing| {
            let view = failing.into_iter().filter_map(|endpoint| {
                let (business_id, name) = named(endpoint.business_id)?;
                Some(FailingView { business_id, name, failing_since: endpoint.failing_since })
            });
            view.collect()
        });
        let open_discrepancies = wallets.as_ref().and_then(|found| found.open_discrepancies);
        let (low_balances, late_cash) = wallets.map(|found| (found.low_balances, found.late_cash)).unzip();
        let low_balances = low_balances.map(|low| {
            let view = low.into_iter().filter_map(|low| {
                let (business_id, name) = named(low.business_id)?;
                let (balance_paise, owed_paise) = (low.balance_paise, low.owed_paise);
                Some(LowBalanceView { business_id, name, balance_paise, owed_paise })
            });
            view.collect()
        });
        let closed_with_money = closed_with_money.map(|closed| {
            let view = closed.into_iter().filter_map(|closed| {
                let (business_id, name) = named(closed.business_id)?;
                Some(ClosedWithMoneyView { business_id, name, balance_paise: closed.balance_paise })
            });
            view.collect()
        });
        let late_cash = late_cash.map(|late| {
            let view = late.into_iter().filter_map(|late| {
                let (business_id, name) = named(late.business_id)?;
                let (orders, amount_paise, due_since) = (late.orders, late.amount_paise, late.due_since);
                Some(LateCashView { business_id, name, orders, amount_paise, due_since })
            });
            view.collect()
        });
        Self {
            sign_ups: sign_ups.into_iter().map(WaitingBusiness::of).collect(),
            plan_requests: plan_requests.into_iter().map(WaitingBusiness::of).collect(),
            approvals: reviews.then_some(approvals),
            failing_endpoints: failing,
            low_balances,
            closed_with_money,
            late_cash,
            open_discrepancies,
            attention: orders,
            incomplete,
        }
    }
}

impl WaitingBusiness {
    fn of(listed: ListedBusiness) -> Self {
        let business = listed.standing.business;
        Self {
            id: business.id,
            name: business.name,
            requested_plan: business.subscription.requested_plan,
            asked_again: listed.asked_again,
            created_at: business.created_at,
        }
    }
}
