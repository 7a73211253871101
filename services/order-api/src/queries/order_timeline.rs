//! The timeline of an order: its status changes, its entries in the wallet, and its webhooks.
//!
//! Entries are sorted by the time at which they were recorded, then by id. An entry keeps its position: a webhook has
//! the time of its creation, and its outcome changes in place. So pages stay stable while entries are added.
//!
//! Status changes are always complete. When the wallet or the webhook-dispatcher does not answer in time, the timeline
//! lacks its entries and names it in `incomplete`: an outage of a peer must not hide the parcel.

use std::future::Future;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{BusinessId, EventId, Mode, OrderId, TransferId, WebhookDeliveryId};
use internal_api::wallet::EntryView;
use internal_api::webhooks::{OrderDeliveriesQuery, OrderDeliveryView};
use internal_api::{CallError, PageQuery};
use postgres::StoreError;

use crate::domain::{Order, OrderEvent};
use crate::state::State;
use crate::store::timeline::Position;
use crate::store::{orders, timeline};

/// For the answer of a peer.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// The entries of each source: at most one more than the page holds, so that the page can be cut from them.
#[derive(Debug, Default)]
pub struct Timeline {
    pub moves: Vec<OrderEvent>,
    pub money: Vec<EntryView>,
    pub webhooks: Vec<OrderDeliveryView>,
    /// The peers that did not answer.
    pub incomplete: Vec<&'static str>,
}

#[derive(Debug, thiserror::Error)]
pub enum TimelineError {
    #[error("the order does not exist")]
    NotFound,
    #[error("the page starts after an unknown entry")]
    UnknownStart,
    /// Only when the page starts after an entry of a peer, because the time of that entry is needed.
    #[error(transparent)]
    Peer(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The entries after the start of the page.
pub async fn order_timeline(
    state: &State,
    business: BusinessId,
    mode: Option<Mode>,
    id: OrderId,
    page: &PageQuery,
) -> Result<Timeline, TimelineError> {
    let order = state.unit.database.read(async |conn| orders::find(conn, business, mode, id).await).await?;
    let order = order.ok_or(TimelineError::NotFound)?;
    let after = match &page.starting_after {
        None => None,
        Some(entry) => Some(position(state, &order, entry).await?),
    };
    let limit = page.limit + 1;
    let moves = state
        .unit
        .database
        .read(async |conn| timeline::list(conn, business, id, after.as_ref(), limit).await);
    let (moves, money, webhooks) = tokio::join!(
        moves,
        in_time(money(state, &order)),
        in_time(webhooks(state, &order, after.as_ref(), page.limit))
    );
    let mut found = Timeline { moves: moves?, ..Timeline::default() };
    match money {
        Some(lines) => {
            found.money = lines.into_iter().filter(|line| is_after(line, after.as_ref())).collect();
        }
        None => found.incomplete.push("wallet"),
    }
    match webhooks {
        Some(webhooks) => found.webhooks = webhooks,
        None => found.incomplete.push("webhook-dispatcher"),
    }
    Ok(found)
}

/// The position of an entry. The prefix of its id names its source.
async fn position(state: &State, order: &Order, entry: &str) -> Result<Position, TimelineError> {
    let at = if let Ok(event) = entry.parse::<EventId>() {
        let recorded = state
            .unit
            .database
            .read(async |conn| timeline::recorded_at(conn, order.business_id, order.id, event).await);
        recorded.await?
    } else if let Ok(transfer) = entry.parse::<TransferId>() {
        let lines = money(state, order).await?;
        lines.iter().find(|line| line.transfer_id == transfer).map(|line| line.created_at)
    } else if let Ok(delivery) = entry.parse::<WebhookDeliveryId>() {
        webhook_created_at(state, order, delivery).await?
    } else {
        None
    };
    let at = at.ok_or(TimelineError::UnknownStart)?;
    Ok(Position { at, id: entry.to_owned() })
}

/// A test order has no entries in the wallet.
async fn money(state: &State, order: &Order) -> Result<Vec<EntryView>, CallError> {
    match order.mode {
        Mode::Test => Ok(Vec::new()),
        Mode::Live => state.wallet.entries_of_order(order.business_id, order.id).await,
    }
}

fn is_after(line: &EntryView, after: Option<&Position>) -> bool {
    after.is_none_or(|after| (line.created_at, line.transfer_id.to_string()) > (after.at, after.id.clone()))
}

/// The peer accepts any limit of a page.
async fn webhooks(
    state: &State,
    order: &Order,
    after: Option<&Position>,
    limit: usize,
) -> Result<Vec<OrderDeliveryView>, CallError> {
    let mut query = OrderDeliveriesQuery {
        limit,
        after: after.map(|after| after.at),
        after_id: after.map(|after| after.id.clone()),
    };
    let mut page = state.webhooks.of_order(order.business_id, order.id, &query).await?;
    // One more than the page holds, so that `hasMore` is known.
    if let (true, Some(last)) = (page.has_more, page.data.last()) {
        (query.limit, query.after, query.after_id) = (1, Some(last.created_at), Some(last.id.to_string()));
        page.data.extend(state.webhooks.of_order(order.business_id, order.id, &query).await?.data);
    }
    Ok(page.data)
}

async fn webhook_created_at(
    state: &State,
    order: &Order,
    delivery: WebhookDeliveryId,
) -> Result<Option<DateTime<Utc>>, CallError> {
    match state.webhooks.one_of_order(order.business_id, order.id, delivery).await {
        Ok(webhook) => Ok(Some(webhook.created_at)),
        Err(error) if error.refusal_code() == Some("webhook_delivery_not_found") => Ok(None),
        Err(error) => Err(error),
    }
}

/// `None` without an answer in time.
pub(super) async fn in_time<T>(call: impl Future<Output = Result<T, CallError>>) -> Option<T> {
    match tokio::time::timeout(PATIENCE, call).await {
        Ok(Ok(answer)) => Some(answer),
        Ok(Err(error)) => {
            tracing::warn!(%error, "webhooks or money are missing in an answer");
            None
        }
        Err(_) => {
            tracing::warn!(error = "no answer in time", "webhooks or money are missing in an answer");
            None
        }
    }
}
