//! What a business has open in all services. A service that does not answer is an error: nothing counts as settled that nobody
//! has confirmed.

use domain::{BusinessId, DeliveryStatus, Mode};
use internal_api::cash::CashQuery;
use internal_api::keys::ApiKeyView;
use internal_api::orders::OrdersQuery;
use internal_api::webhooks::EndpointView;
use internal_api::{CallError, PageQuery};
use postgres::StoreError;

use crate::approvals::commands::open_approvals::open_approvals;
use crate::business::domain::OpenItems;
use crate::state::State;

/// Of live orders; [`DeliveryStatus::Failed`] is counted with what needs attention.
const ON_THEIR_WAY: [DeliveryStatus; 4] = [
    DeliveryStatus::Created,
    DeliveryStatus::DriverAssigned,
    DeliveryStatus::PickedUp,
    DeliveryStatus::OutForDelivery,
];
/// The orders of each status that are counted.
const ORDERS_COUNTED: usize = 25;
const PAGE: usize = 100;
/// Keys that ended are kept, so the working ones may be on later pages.
const PAGES_MAX: usize = 100;

#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenItemsError {
    #[error(transparent)]
    Peer(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Asks all services at once.
///
/// # Errors
/// When one of them does not answer.
pub(crate) async fn open_items(state: &State, business: BusinessId) -> Result<OpenItems, OpenItemsError> {
    let today = state.mailbox.region.start_of_day(state.unit.clock.now());
    // The totals come with a page of orders.
    let totals = CashQuery { limit: Some(1), ..CashQuery::default() };
    let peers = &state.peers;
    let (live_orders, live, activity, wallet, cash, keys, endpoints) = tokio::try_join!(
        orders_on_their_way(state, business),
        peers.orders.live(business, today),
        peers.orders.activity(business),
        peers.wallet.wallet(business),
        peers.wallet.cash(business, &totals),
        working_keys(state, business),
        endpoints(state, business),
    )?;
    Ok(OpenItems {
        live_orders,
        failed_deliveries: live.attention.failed,
        undecided_payments: activity.live.pending,
        cash_orders: cash.totals.ages.iter().map(|age| age.orders).sum(),
        cash_paise: cash.totals.outstanding_paise,
        cash_discrepancies: cash.totals.discrepancies,
        balance_paise: wallet.balance_paise,
        owed_paise: wallet.owed_paise,
        approvals: count(open_approvals(state, business).await?),
        keys: count(keys.len()),
        endpoints: count(endpoints.len()),
    })
}

/// # Errors
/// When key-management does not answer.
pub(crate) async fn working_keys(state: &State, business: BusinessId) -> Result<Vec<ApiKeyView>, CallError> {
    let now = state.unit.clock.now();
    let works = |key: &ApiKeyView| key.revoked_at.is_none() && key.expires_at.is_none_or(|end| end > now);
    let mut working = Vec::new();
    let mut starting_after = None;
    for _ in 0..PAGES_MAX {
        let page = state.peers.keys.list(business, &PageQuery { limit: PAGE, starting_after }).await?;
        starting_after = page.data.last().map(|key| key.id.to_string());
        working.extend(page.data.into_iter().filter(works));
        if !page.has_more {
            break;
        }
    }
    Ok(working)
}

/// A page has more than a business may have.
///
/// # Errors
/// When webhook-dispatcher does not answer.
pub(crate) async fn endpoints(state: &State, business: BusinessId) -> Result<Vec<EndpointView>, CallError> {
    let all = PageQuery { limit: PAGE, starting_after: None };
    Ok(state.peers.webhooks.list(business, &all).await?.data)
}

async fn orders_on_their_way(state: &State, business: BusinessId) -> Result<i64, CallError> {
    let mut found = 0;
    for status in ON_THEIR_WAY {
        let query = OrdersQuery {
            mode: Some(Mode::Live),
            limit: Some(ORDERS_COUNTED),
            status: Some(status.to_string()),
            ..OrdersQuery::default()
        };
        found += state.peers.orders.list(business, &query).await?.data.len();
    }
    Ok(count(found))
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
