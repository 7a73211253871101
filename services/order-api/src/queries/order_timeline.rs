//! All that happened to an order, in one list: its own moves, the money in the wallet, and what became of its webhooks.
//!
//! Entries stand in the order in which they were recorded, and those of one moment by their ids. An entry never moves:
//! that of a webhook stands where the webhook came to be, and its outcome changes in place. So a page that begins after
//! an entry is the same whatever is added meanwhile.
//!
//! The moves are always complete. When wallet or webhook-dispatcher does not answer in time, its entries are missing
//! and `incomplete` says so: an outage over there must not hide where the parcel is.

use std::future::Future;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{BusinessId, EventId, Mode, OrderId, TransferId, WebhookDeliveryId};
use internal_api::wallet::EntryView;
use internal_api::webhooks::{OrderDeliveriesQuery, OrderDeliveryView};
use internal_api::{CallError, PageQuery};
use postgres::StoreError;

use crate::app::App;
use crate::domain::{Order, OrderEvent};
use crate::store::timeline::Position;
use crate::store::{orders, timeline};

/// How long the others have to answer; whoever asks waits as long as the slower one.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// A part of the list from each source, each at most one longer than the page, so that the page can be cut from them.
#[derive(Debug, Default)]
pub struct Timeline {
    pub moves: Vec<OrderEvent>,
    pub money: Vec<EntryView>,
    pub webhooks: Vec<OrderDeliveryView>,
    /// Who did not answer.
    pub incomplete: Vec<&'static str>,
}

#[derive(Debug, thiserror::Error)]
pub enum TimelineError {
    #[error("there is no such order")]
    NotFound,
    #[error("the page begins after something that is not in the list")]
    UnknownStart,
    /// Only while the page begins after an entry of theirs: without its time there is no telling what follows.
    #[error(transparent)]
    Peer(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What follows the page's start, from each source.
pub async fn order_timeline(
    app: &App,
    business: BusinessId,
    mode: Option<Mode>,
    id: OrderId,
    page: &PageQuery,
) -> Result<Timeline, TimelineError> {
    let order = app.database.read(async |conn| orders::find(conn, business, mode, id).await).await?;
    let order = order.ok_or(TimelineError::NotFound)?;
    let after = match &page.starting_after {
        None => None,
        Some(entry) => Some(position(app, &order, entry).await?),
    };
    let limit = page.limit + 1;
    let moves =
        app.database.read(async |conn| timeline::list(conn, business, id, after.as_ref(), limit).await);
    let (moves, money, webhooks) = tokio::join!(
        moves,
        in_time(money(app, &order)),
        in_time(webhooks(app, &order, after.as_ref(), page.limit))
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

/// Where an entry stands. Its id tells who knows it.
async fn position(app: &App, order: &Order, entry: &str) -> Result<Position, TimelineError> {
    let at = if let Ok(event) = entry.parse::<EventId>() {
        let recorded = app
            .database
            .read(async |conn| timeline::recorded_at(conn, order.business_id, order.id, event).await);
        recorded.await?
    } else if let Ok(transfer) = entry.parse::<TransferId>() {
        let lines = money(app, order).await?;
        lines.iter().find(|line| line.transfer_id == transfer).map(|line| line.created_at)
    } else if let Ok(delivery) = entry.parse::<WebhookDeliveryId>() {
        webhook_created_at(app, order, delivery).await?
    } else {
        None
    };
    let at = at.ok_or(TimelineError::UnknownStart)?;
    Ok(Position { at, id: entry.to_owned() })
}

/// A test order never touches a wallet, so nobody needs to be asked.
async fn money(app: &App, order: &Order) -> Result<Vec<EntryView>, CallError> {
    match order.mode {
        Mode::Test => Ok(Vec::new()),
        Mode::Live => app.wallet.entries_of_order(order.business_id, order.id).await,
    }
}

fn is_after(line: &EntryView, after: Option<&Position>) -> bool {
    after.is_none_or(|after| (line.created_at, line.transfer_id.to_string()) > (after.at, after.id.clone()))
}

/// The page's limit is known to be one that the other side takes.
async fn webhooks(
    app: &App,
    order: &Order,
    after: Option<&Position>,
    limit: usize,
) -> Result<Vec<OrderDeliveryView>, CallError> {
    let mut query = OrderDeliveriesQuery {
        limit,
        after: after.map(|after| after.at),
        after_id: after.map(|after| after.id.clone()),
    };
    let mut page = app.webhooks.of_order(order.business_id, order.id, &query).await?;
    // One more than the page holds, so that the cut knows whether there are more.
    if let (true, Some(last)) = (page.has_more, page.data.last()) {
        (query.limit, query.after, query.after_id) = (1, Some(last.created_at), Some(last.id.to_string()));
        page.data.extend(app.webhooks.of_order(order.business_id, order.id, &query).await?.data);
    }
    Ok(page.data)
}

async fn webhook_created_at(
    app: &App,
    order: &Order,
    delivery: WebhookDeliveryId,
) -> Result<Option<DateTime<Utc>>, CallError> {
    match app.webhooks.one_of_order(order.business_id, order.id, delivery).await {
        Ok(webhook) => Ok(Some(webhook.created_at)),
        Err(error) if error.refusal_code() == Some("webhook_delivery_not_found") => Ok(None),
        Err(error) => Err(error),
    }
}

/// None when there was no answer in time; the reader is told, and so is the log.
async fn in_time<T>(asked: impl Future<Output = Result<T, CallError>>) -> Option<T> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(answer)) => Some(answer),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a timeline is shown without a part of it");
            None
        }
        Err(_) => {
            tracing::warn!("a timeline is shown without a part of it: no answer in time");
            None
        }
    }
}
