//! What needs the operator's attention, of all businesses: low balances and late cash.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Paise};
use postgres::{StoreError, statement};

use super::cash_totals::is_outstanding;
use super::columns::parse;

/// A funded wallet below its threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LowBalance {
    pub(crate) business: BusinessId,
    pub(crate) balance: Paise,
}

/// The outstanding cash of a business that is due since long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateCash {
    pub(crate) business: BusinessId,
    pub(crate) orders: i64,
    pub(crate) amount: Paise,
    pub(crate) due_since: DateTime<Utc>,
}

/// Reads all wallets: there is one for each business.
const LOW: &str = "
    SELECT business_id, balance_paise FROM wallets
    WHERE funded_at IS NOT NULL AND balance_paise < coalesce(low_balance_threshold_paise, $1)
    ORDER BY balance_paise, business_id LIMIT $2";

const LATE: &str = concat!(
    "SELECT business_id, count(*) AS orders, min(due_since) AS due_since,
        coalesce(sum(owed - coalesce(settled_paise, 0)), 0)::bigint AS amount_paise
    FROM cash
    CROSS JOIN LATERAL (SELECT
        coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise) AS owed) AS held
    WHERE due_since <= $1 AND ",
    is_outstanding!(),
    " GROUP BY business_id ORDER BY min(due_since), business_id LIMIT $2"
);

#[derive(QueryableByName)]
struct LowRow {
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = BigInt)]
    balance_paise: i64,
}

#[derive(QueryableByName)]
struct LateRow {
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = BigInt)]
    orders: i64,
    #[diesel(sql_type = BigInt)]
    amount_paise: i64,
    #[diesel(sql_type = Timestamptz)]
    due_since: DateTime<Utc>,
}

/// The lowest balances below their threshold, or below the operator's.
pub(crate) async fn low_balances(
    conn: &mut AsyncPgConnection,
    default_threshold: Paise,
    limit: i64,
) -> Result<Vec<LowBalance>, StoreError> {
    let rows: Vec<LowRow> =
        statement(LOW).bind::<BigInt, _>(default_threshold.get()).bind::<BigInt, _>(limit).load(conn).await?;
    let low = |row: LowRow| {
        let business = parse("wallets.business_id", &row.business_id)?;
        Ok(LowBalance { business, balance: Paise::new(row.balance_paise) })
    };
    rows.into_iter().map(low).collect()
}

/// The businesses with outstanding cash that was due at this time already, the longest wait first.
pub(crate) async fn late_cash(
    conn: &mut AsyncPgConnection,
    due_until: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<LateCash>, StoreError> {
    let rows: Vec<LateRow> =
        statement(LATE).bind::<Timestamptz, _>(due_until).bind::<BigInt, _>(limit).load(conn).await?;
    let late = |row: LateRow| {
        let business = parse("cash.business_id", &row.business_id)?;
        let amount = Paise::new(row.amount_paise);
        Ok(LateCash { business, orders: row.orders, amount, due_since: row.due_since })
    };
    rows.into_iter().map(late).collect()
}
