//! Looking at one piece of a feed, and again at what seemed wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::{Clock, OrderId};
use internal_api::orders::{OrderPayment, OrdersClient, PaymentsQuery};
use internal_api::{CallError, Peer, PeerOptions};
use postgres::{Database, StoreError};
use settings::Secret;
use tokio::time::Instant;
use url::Url;

use super::feed::{Change, Feed};
use crate::domain::{BooksSide, Check, Discrepancy, Finding, OrderSide, compare};
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

/// What one look at a feed brought.
#[derive(Debug)]
pub(crate) struct ScanPage {
    pub(crate) rows: i64,
    pub(crate) found: Found,
    pub(crate) candidates: Candidates,
    /// Where the next look begins; `None` at the end of the feed.
    pub(crate) next: Option<String>,
}

/// Orders that seemed to disagree with their debits, and in what.
pub(crate) type Candidates = BTreeMap<OrderId, BTreeSet<Check>>;

/// What became of candidates.
#[derive(Debug, Default)]
pub(crate) struct Confirmed {
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
    pub(crate) fn new(database: Database, clock: Clock, orders: OrdersClient, chunk_rows: u16) -> Self {
        Self { database, orders, clock, chunk_rows }
    }

    /// The client for order-api, with the deadline of reconciliation.
    ///
    /// # Errors
    /// When no HTTP client can be built.
    pub(crate) fn orders(order_api: &Url, token: &Secret) -> anyhow::Result<OrdersClient> {
        let options = PeerOptions { deadline: ANSWER_DEADLINE, ..PeerOptions::default() };
        Ok(OrdersClient(Peer::new("order-api", order_api.clone(), token, options)?))
    }

    /// Looks at the next piece of a feed.
    pub(crate) async fn scan(&self, feed: Feed, after: &str) -> Result<ScanPage, ExamineError> {
        match (feed.books(), feed) {
            (Some(books), _) => self.scan_ledger(books, after).await,
            (None, Feed::Orders) => self.scan_orders(Change::parse(after)).await,
            (None, _) => self.scan_orders_of(feed, after).await,
        }
    }

    /// Looks at what a finding within the books is about.
    pub(crate) async fn recheck(&self, feed: BooksFeed, subject: &str) -> Result<Found, StoreError> {
        let span = Span::of(subject);
        self.database
            .transaction(async |conn| {
                store::begin(conn).await?;
                store::check(conn, feed, &span).await
            })
            .await
    }

    async fn scan_ledger(&self, feed: BooksFeed, after: &str) -> Result<ScanPage, ExamineError> {
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
        Ok(ScanPage { rows: chunk.rows, found, candidates: Candidates::new(), next: next(chunk) })
    }

    /// Orders by their last change.
    async fn scan_orders(&self, after: Change) -> Result<ScanPage, ExamineError> {
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
        let candidates = candidates(self.compare(&ids, page.data, books));
        let next = last.filter(|_| page.has_more).map(|last| last.to_string());
        Ok(ScanPage { rows, found: Found::default(), candidates, next })
    }

    /// The orders that a piece of our own tables is about.
    async fn scan_orders_of(&self, feed: Feed, after: &str) -> Result<ScanPage, ExamineError> {
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
        let candidates = candidates(self.look_at(&ids).await?);
        Ok(ScanPage { rows: chunk.rows, found, candidates, next: next(chunk) })
    }

    /// Looks again at candidates until all is explained or `patience` is over. What never is to be is believed at the
    /// second look: money that moved and orders that were placed stay so, and by then the first look's other side has
    /// been read anew. What may be under way is believed once it is too old for that.
    pub(crate) async fn confirm(
        &self,
        candidates: Candidates,
        patience: Duration,
    ) -> Result<Confirmed, ExamineError> {
        let begun = Instant::now();
        let mut confirmed = Confirmed::default();
        let mut before = candidates;
        while !before.is_empty() {
            let mut waiting = Candidates::new();
            let ids: Vec<OrderId> = before.keys().copied().collect();
            let over = begun.elapsed() >= patience;
            for (id, discrepancy) in self.look_at(&ids).await? {
                let check = discrepancy.finding.check;
                let is_news = !before.get(&id).is_some_and(|checks| checks.contains(&check));
                match discrepancy.awaited_since {
                    None if is_news => {}
                    None => {
                        confirmed.findings.push(discrepancy.finding);
                        continue;
                    }
                    Some(_) if !over => {}
                    Some(_) if discrepancy.is_under_way(self.clock.now()) => {
                        confirmed.under_way += 1;
                        continue;
                    }
                    Some(_) => {
                        confirmed.findings.push(discrepancy.finding);
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
        Ok(confirmed)
    }

    /// The books first: an order that was placed or called off before its money is looked at is then seen so.
    async fn look_at(&self, ids: &[OrderId]) -> Result<Vec<(OrderId, Discrepancy)>, ExamineError> {
        let mut discrepancies = Vec::new();
        for ids in ids.chunks(self.chunk_rows.into()) {
            let books = self.books_of(ids).await?;
            let orders = self.orders.payments(ids).await?;
            discrepancies.extend(self.compare(ids, orders, books));
        }
        Ok(discrepancies)
    }

    async fn books_of(&self, ids: &[OrderId]) -> Result<BTreeMap<OrderId, BooksSide>, StoreError> {
        self.database.read(async |conn| books_of(conn, ids).await).await
    }

    fn compare(
        &self,
        ids: &[OrderId],
        orders: Vec<OrderPayment>,
        mut books: BTreeMap<OrderId, BooksSide>,
    ) -> Vec<(OrderId, Discrepancy)> {
        let mut orders: BTreeMap<OrderId, OrderSide> =
            orders.into_iter().map(|order| (order.id, side(order))).collect();
        let doubts_of = |id: &OrderId| {
            let (order, books) = (orders.remove(id), books.remove(id).unwrap_or_default());
            let discrepancies = compare(*id, order.as_ref(), &books);
            discrepancies.into_iter().map(|discrepancy| (*id, discrepancy)).collect::<Vec<_>>()
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

fn candidates(discrepancies: Vec<(OrderId, Discrepancy)>) -> Candidates {
    let mut candidates = Candidates::new();
    for (id, discrepancy) in discrepancies {
        candidates.entry(id).or_default().insert(discrepancy.finding.check);
    }
    candidates
}
