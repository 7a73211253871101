//! The operator's home: what waits for the operator, and the businesses that need attention. Asks all services at once; those
//! that do not answer are listed.

use std::collections::BTreeMap;

use domain::{BusinessId, Paise};
use internal_api::CallError;
use internal_api::attention::{BUSINESSES_MAX, Balance, CLOSED_MAX, FailingEndpoint, WalletAttention};
use internal_api::orders::ExceptionCounts;
use postgres::StoreError;

use crate::approvals::domain::{ApprovalFilter, ApprovalKind, ApprovalState};
use crate::approvals::queries::approvals;
use crate::business::domain::{BusinessFilter, ListedBusiness, SubscriptionState};
use crate::business::queries::businesses;
use crate::business::queries::unanswered::Unanswered;
use crate::state::State;
use crate::store::closings;

/// Of each kind.
const LISTED_MAX: usize = 20;

pub(crate) struct OperatorHome {
    /// Businesses that wait for their approval, or asked again, newest first.
    pub(crate) sign_ups: Vec<ListedBusiness>,
    /// Businesses that wait for their plan and were not refused, or asked again, newest first.
    pub(crate) plan_requests: Vec<ListedBusiness>,
    /// The number of requests that the caller may decide.
    pub(crate) approvals: usize,
    pub(crate) failing: Option<Vec<FailingEndpoint>>,
    pub(crate) wallets: Option<WalletAttention>,
    /// Money that arrived after the closing, the last closing first.
    pub(crate) closed_with_money: Option<Vec<Balance>>,
    /// The live orders that need attention.
    pub(crate) orders: Option<ExceptionCounts>,
    /// Of the businesses in these lists.
    pub(crate) names: BTreeMap<BusinessId, String>,
    /// The services that did not answer.
    pub(crate) incomplete: Vec<&'static str>,
}

/// `kinds` are the approvals that the caller may see.
pub(crate) async fn operator_home(
    state: &State,
    kinds: Vec<ApprovalKind>,
) -> Result<OperatorHome, StoreError> {
    let waiting = BusinessFilter { awaits_review: true, ..BusinessFilter::default() };
    let requested = BusinessFilter {
        subscription: Some(SubscriptionState::Requested),
        undecided: true,
        ..BusinessFilter::default()
    };
    let pending = ApprovalFilter { state: Some(ApprovalState::Pending), business: None, kinds };
    let closed: Result<Vec<BusinessId>, StoreError> =
        state.unit.database.read(async |conn| closings::closed(conn, CLOSED_MAX).await).await;
    let closed = closed?;
    let (sign_ups, plan_requests, approvals, failing, wallets, closed_with_money, orders) = tokio::join!(
        businesses::list(state, LISTED_MAX, None, &waiting),
        businesses::list(state, LISTED_MAX, None, &requested),
        approvals::list(state, &pending, LISTED_MAX, None),
        state.peers.webhooks.failing(),
        state.peers.wallet.attention(&closed),
        with_money(state, &closed),
        state.peers.orders.exception_counts(),
    );
    let mut unanswered = Unanswered::default();
    let failing = unanswered.unwrap("webhook-dispatcher", failing);
    let wallets = unanswered.unwrap("wallet", wallets);
    let closed_with_money = unanswered.unwrap("wallet", closed_with_money);
    let orders = unanswered.unwrap("order-api", orders);
    let named = failing.iter().flatten().map(|endpoint| endpoint.business_id);
    let low = wallets.iter().flat_map(|wallets| wallets.low_balances.iter().map(|low| low.business_id));
    let late = wallets.iter().flat_map(|wallets| wallets.late_cash.iter().map(|late| late.business_id));
    let with_money = closed_with_money.iter().flatten().map(|closed| closed.business_id);
    let ids: Vec<BusinessId> = named.chain(low).chain(late).chain(with_money).collect();
    let first = |listed: Option<Vec<ListedBusiness>>| {
        listed.unwrap_or_default().into_iter().take(LISTED_MAX).collect::<Vec<_>>()
    };
    Ok(OperatorHome {
        sign_ups: first(sign_ups?),
        plan_requests: first(plan_requests?),
        approvals: approvals?.map_or(0, |approvals| approvals.len()),
        names: businesses::names(state, &ids).await?.into_iter().collect(),
        failing,
        wallets,
        closed_with_money,
        orders,
        incomplete: unanswered.0,
    })
}

/// The closed businesses with a balance.
async fn with_money(state: &State, closed: &[BusinessId]) -> Result<Vec<Balance>, CallError> {
    let mut found = Vec::new();
    for ids in closed.chunks(BUSINESSES_MAX) {
        let balances = state.peers.wallet.balances(ids).await?;
        let balance_of = |id: &BusinessId| balances.iter().find(|of| of.business_id == *id).cloned();
        found.extend(ids.iter().filter_map(balance_of).filter(|of| of.balance_paise != Paise::ZERO));
        if found.len() >= LISTED_MAX {
            break;
        }
    }
    found.truncate(LISTED_MAX);
    Ok(found)
}
