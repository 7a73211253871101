//! Looking at one piece of a feed, and again at what seemed wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::{Clock, OrderId};
use internal_api::orders::{OrderPayment, OrdersClient, PaymentsQuery};
use internal_api::{CallError, Peer, PeerOptions};
use postgres::{Database, StoreError};
use tokio::time::Instant;

use super::feed::{Change, Feed};
use crate::domain::{BooksSide, Check, Doubt, Finding, OrderSide, compare};
use crate::settings::Settings;
use crate::store::reconciliation::{
    self as store, BooksFeed, Chunk, Found, Span, books_of, orders_moving_money, orders_with_cash,
    orders_with_debits,
};

/// order-api reads a thousand orders for an answer, and nobody waits for this but us.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);
/// Between two looks at what may be under way.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Why something could not be checked. It is then not known to be right.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExamineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Orders(#[from] CallError),
}

impl From<diesel::result::Error> for ExamineError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// What one look at a feed brought.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) rows: i64,
    pub(crate) found: Found,
    pub(crate) suspects: Suspects,
    /// Where the next look begins; `None` at the end of the feed.
    pub(crate) next: Option<String>,
}

/// Orders that seemed to disagree with their debits, and in what.
pub(crate) type Suspects = BTreeMap<OrderId, BTreeSet<Check>>;

/// What became of suspects.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    pub(crate) findings: Vec<Finding>,
    /// Too young to be called findings.
    pub(crate) under_way: i64,
}

/// Looks, and writes nothing.
#[derive(Clone)]
pub(crate) struct Examiner {
    pub(crate) database: Database,
    pub(crate) orders: OrdersClient,
    pub(crate) clock: Clock,
    /// Rows looked at in one transaction, and orders asked for in one call.
    pub(crate) chunk_rows: u16,
}

impl Examiner {
    /// # Errors
    /// When no HTTP client can be built.
    pub(crate) fn new(settings: &Settings, database: Database, clock: Clock) -> anyhow::Result<Self> {
        let options = PeerOptions { deadline: ANSWER_DEADLINE, ..PeerOptions::default() };
        let order_api = &settings.peers.order_api;
        let peer = Peer::new("order-api", order_api.clone(), &settings.internal.token, options)?;
        let chunk_rows = settings.reconciliation.chunk_rows;
        Ok(Self { database, orders: OrdersClient(peer), clock, chunk_rows })
    }

    /// Looks at the next piece of a feed.
    pub(crate) async fn look(&self, feed: Feed, after: &str) -> Result<Look, ExamineError> {
        match (feed.books(), feed) {
            (Some(books), _) => self.look_at_books(books, after).await,
            (None, Feed::Orders) => self.look_at_orders(Change::parse(after)).await,
            (None, _) => self.look_at_orders_of(feed, after).await,
        }
    }

    /// Looks at what a finding within the books is about.
    pub(crate) async fn look_again(&self, feed: BooksFeed, subject: &str) -> Result<Found, StoreError> {
        let span = Span::of(subject);
        self.database
            .transaction(async |conn| {
                store::begin(conn).await?;
                store::check(conn, feed, &span).await
            })
            .await
    }

    async fn look_at_books(&self, feed: BooksFeed, after: &str) -> Result<Look, ExamineError> {
        let limit = i64::from(self.chunk_rows);
        let (chunk, found) = self
            .database
            .transaction(async |conn| {
                store::begin(conn).await?;
                let chunk = store::next_chunk(conn, feed, after, limit).await?;
                let found = store::check(conn, feed, &chunk.span).await?;
                Ok::<_, StoreError>((chunk, found))
            })
            .await?;
        Ok(Look { rows: chunk.rows, found, suspects: Suspects::new(), next: next(chunk) })
    }

    /// Orders by their last change.
    async fn look_at_orders(&self, after: Change) -> Result<Look, ExamineError> {
        let query = PaymentsQuery {
            changed_after: after.at,
            starting_after: after.order,
            limit: self.chunk_rows.into(),
        };
        let page = self.orders.payments_changed(&query).await?;
        let ids: Vec<OrderId> = page.data.iter().map(|order| order.id).collect();
        let rows = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        let last = page.data.last().map(|order| Change { at: order.changed_at, order: Some(order.id) });
        let books = self.books_of(&ids).await?;
        let suspects = suspects(self.compare(&ids, page.data, books));
        let next = last.filter(|_| page.has_more).map(|last| last.to_string());
        Ok(Look { rows, found: Found::default(), suspects, next })
    }

