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

/// Months of India. `$2` bounds the range of the primary key that is read.
const MONTHS: &str = "
    SELECT date_trunc('month', due_since AT TIME ZONE 'Asia/Kolkata')::date AS month, count(*) AS orders,
        coalesce(sum(coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise) - settled_paise)
            FILTER (WHERE EXISTS (SELECT FROM cash_differences AS closed WHERE closed.business_id = cash.business_id
                AND closed.order_id = cash.order_id AND closed.resolution IS NOT NULL)), 0)::bigint AS closed_paise,
        coalesce(sum(coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise)), 0)::bigint AS owed_paise,
        coalesce(sum(settled_paise), 0)::bigint AS settled_paise,
        coalesce(sum(expected_paise) FILTER (WHERE coalesce(collected_at, handed_over_at, settled_at) IS NULL), 0)::bigint
            AS unreported_paise,
        count(*) FILTER (WHERE settled_at IS NOT NULL AND paid.order_id IS NULL) AS without_transfer_orders,
        coalesce(sum(settled_paise) FILTER (WHERE paid.order_id IS NULL), 0)::bigint AS without_transfer_paise
    FROM cash
    LEFT JOIN remittance_orders AS paid ON paid.business_id = cash.business_id AND paid.order_id = cash.order_id
    WHERE cash.business_id = $1 AND cash.order_id >= $2 AND due_since >= $3
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
        closed: Paise::new(row.closed_paise),
        owed: Paise::new(row.owed_paise),
        settled: Paise::new(row.settled_paise),
        unreported: Paise::new(row.unreported_paise),
        without_transfer: (row.without_transfer_orders, Paise::new(row.without_transfer_paise)),
    };
    Ok(rows.into_iter().map(month).collect())
}
