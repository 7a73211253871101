//! What a business has open in all services. A service that does not answer is an error: nothing counts as settled that nobody
//! has confirmed.

use domain::{BusinessId, Paise};
use internal_api::cash::{CashQuery, CashView};
use internal_api::keys::ApiKeyView;
use internal_api::webhooks::EndpointView;
use internal_api::{CallError, PageQuery};
use postgres::StoreError;

use crate::approvals::commands::open_approvals::open_approvals;
use crate::business::domain::OpenItems;
use crate::state::State;

/// Cash that is settled short or over is a discrepancy, which is counted on its own.
const UNSETTLED: [&str; 3] = ["pending", "collected", "handed_over"];
/// Of the cash of a status, one page is counted.
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
    let peers = &state.peers;
    let (orders, activity, wallet, cash, keys, endpoints) = tokio::try_join!(
        peers.orders.open(business),
        peers.orders.activity(business),
        peers.wallet.wallet(business),
        open_cash(state, business),
        working_keys(state, business),
        endpoints(state, business),
    )?;
    Ok(OpenItems {
        live_orders: orders.on_their_way,
        failed_deliveries: orders.failed,
        undecided_payments: activity.live.pending,
        // The wallet learns of a delivery a moment later.
        cash_orders: cash.orders.max(orders.cash),
        cash_paise: Paise::new(cash.paise),
        cash_discrepancies: cash.discrepancies,
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

#[derive(Default)]
struct OpenCash {
    orders: i64,
    paise: i64,
    discrepancies: i64,
}

async fn open_cash(state: &State, business: BusinessId) -> Result<OpenCash, CallError> {
    let mut open = OpenCash::default();
    for status in UNSETTLED {
        let query = CashQuery { limit: Some(PAGE), status: Some(status.to_owned()), ..CashQuery::default() };
        let found = state.peers.wallet.cash(business, &query).await?;
        open.orders += count(found.data.len());
        open.paise = found.data.iter().map(|cash| owed(cash).get()).fold(open.paise, i64::saturating_add);
        // The totals come with each page, whatever its filter.
        open.discrepancies = found.totals.discrepancies;
    }
    Ok(open)
}

/// As in the totals of the wallet.
fn owed(cash: &CashView) -> Paise {
    cash.collected_paise.or(cash.expected_paise).or(cash.handed_over_paise).unwrap_or(Paise::ZERO)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
