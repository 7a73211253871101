//! The statement: the entries of a wallet, newest first, each with its transfer.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise, TransferId};
use postgres::StoreError;

use super::columns::parse;
use super::predicates::{is_not_fee, is_posted, is_refund};
use super::schema::{debits, entries, transfers};
use crate::domain::{TransferKind, WalletEntry};

#[derive(Clone, Debug)]
pub(crate) struct StatementLine {
    pub(crate) transfer: TransferId,
    pub(crate) kind: TransferKind,
    pub(crate) entry: WalletEntry,
    pub(crate) order: Option<OrderId>,
    pub(crate) reference: Option<String>,
    pub(crate) reverses: Option<TransferId>,
    pub(crate) created_at: DateTime<Utc>,
}

type Row = (String, String, i64, i64, i64, Option<String>, Option<String>, Option<String>, DateTime<Utc>);

/// The columns of a [`Row`].
macro_rules! row_columns {
    () => {
        (
            transfers::id,
            transfers::kind,
            entries::amount_paise,
            entries::sequence.assume_not_null(),
            entries::balance_after_paise.assume_not_null(),
            transfers::order_id,
            transfers::reference,
            transfers::reverses,
            entries::created_at,
        )
    };
}

/// The default matches all lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineFilter {
    /// Lines before this sequence.
    pub(crate) before: Option<i64>,
    pub(crate) kind: Option<TransferKind>,
    /// Inclusive.
    pub(crate) since: Option<DateTime<Utc>>,
    /// Exclusive.
    pub(crate) until: Option<DateTime<Utc>>,
}

impl LineFilter {
    pub(crate) fn matches(&self, line: &StatementLine) -> bool {
        self.before.is_none_or(|before| line.entry.sequence < before)
            && self.kind.is_none_or(|kind| line.kind == kind)
            && self.since.is_none_or(|since| line.created_at >= since)
            && self.until.is_none_or(|until| line.created_at < until)
    }
}

/// Up to `limit` matching lines, newest first.
pub(crate) async fn page(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &LineFilter,
    limit: i64,
) -> Result<Vec<StatementLine>, StoreError> {
    let mut query =
        entries::table
            .inner_join(transfers::table.on(
                transfers::id.eq(entries::transfer_id).and(transfers::business_id.eq(entries::business_id)),
            ))
            .filter(entries::business_id.eq(business.to_string()))
            .filter(transfers::business_id.eq(business.to_string()))
            .filter(entries::sequence.lt(filter.before.unwrap_or(i64::MAX)))
            .order(entries::sequence.desc())
            .limit(limit)
            .select(row_columns!())
            .into_boxed();
    if let Some(kind) = filter.kind {
        query = query.filter(transfers::kind.eq(kind.as_str()));
        if kind != TransferKind::DeliveryFee {
            query = query.filter(is_not_fee());
        }
    }
    if let Some(since) = filter.since {
        query = query.filter(entries::created_at.ge(since));
    }
    if let Some(until) = filter.until {
        query = query.filter(entries::created_at.lt(until));
    }
    let rows: Vec<Row> = query.load(conn).await?;
    rows.into_iter().map(line).collect()
}

/// The fee and the refund of one order, oldest first. Unique indexes limit both to one, and find them.
pub(crate) async fn of_order(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<Vec<StatementLine>, StoreError> {
    let fee: Option<Option<String>> = debits::table
        .filter(debits::order_id.eq(order.to_string()))
        .filter(debits::business_id.eq(business.to_string()))
        .filter(is_posted())
        .select(debits::transfer_id)
        .first(conn)
        .await
        .optional()?;
    let refund: Option<String> = transfers::table
        .filter(transfers::order_id.eq(order.to_string()))
        .filter(transfers::business_id.eq(business.to_string()))
        .filter(is_refund())
        .select(transfers::id)
        .first(conn)
        .await
        .optional()?;
    let ids: Vec<String> = fee.flatten().into_iter().chain(refund).collect();
    let rows: Vec<Row> =
        entries::table
            .inner_join(transfers::table.on(
                transfers::id.eq(entries::transfer_id).and(transfers::business_id.eq(entries::business_id)),
            ))
            .filter(entries::transfer_id.eq_any(ids))
            .filter(entries::business_id.eq(business.to_string()))
            .filter(entries::sequence.is_not_null())
            .order(entries::sequence)
            .select(row_columns!())
            .load(conn)
            .await?;
    rows.into_iter().map(line).collect()
}

pub(crate) async fn exists(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    sequence: i64,
) -> Result<bool, StoreError> {
    let found = entries::table
        .filter(entries::business_id.eq(business.to_string()))
        .filter(entries::sequence.eq(sequence));
    Ok(diesel::select(diesel::dsl::exists(found)).get_result(conn).await?)
}

fn line(row: Row) -> Result<StatementLine, StoreError> {
    let (transfer, kind, amount, sequence, balance_after, order, reference, reverses, created_at) = row;
    Ok(StatementLine {
        transfer: parse("transfers.id", &transfer)?,
        kind: parse("transfers.kind", &kind)?,
        entry: WalletEntry { amount: Paise::new(amount), sequence, balance_after: Paise::new(balance_after) },
        order: order.map(|order| parse("transfers.order_id", &order)).transpose()?,
        reference,
        reverses: reverses.map(|id| parse("transfers.reverses", &id)).transpose()?,
        created_at,
    })
}
