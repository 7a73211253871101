//! What needs the operator's attention, of all businesses: low balances and late cash.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Paise};
use postgres::{StoreError, statement};

use super::cash_totals::{LateRow, late};
use super::columns::parse;

/// A funded wallet below its threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LowBalance {
    pub(crate) business: BusinessId,
    pub(crate) balance: Paise,
    /// What the business owes.
    pub(crate) owed: Paise,
}

/// The cash of a business whose promised day is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateCash {
    pub(crate) business: BusinessId,
    pub(crate) orders: i64,
    pub(crate) amount: Paise,
    pub(crate) due_since: DateTime<Utc>,
}

/// Reads all wallets: there is one for each business. Reads only what the listed ones owe.
const LOW: &str = "
    SELECT business_id, balance_paise, (
        SELECT coalesce(-sum(amount_paise), 0)::bigint FROM entries
        WHERE entries.business_id = low.business_id AND account = 'business_receivable') AS owed_paise
    FROM (
        SELECT business_id, balance_paise FROM wallets
        WHERE funded_at IS NOT NULL AND balance_paise < coalesce(low_balance_threshold_paise, $1)
            AND business_id <> ALL ($3)
        ORDER BY balance_paise, business_id LIMIT $2) AS low
    ORDER BY balance_paise, business_id";

const LATE: &str =
    late!("business_id", " GROUP BY business_id ORDER BY min(due_since), business_id LIMIT $2");

#[derive(QueryableByName)]
struct LowRow {
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = BigInt)]
    balance_paise: i64,
    #[diesel(sql_type = BigInt)]
    owed_paise: i64,
}

/// The lowest balances below their threshold, or below the operator's, without those of `closed` businesses.
pub(crate) async fn low_balances(
    conn: &mut AsyncPgConnection,
    default_threshold: Paise,
    closed: &[BusinessId],
    limit: i64,
) -> Result<Vec<LowBalance>, StoreError> {
    let closed: Vec<String> = closed.iter().map(BusinessId::to_string).collect();
    let rows: Vec<LowRow> = statement(LOW)
        .bind::<BigInt, _>(default_threshold.get())
        .bind::<BigInt, _>(limit)
        .bind::<Array<Text>, _>(closed)
        .load(conn)
        .await?;
    let low = |row: LowRow| {
        let business = parse("wallets.business_id", &row.business_id)?;
        let (balance, owed) = (Paise::new(row.balance_paise), Paise::new(row.owed_paise));
        Ok(LowBalance { business, balance, owed })
    };
    rows.into_iter().map(low).collect()
}

/// The businesses with late cash, the longest wait first.
pub(crate) async fn late_cash(
    conn: &mut AsyncPgConnection,
    late_before: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<LateCash>, StoreError> {
    let rows: Vec<LateRow> =
        statement(LATE).bind::<Timestamptz, _>(late_before).bind::<BigInt, _>(limit).load(conn).await?;
    let late = |row: LateRow| {
        let business = parse("cash.business_id", &row.business_id)?;
        let amount = Paise::new(row.sum);
        Ok(LateCash { business, orders: row.orders, amount, due_since: row.due_since })
    };
    rows.into_iter().map(late).collect()
}