    /// The orders that a piece of our own tables is about.
    async fn look_at_orders_of(&self, feed: Feed, after: &str) -> Result<Look, ExamineError> {
        let limit = i64::from(self.chunk_rows);
        let table = match feed {
            Feed::OrderTransfers => BooksFeed::Transfers,
            Feed::OrderCash => BooksFeed::Cash,
            _ => BooksFeed::Debits,
        };
        let (chunk, written) = self
            .database
            .transaction(async |conn| {
                store::begin(conn).await?;
                let chunk = store::next_chunk(conn, table, after, limit).await?;
                let written = match table {
                    BooksFeed::Transfers => orders_moving_money(conn, &chunk.span).await?,
                    BooksFeed::Cash => orders_with_cash(conn, &chunk.span).await?,
                    _ => orders_with_debits(conn, &chunk.span).await?,
                };
                Ok::<_, StoreError>((chunk, written))
            })
            .await?;
        let mut found = Found::default();
        let mut ids = Vec::with_capacity(written.len());
        for text in written {
            match text.parse() {
                Ok(id) => ids.push(id),
                Err(_) => found.findings.push(Finding {
                    check: if table == BooksFeed::Cash {
                        Check::CashDiffersFromOrder
                    } else {
                        Check::DebitWithoutOrder
                    },
                    subject: text,
                    detail: "this is no id of an order".into(),
                }),
            }
        }
        found.total = i64::try_from(found.findings.len()).unwrap_or(i64::MAX);
        let suspects = suspects(self.look_at(&ids).await?);
        Ok(Look { rows: chunk.rows, found, suspects, next: next(chunk) })
    }

    /// Looks again at suspects until all is explained or `patience` is over. What never is to be is believed at the
    /// second look: money that moved and orders that were placed stay so, and by then the first look's other side has
    /// been read anew. What may be under way is believed once it is too old for that.
    pub(crate) async fn settle(
        &self,
        suspects: Suspects,
        patience: Duration,
    ) -> Result<Settled, ExamineError> {
        let begun = Instant::now();
        let mut settled = Settled::default();
        let mut before = suspects;
        while !before.is_empty() {
            let mut waiting = Suspects::new();
            let ids: Vec<OrderId> = before.keys().copied().collect();
            let over = begun.elapsed() >= patience;
            for (id, doubt) in self.look_at(&ids).await? {
                let check = doubt.finding.check;
                let is_news = !before.get(&id).is_some_and(|checks| checks.contains(&check));
                match doubt.awaited_since {
                    None if is_news => {}
                    None => {
                        settled.findings.push(doubt.finding);
                        continue;
                    }
                    Some(_) if !over => {}
                    Some(_) if doubt.is_under_way(self.clock.now()) => {
                        settled.under_way += 1;
                        continue;
                    }
                    Some(_) => {
                        settled.findings.push(doubt.finding);
                        continue;
                    }
                }
                waiting.entry(id).or_default().insert(check);
            }
            before = waiting;
            if !before.is_empty() {
                tokio::time::sleep(LOOK_AGAIN_AFTER).await;
            }
        }
        Ok(settled)
    }

    /// The books first: an order that was placed or called off before its money is looked at is then seen so.
    async fn look_at(&self, ids: &[OrderId]) -> Result<Vec<(OrderId, Doubt)>, ExamineError> {
        let mut doubts = Vec::new();
        for ids in ids.chunks(self.chunk_rows.into()) {
            let books = self.books_of(ids).await?;
            let orders = self.orders.payments(ids).await?;
            doubts.extend(self.compare(ids, orders, books));
        }
        Ok(doubts)
    }

    async fn books_of(&self, ids: &[OrderId]) -> Result<BTreeMap<OrderId, BooksSide>, StoreError> {
        self.database.read(async |conn| books_of(conn, ids).await).await
    }

    fn compare(
        &self,
        ids: &[OrderId],
        orders: Vec<OrderPayment>,
        mut books: BTreeMap<OrderId, BooksSide>,
    ) -> Vec<(OrderId, Doubt)> {
        let mut orders: BTreeMap<OrderId, OrderSide> =
            orders.into_iter().map(|order| (order.id, side(order))).collect();
        let doubts_of = |id: &OrderId| {
            let (order, books) = (orders.remove(id), books.remove(id).unwrap_or_default());
            let doubts = compare(*id, order.as_ref(), &books);
            doubts.into_iter().map(|doubt| (*id, doubt)).collect::<Vec<_>>()
        };
        ids.iter().flat_map(doubts_of).collect()
    }
}

fn next(chunk: Chunk) -> Option<String> {
    (!chunk.is_last).then_some(chunk.span.until)
}

fn side(order: OrderPayment) -> OrderSide {
    OrderSide {
        business: order.business_id,
        mode: order.mode,
        placed: order.placed,
        fee: order.delivery_fee_paise,
        cash: order.cod_amount_paise,
        cash_status: order.cod_status,
        delivered: order.delivered.unwrap_or_default(),
        refund_due: order.refund_due,
        changed_at: order.changed_at,
    }
}

fn suspects(doubts: Vec<(OrderId, Doubt)>) -> Suspects {
    let mut suspects = Suspects::new();
    for (id, doubt) in doubts {
        suspects.entry(id).or_default().insert(doubt.finding.check);
    }
    suspects
}
