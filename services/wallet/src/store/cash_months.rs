//! The cash of a business by the month of its delivery. The sums are stored in parts. Triggers mark the parts whose cash changes;
//! their sums are read from the cash itself until they are stored again.

use chrono::{DateTime, NaiveDate, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Date, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise};
use postgres::{StoreError, statement, try_lock};

/// As in the trigger: the length of a part's beginning of ids.
const PART: usize = 9;
/// The parts of a transaction. Of the largest businesses, each has some thousand orders.
const PARTS_MAX: i64 = 10;
/// "cash sum" in ASCII: the advisory lock of who stores sums.
const LOCK: i64 = 0x63_61_73_68_20_73_75_6d;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CashMonth {
    /// Its first day.
    pub(crate) month: NaiveDate,
    pub(crate) orders: i64,
    /// What settled orders with a closed difference lack: nobody owes it any more.
    pub(crate) closed: Paise,
    /// Collected. Before the collection is reported: to collect.
    pub(crate) owed: Paise,
    pub(crate) settled: Paise,
    /// Of the owed cash: nobody reported its collection.
    pub(crate) unreported: Paise,
    /// Of the settled cash: orders and amount that no remittance paid out.
    pub(crate) without_transfer: (i64, Paise),
}

#[derive(QueryableByName)]
struct MonthRow {
    #[diesel(sql_type = Date)]
    month: NaiveDate,
    #[diesel(sql_type = BigInt)]
    orders: i64,
    #[diesel(sql_type = BigInt)]
    closed_paise: i64,
    #[diesel(sql_type = BigInt)]
    owed_paise: i64,
    #[diesel(sql_type = BigInt)]
    settled_paise: i64,
    #[diesel(sql_type = BigInt)]
    unreported_paise: i64,
    #[diesel(sql_type = BigInt)]
    without_transfer_orders: i64,
    #[diesel(sql_type = BigInt)]
    without_transfer_paise: i64,
}

/// The sums of one part, read from its cash, in the order of the columns of `cash_sums`.
macro_rules! sums_of_part {
    ($business:literal, $part:literal) => {
        concat!(
            "SELECT date_trunc('month', due_since AT TIME ZONE 'Asia/Kolkata')::date AS month, count(*) AS orders,
                coalesce(sum(owed - settled_paise) FILTER (WHERE closed.order_id IS NOT NULL), 0)::bigint AS closed_paise,
                coalesce(sum(owed), 0)::bigint AS owed_paise,
                coalesce(sum(settled_paise), 0)::bigint AS settled_paise,
                coalesce(sum(expected_paise) FILTER (WHERE coalesce(collected_at, handed_over_at, settled_at) IS NULL), 0)::bigint
                    AS unreported_paise,
                count(*) FILTER (WHERE settled_at IS NOT NULL AND paid.order_id IS NULL) AS without_transfer_orders,
                coalesce(sum(settled_paise) FILTER (WHERE paid.order_id IS NULL), 0)::bigint AS without_transfer_paise
            FROM cash
            CROSS JOIN LATERAL (
                SELECT coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise) AS owed) AS amounts
            LEFT JOIN remittance_orders AS paid ON paid.business_id = cash.business_id AND paid.order_id = cash.order_id
            LEFT JOIN cash_differences AS closed ON closed.business_id = cash.business_id
                AND closed.order_id = cash.order_id AND closed.resolution IS NOT NULL
            WHERE cash.business_id = ",
            $business,
            " AND cash.order_id >= ",
            $part,
            " AND cash.order_id < ",
            $part,
            " || '~' GROUP BY 1"
        )
    };
}

