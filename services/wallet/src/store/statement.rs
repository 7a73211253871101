//! The statement: a wallet's entries, newest first, each with the transfer behind it.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise, TransferId};
use postgres::StoreError;

use super::columns::parse;
use super::schema::{entries, transfers};
use crate::domain::{TransferKind, WalletEntry};

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
        .select((
            transfers::id,
            transfers::kind,
            entries::amount_paise,
            entries::sequence.assume_not_null(),
            entries::balance_after_paise.assume_not_null(),
            transfers::order_id,
            transfers::reference,
            entries::created_at,
        ))
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
