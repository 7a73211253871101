//! Differences of orders' cash: who clears each, and how it ended.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise};
use postgres::StoreError;

use super::columns::{expect_rows, parse};
use super::schema::cash_differences;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CashDifference {
    /// The fleet reported this settlement of an order that a remittance had settled with another amount.
    pub(crate) reported: Option<Paise>,
    pub(crate) owner: Option<String>,
    pub(crate) note: Option<String>,
    /// Why nothing is left to do.
    pub(crate) resolution: Option<String>,
}

/// Adds the settlement that the fleet reported. A later report replaces it.
pub(crate) async fn report(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    amount: Paise,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let reported = (cash_differences::reported_paise.eq(amount.get()), cash_differences::updated_at.eq(now));
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
