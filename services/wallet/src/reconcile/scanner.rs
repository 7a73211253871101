//! Scans one page of a feed, and checks discrepancies with order-api again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{Clock, OrderId};
use internal_api::CallError;
use internal_api::orders::{OrderPayment, OrdersClient, PaymentsQuery};
use postgres::{Database, StoreError};
use tokio::time::Instant;

use super::feed::{ChangeCursor, Feed};
use crate::domain::{Check, Discrepancy, Finding, LedgerSide, OrderSide, compare};
use crate::store::reconciliation::{
    self as store, CheckResult, Chunk, IdRange, LedgerTable, ledger_of, orders_with_cash, orders_with_debits,
    orders_with_transfers,
};

const RECHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Why a check is incomplete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScanError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Orders(#[from] CallError),
}

/// The result of scanning one page of a feed.
#[derive(Debug)]
pub(super) struct ScanPage {
    pub(super) rows: i64,
    pub(super) result: CheckResult,
    pub(super) candidates: Candidates,
    /// The cursor of the next page; `None` at the end of the feed.
    pub(super) next: Option<String>,
}

/// Orders with discrepancies that must be checked again.
pub(super) type Candidates = BTreeMap<OrderId, BTreeSet<Check>>;

/// The result of checking candidates again.
#[derive(Debug, Default)]
pub(super) struct Recheck {
    pub(super) findings: Vec<Finding>,
    /// Too recent to be findings.
    pub(super) under_way: i64,
}

enum Decision {
    CheckAgain,
    Finding,
    UnderWay,
}

fn decide(discrepancy: &Discrepancy, is_new: bool, is_time_up: bool, now: DateTime<Utc>) -> Decision {
    match discrepancy.awaited_since {
        None if is_new => Decision::CheckAgain,
        Some(_) if !is_time_up => Decision::CheckAgain,
        Some(_) if discrepancy.is_under_way(now) => Decision::UnderWay,
        None | Some(_) => Decision::Finding,
    }
}

/// Reads only.
pub(super) struct Scanner {
    pub(super) database: Database,
    pub(super) orders: OrdersClient,
    pub(super) clock: Clock,
    /// Rows per transaction, and orders per call of order-api.
    pub(super) chunk_rows: u16,
}

impl Scanner {
    /// Scans the page after a cursor.
    pub(super) async fn scan(&self, feed: Feed, after: &str) -> Result<ScanPage, ScanError> {
        match (feed.table(), feed) {
            (Some(table), _) => self.scan_ledger(table, after).await,
            (None, Feed::Orders) => self.scan_orders(ChangeCursor::parse(after)).await,
            (None, _) => self.scan_orders_of(feed, after).await,
        }
    }

    /// Checks the subject of a finding within the ledger again.
    pub(super) async fn check_again(
        &self,
        table: LedgerTable,
        subject: &str,
    ) -> Result<CheckResult, StoreError> {
        let range = IdRange::of(subject);
        self.database
            .transaction(async |conn| {
                store::prepare(conn).await?;
                store::check(conn, table, &range).await
            })
            .await
    }

    async fn scan_ledger(&self, table: LedgerTable, after: &str) -> Result<ScanPage, ScanError> {
        let limit = i64::from(self.chunk_rows);
        let (chunk, result) = self
            .database
            .transaction(async |conn| {
                store::prepare(conn).await?;
                let chunk = store::next_chunk(conn, table, after, limit).await?;
                let result = store::check(conn, table, &chunk.range).await?;
                Ok::<_, StoreError>((chunk, result))
            })
            .await?;
        Ok(ScanPage { rows: chunk.rows, result, candidates: Candidates::new(), next: next(chunk) })
    }

    /// Scans orders by their last change.
    async fn scan_orders(&self, after: ChangeCursor) -> Result<ScanPage, ScanError> {
        let query = PaymentsQuery {
            changed_after: after.at,
            starting_after: after.order,
            limit: self.chunk_rows.into(),
        };
        let page = self.orders.payments_changed(&query).await?;
        let ids: Vec<OrderId> = page.data.iter().map(|order| order.id).collect();
        let rows = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        let last = page.data.last().map(|order| ChangeCursor { at: order.changed_at, order: Some(order.id) });
        let ledger = self.ledger_of(&ids).await?;
        let candidates = candidates(compare_all(&ids, page.data, ledger));
        let next = last.filter(|_| page.has_more).map(|last| last.to_string());
        Ok(ScanPage { rows, result: CheckResult::default(), candidates, next })
    }