const MONTHS: &str = concat!(
    "WITH outdated AS MATERIALIZED (
        SELECT DISTINCT part FROM cash_sums_outdated WHERE business_id = $1 AND part >= $2),
    sums AS (
        SELECT month, orders, closed_paise, owed_paise, settled_paise, unreported_paise, without_transfer_orders,
            without_transfer_paise
        FROM cash_sums WHERE business_id = $1 AND part >= $2 AND part NOT IN (SELECT part FROM outdated)
        UNION ALL
        SELECT of_part.* FROM outdated CROSS JOIN LATERAL (",
    sums_of_part!("$1", "outdated.part"),
    ") AS of_part)
    SELECT month, sum(orders)::bigint AS orders, sum(closed_paise)::bigint AS closed_paise,
        sum(owed_paise)::bigint AS owed_paise, sum(settled_paise)::bigint AS settled_paise,
        sum(unreported_paise)::bigint AS unreported_paise,
        sum(without_transfer_orders)::bigint AS without_transfer_orders,
        sum(without_transfer_paise)::bigint AS without_transfer_paise
    FROM sums WHERE month >= $3 GROUP BY month ORDER BY month DESC"
);

/// The months from `first` on, newest first, of orders that were created since `created_since` or some hours before.
pub(crate) async fn since(
    mut conn: &AsyncPgConnection,
    business: BusinessId,
    first: NaiveDate,
    created_since: DateTime<Utc>,
) -> Result<Vec<CashMonth>, StoreError> {
    let mut part = OrderId::first_of(created_since).to_string();
    part.truncate(PART);
    let rows: Vec<MonthRow> = statement(MONTHS)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(part)
        .bind::<Date, _>(first)
        .load(&mut conn)
        .await?;
    let month = |row: MonthRow| CashMonth {
        month: row.month,
        orders: row.orders,
        closed: Paise::new(row.closed_paise),
        owed: Paise::new(row.owed_paise),
        settled: Paise::new(row.settled_paise),
        unreported: Paise::new(row.unreported_paise),
        without_transfer: (row.without_transfer_orders, Paise::new(row.without_transfer_paise)),
    };
    Ok(rows.into_iter().map(month).collect())
}

/// A part of a business's cash.
#[derive(Clone, Debug, Default, QueryableByName)]
pub(crate) struct Part {
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Text)]
    part: String,
}

const TAKE_MARKS: &str = "
    WITH next AS MATERIALIZED (
        SELECT DISTINCT business_id, part FROM cash_sums_outdated WHERE (business_id, part) > ($1, $2)
        ORDER BY business_id, part LIMIT $3),
    taken AS (
        DELETE FROM cash_sums_outdated AS mark USING next
        WHERE mark.business_id = next.business_id AND mark.part = next.part)
    SELECT business_id, part FROM next ORDER BY business_id, part";
const REMOVE: &str = "
    DELETE FROM cash_sums USING unnest($1, $2) AS outdated (business_id, part)
    WHERE cash_sums.business_id = outdated.business_id AND cash_sums.part = outdated.part";
const STORE: &str = concat!(
    "INSERT INTO cash_sums
    SELECT outdated.business_id, outdated.part, of_part.*
    FROM unnest($1, $2) AS outdated (business_id, part) CROSS JOIN LATERAL (",
    sums_of_part!("outdated.business_id", "outdated.part"),
    ") AS of_part"
);

/// Stores the sums of the next outdated parts of all businesses after `after`, and returns the last of them. `None` at the end, or
/// while another instance stores sums.
///
/// Needs a transaction. The marks are taken before the cash is read: what is written in between is marked again.
pub(crate) async fn store_next(
    conn: &mut AsyncPgConnection,
    after: &Part,
) -> Result<Option<Part>, StoreError> {
    if !try_lock(conn, LOCK).await? {
        return Ok(None);
    }
    let taken: Vec<Part> = statement(TAKE_MARKS)
        .bind::<Text, _>(after.business_id.clone())
        .bind::<Text, _>(after.part.clone())
        .bind::<BigInt, _>(PARTS_MAX)
        .load(conn)
        .await?;
    let Some(last) = taken.last().cloned() else { return Ok(None) };
    let (businesses, parts): (Vec<String>, Vec<String>) =
        taken.into_iter().map(|part| (part.business_id, part.part)).unzip();
    for sql in [REMOVE, STORE] {
        statement(sql)
            .bind::<Array<Text>, _>(&businesses)
            .bind::<Array<Text>, _>(&parts)
            .execute(conn)
            .await?;
    }
    Ok(Some(last))
}
