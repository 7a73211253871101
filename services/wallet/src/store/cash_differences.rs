//! Differences of orders' cash: who clears each, and how it ended. The trigger `cash_reopens_difference` opens a closed one when
//! a step makes it another difference.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise};
use postgres::{StoreError, statement};

use super::columns::{expect_rows, parse};
use super::schema::cash_differences;

/// Somebody of the staff closed the difference of the row of `cash`.
macro_rules! is_closed {
    () => {
        "EXISTS (SELECT FROM cash_differences AS closed
            WHERE closed.business_id = cash.business_id AND closed.order_id = cash.order_id
                AND closed.resolution IS NOT NULL)"
    };
}

/// Orders with an open difference, in two parts, each with an index: the amounts of the steps do not match, and nobody has
/// closed it. `CashLine::has_open_difference` is the same rule.
macro_rules! open_discrepant {
    () => {
        concat!("SELECT business_id, order_id FROM cash WHERE discrepant AND NOT ", is_closed!())
    };
}

/// As [`open_discrepant`]: the fleet reported another settlement than the remittance.
macro_rules! open_reported {
    () => {
        "SELECT business_id, order_id FROM cash_differences
        WHERE reported_paise IS NOT NULL AND resolution IS NULL"
    };
}

pub(super) use {is_closed, open_discrepant, open_reported};

const OPEN: &str = concat!(
    "(",
    open_discrepant!(),
    " AND order_id < $1 ORDER BY order_id DESC LIMIT $2) UNION (",
    open_reported!(),
    " AND order_id < $1 ORDER BY order_id DESC LIMIT $2) ORDER BY order_id DESC LIMIT $2"
);

const OPEN_COUNT: &str = concat!(
    "SELECT count(*) AS orders FROM ((",
    open_discrepant!(),
    " LIMIT $1) UNION (",
    open_reported!(),
    " LIMIT $1) LIMIT $1) AS open"
);

/// A closed difference stays closed.
const ERASE: &str = "
    UPDATE cash_differences
    SET owner = NULL, note = NULL, resolution = CASE WHEN resolution IS NOT NULL THEN $2 END
    WHERE business_id = $1 AND order_id IN (
        SELECT order_id FROM cash_differences
        WHERE business_id = $1 AND (owner IS NOT NULL OR note IS NOT NULL OR resolution <> $2)
        LIMIT $3)";

#[derive(QueryableByName)]
struct OpenCount {
    #[diesel(sql_type = BigInt)]
    orders: i64,
}

#[derive(QueryableByName)]
struct OpenRow {
    #[diesel(sql_type = Text)]
    order_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CashDifference {
    /// The fleet reported this settlement of an order that a remittance had settled with another amount.
    pub(crate) reported: Option<Paise>,
    pub(crate) owner: Option<String>,
    pub(crate) note: Option<String>,
    /// Why nothing is left to do.
    pub(crate) resolution: Option<String>,
}

/// Up to `limit` orders of all businesses with an open difference, newest first.
pub(super) async fn open(
    mut conn: &AsyncPgConnection,
    before: Option<OrderId>,
    limit: i64,
) -> Result<Vec<OrderId>, StoreError> {
    let before = before.unwrap_or(OrderId::MAX);
    let query = statement(OPEN).bind::<Text, _>(before.to_string()).bind::<BigInt, _>(limit);
    let rows: Vec<OpenRow> = query.load(&mut conn).await?;
    rows.iter().map(|row| parse("cash_differences.order_id", &row.order_id)).collect()
}

/// The orders of all businesses with an open difference, counted up to `max`.
pub(crate) async fn count_open(conn: &mut AsyncPgConnection, max: i64) -> Result<i64, StoreError> {
    let counted: OpenCount = statement(OPEN_COUNT).bind::<BigInt, _>(max).get_result(conn).await?;
    Ok(counted.orders)
}

/// Adds the settlement that the fleet reported. A later report replaces it. Either opens the difference again.
pub(crate) async fn report(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    amount: Paise,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let reported = (
        cash_differences::reported_paise.eq(amount.get()),
        cash_differences::resolution.eq(None::<&str>),
        cash_differences::updated_at.eq(now),
    );
    let changed = diesel::insert_into(cash_differences::table)
        .values((
            cash_differences::business_id.eq(business.to_string()),
            cash_differences::order_id.eq(order.to_string()),
            reported,
        ))
        .on_conflict((cash_differences::business_id, cash_differences::order_id))
        .do_update()
        .set(reported)
        .execute(conn)
        .await?;
    expect_rows("adding a reported settlement", 1, changed)
}

/// Sets who clears a difference, and how it ended.
pub(crate) async fn assign(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    difference: &CashDifference,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let values = (
        cash_differences::owner.eq(&difference.owner),
        cash_differences::note.eq(&difference.note),
        cash_differences::resolution.eq(&difference.resolution),
        cash_differences::updated_at.eq(now),
    );
    let changed = diesel::insert_into(cash_differences::table)
        .values((
            cash_differences::business_id.eq(business.to_string()),
            cash_differences::order_id.eq(order.to_string()),
            values,
        ))
        .on_conflict((cash_differences::business_id, cash_differences::order_id))
        .do_update()
        .set(values)
        .execute(conn)
        .await?;
    expect_rows("assigning a difference", 1, changed)
}

/// Erases who clears at most `max` differences, and what they wrote. Returns the number of these differences.
pub(crate) async fn erase(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    closed: &str,
    max: u16,
) -> Result<usize, StoreError> {
    let query = statement(ERASE).bind::<Text, _>(business.to_string()).bind::<Text, _>(closed);
    Ok(query.bind::<BigInt, _>(i64::from(max)).execute(conn).await?)
}

/// The differences of these orders of these businesses. Omits orders without one.
pub(crate) async fn of_cash(
    conn: &mut AsyncPgConnection,
    businesses: &[BusinessId],
    orders: &[OrderId],
) -> Result<BTreeMap<OrderId, CashDifference>, StoreError> {
    type Row = (String, Option<i64>, Option<String>, Option<String>, Option<String>);
    let rows: Vec<Row> = cash_differences::table
        .filter(cash_differences::business_id.eq_any(businesses.iter().map(BusinessId::to_string)))
        .filter(cash_differences::order_id.eq_any(orders.iter().map(OrderId::to_string)))
        .select((
            cash_differences::order_id,
            cash_differences::reported_paise,
            cash_differences::owner,
            cash_differences::note,
            cash_differences::resolution,
        ))
        .load(conn)
        .await?;
    let of = |(order, reported, owner, note, resolution): Row| {
        let reported = reported.map(Paise::new);
        Ok((
            parse("cash_differences.order_id", &order)?,
            CashDifference { reported, owner, note, resolution },
        ))
    };
    rows.into_iter().map(of).collect()
}
