//! The statement: a wallet's entries, newest first, each with the transfer behind it.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise, TransferId};
use postgres::StoreError;

use super::columns::parse;
use super::schema::{debits, entries, transfers};
use crate::domain::{Outcome, TransferKind, WalletEntry};

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct StatementLine {
    pub(crate) transfer: TransferId,
    pub(crate) kind: TransferKind,
    pub(crate) entry: WalletEntry,
    pub(crate) order: Option<OrderId>,
    pub(crate) reference: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
}

type Row = (String, String, i64, i64, i64, Option<String>, Option<String>, DateTime<Utc>);

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
            entries::created_at,
        )
    };
}

/// Up to `limit` lines before the one with sequence `before`, or the newest.
pub(crate) async fn page(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<StatementLine>, StoreError> {
    let rows: Vec<Row> = entries::table
        .inner_join(transfers::table)
        .filter(entries::business_id.eq(business.to_string()))
        .filter(transfers::business_id.eq(business.to_string()))
        .filter(entries::sequence.lt(before.unwrap_or(i64::MAX)))
        .order(entries::sequence.desc())
        .limit(limit)
        .select(row_columns!())
        .load(conn)
        .await?;
    rows.into_iter().map(line).collect()
}

/// The lines of one order, in the order they were written: its fee, and its refund. The database keeps both to one, and
/// finds them by the indexes that do so.
pub(crate) async fn of_order(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<Vec<StatementLine>, StoreError> {
    let fee: Option<Option<String>> = debits::table
        .filter(debits::order_id.eq(order.to_string()))
        .filter(debits::business_id.eq(business.to_string()))
        .filter(debits::outcome.eq(Outcome::Posted.as_str()))
        .select(debits::transfer_id)
        .first(conn)
        .await
        .optional()?;
    let refund: Option<String> = transfers::table
        .filter(transfers::order_id.eq(order.to_string()))
        .filter(transfers::business_id.eq(business.to_string()))
        .filter(transfers::kind.eq(TransferKind::Refund.as_str()))
        .select(transfers::id)
        .first(conn)
        .await
        .optional()?;
    let ids: Vec<String> = fee.flatten().into_iter().chain(refund).collect();
    let rows: Vec<Row> = entries::table
        .inner_join(transfers::table)
        .filter(entries::transfer_id.eq_any(ids))
        .filter(entries::business_id.eq(business.to_string()))
        .filter(entries::sequence.is_not_null())
        .order(entries::sequence)
        .select(row_columns!())
        .load(conn)
        .await?;
    rows.into_iter().map(line).collect()
}

/// Whether the wallet has an entry of this sequence.
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
    let (transfer, kind, amount, sequence, balance_after, order, reference, created_at) = row;
    Ok(StatementLine {
        transfer: parse("transfers.id", &transfer)?,
        kind: parse("transfers.kind", &kind)?,
        entry: WalletEntry { amount: Paise::new(amount), sequence, balance_after: Paise::new(balance_after) },
        order: order.map(|order| parse("transfers.order_id", &order)).transpose()?,
        reference,
        created_at,
    })
}
