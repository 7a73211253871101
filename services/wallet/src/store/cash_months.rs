//! The cash of a business by the month of its delivery.

use chrono::{DateTime, NaiveDate, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise};
use postgres::{StoreError, statement};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CashMonth {
    /// Its first day.
    pub(crate) month: NaiveDate,
    pub(crate) orders: i64,
    /// Collected. Before the collection is reported: to collect.
    pub(crate) owed: Paise,
    pub(crate) settled: Paise,
}

#[derive(QueryableByName)]
struct MonthRow {
    #[diesel(sql_type = Date)]
    month: NaiveDate,
    #[diesel(sql_type = BigInt)]
    orders: i64,
    #[diesel(sql_type = BigInt)]
    owed_paise: i64,
    #[diesel(sql_type = BigInt)]
    settled_paise: i64,
}

/// Months of India. `$2` bounds the range of the primary key that is read.
const MONTHS: &str = "
    SELECT date_trunc('month', due_since AT TIME ZONE 'Asia/Kolkata')::date AS month, count(*) AS orders,
        coalesce(sum(coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise)), 0)::bigint AS owed_paise,
        coalesce(sum(settled_paise), 0)::bigint AS settled_paise
    FROM cash
    WHERE business_id = $1 AND order_id >= $2 AND due_since >= $3
    GROUP BY 1 ORDER BY 1 DESC";

/// The months since a time, newest first, of orders that were created since `created_since`.
pub(crate) async fn since(
    mut conn: &AsyncPgConnection,
    business: BusinessId,
    since: DateTime<Utc>,
    created_since: DateTime<Utc>,
) -> Result<Vec<CashMonth>, StoreError> {
    let rows: Vec<MonthRow> = statement(MONTHS)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(OrderId::first_of(created_since).to_string())
        .bind::<Timestamptz, _>(since)
        .load(&mut conn)
        .await?;
    let month = |row: MonthRow| CashMonth {
        month: row.month,
        orders: row.orders,
        owed: Paise::new(row.owed_paise),
        settled: Paise::new(row.settled_paise),
    };
    Ok(rows.into_iter().map(month).collect())
}