    /// Scans the orders that a range of a ledger table refers to.
    async fn scan_orders_of(&self, feed: Feed, after: &str) -> Result<ScanPage, ScanError> {
        let limit = i64::from(self.chunk_rows);
        let table = match feed {
            Feed::OrderTransfers => LedgerTable::Transfers,
            Feed::OrderCash => LedgerTable::Cash,
            _ => LedgerTable::Debits,
        };
        let (chunk, orders) = self
            .database
            .transaction(async |conn| {
                store::prepare(conn).await?;
                let chunk = store::next_chunk(conn, table, after, limit).await?;
                let orders = match table {
                    LedgerTable::Transfers => orders_with_transfers(conn, &chunk.range).await?,
                    LedgerTable::Cash => orders_with_cash(conn, &chunk.range).await?,
                    _ => orders_with_debits(conn, &chunk.range).await?,
                };
                Ok::<_, StoreError>((chunk, orders))
            })
            .await?;
        let mut result = CheckResult::default();
        let mut ids = Vec::with_capacity(orders.len());
        for text in orders {
            match text.parse() {
                Ok(id) => ids.push(id),
                Err(_) => result.findings.push(Finding {
                    check: if table == LedgerTable::Cash {
                        Check::CashDiffersFromOrder
                    } else {
                        Check::DebitWithoutOrder
                    },
                    subject: text,
                    detail: "this is not the id of an order".into(),
                }),
            }
        }
        result.total = i64::try_from(result.findings.len()).unwrap_or(i64::MAX);
        let candidates = candidates(self.compare_orders(&ids).await?);
        Ok(ScanPage { rows: chunk.rows, result, candidates, next: next(chunk) })
    }

    /// Checks candidates again until each is resolved or decided, for at most about `patience`. A discrepancy that no step
    /// under way explains is a finding when it is seen twice: by then both sides were read again. Other discrepancies get
    /// time to resolve.
    pub(super) async fn recheck(
        &self,
        candidates: Candidates,
        patience: Duration,
    ) -> Result<Recheck, ScanError> {
        let started = Instant::now();
        let mut recheck = Recheck::default();
        let mut known = candidates;
        while !known.is_empty() {
            let mut open = Candidates::new();
            let ids: Vec<OrderId> = known.keys().copied().collect();
            let is_time_up = started.elapsed() >= patience;
            for (id, discrepancy) in self.compare_orders(&ids).await? {
                let check = discrepancy.finding.check;
                let is_new = !known.get(&id).is_some_and(|checks| checks.contains(&check));
                match decide(&discrepancy, is_new, is_time_up, self.clock.now()) {
                    Decision::CheckAgain => {
                        open.entry(id).or_default().insert(check);
                    }
                    Decision::Finding => recheck.findings.push(discrepancy.finding),
                    Decision::UnderWay => recheck.under_way += 1,
                }
            }
            known = open;
            if !known.is_empty() {
                tokio::time::sleep(RECHECK_INTERVAL).await;
            }
        }
        Ok(recheck)
    }

    /// Reads the ledger before the orders, because orders change before their money does.
    async fn compare_orders(&self, ids: &[OrderId]) -> Result<Vec<(OrderId, Discrepancy)>, ScanError> {
        let mut discrepancies = Vec::new();
        for ids in ids.chunks(self.chunk_rows.into()) {
            let ledger = self.ledger_of(ids).await?;
            let orders = self.orders.payments(ids).await?;
            discrepancies.extend(compare_all(ids, orders, ledger));
        }
        Ok(discrepancies)
    }

    async fn ledger_of(&self, ids: &[OrderId]) -> Result<BTreeMap<OrderId, LedgerSide>, StoreError> {
        self.database.read(async |conn| ledger_of(conn, ids).await).await
    }
}

fn compare_all(
    ids: &[OrderId],
    orders: Vec<OrderPayment>,
    mut ledger: BTreeMap<OrderId, LedgerSide>,
) -> Vec<(OrderId, Discrepancy)> {
    let mut orders: BTreeMap<OrderId, OrderSide> =
        orders.into_iter().map(|order| (order.id, order_side(order))).collect();
    let discrepancies_of = |id: &OrderId| {
        let (order, ledger) = (orders.remove(id), ledger.remove(id).unwrap_or_default());
        let discrepancies = compare(*id, order.as_ref(), &ledger);
        discrepancies.into_iter().map(|discrepancy| (*id, discrepancy)).collect::<Vec<_>>()
    };
    ids.iter().flat_map(discrepancies_of).collect()
}

fn next(chunk: Chunk) -> Option<String> {
    (!chunk.is_last).then_some(chunk.range.until)
}

fn order_side(order: OrderPayment) -> OrderSide {
    OrderSide {
        business: order.business_id,
        mode: order.mode,
        placed: order.placed,
        fee: order.delivery_fee_paise,
        cash: order.cod_amount_paise,
        cash_status: order.cod_status,
        delivered: order.delivered,
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
