//! What the books say of orders, to be compared with what order-api says of them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{CodStatus, OrderId, Paise};
use postgres::StoreError;

use super::Span;
use crate::domain::{BooksSide, CashSide, DebitSide};
use crate::store::columns::parse;
use crate::store::predicates::{is_refund, moves_an_orders_fee};
use crate::store::schema::{cash, debits, transfers};

/// The orders that the span's debits are of, as they are written: what is no id of an order is for the caller to judge.
pub(crate) async fn orders_with_debits(
    conn: &mut AsyncPgConnection,
    span: &Span,
) -> Result<Vec<String>, StoreError> {
    let orders = debits::table
        .filter(debits::order_id.gt(&span.after))
        .filter(debits::order_id.le(&span.until))
        .select(debits::order_id)
        .distinct()
        .order(debits::order_id);
    Ok(orders.load(conn).await?)
}

/// The orders whose fee the span's transfers took or gave back.
pub(crate) async fn orders_moving_money(
    conn: &mut AsyncPgConnection,
    span: &Span,
) -> Result<Vec<String>, StoreError> {
    let orders = transfers::table
        .filter(transfers::id.gt(&span.after))
        .filter(transfers::id.le(&span.until))
        .filter(moves_an_orders_fee())
        .select(transfers::order_id.assume_not_null())
        .distinct();
    Ok(orders.load(conn).await?)
}

/// The orders of the span's cash.
pub(crate) async fn orders_with_cash(
    conn: &mut AsyncPgConnection,
    span: &Span,
) -> Result<Vec<String>, StoreError> {
    let orders = cash::table
        .filter(cash::order_id.gt(&span.after))
        .filter(cash::order_id.le(&span.until))
        .select(cash::order_id)
        .order(cash::order_id);
    Ok(orders.load(conn).await?)
}

/// All debits of these orders, whether they were refunded, and their cash. Orders without any are left out.
pub(crate) async fn books_of(
    conn: &mut AsyncPgConnection,
    orders: &[OrderId],
) -> Result<BTreeMap<OrderId, BooksSide>, StoreError> {
    type Row = (String, String, i64, String, DateTime<Utc>);
    let ids: Vec<String> = orders.iter().map(OrderId::to_string).collect();
    let rows: Vec<Row> = debits::table
        .filter(debits::order_id.eq_any(&ids))
        .select((
            debits::order_id,
            debits::business_id,
            debits::amount_paise,
            debits::outcome,
            debits::created_at,
        ))
        .load(conn)
        .await?;
    let mut books: BTreeMap<OrderId, BooksSide> = BTreeMap::new();
    for (order, business, amount, outcome, decided_at) in rows {
        let debit = DebitSide {
            business: parse("debits.business_id", &business)?,
            amount: Paise::new(amount),
            outcome: parse("debits.outcome", &outcome)?,
            decided_at,
        };
        books.entry(parse("debits.order_id", &order)?).or_default().debits.push(debit);
    }
    let refunded: Vec<String> = transfers::table
        .filter(transfers::order_id.eq_any(&ids))
        .filter(is_refund())
        .select(transfers::order_id.assume_not_null())
        .load(conn)
        .await?;
    for order in refunded {
        books.entry(parse("transfers.order_id", &order)?).or_default().refunded = true;
    }
    for (order, side) in cash_of(conn, &ids).await? {
        books.entry(order).or_default().cash = Some(side);
    }
    Ok(books)
}

async fn cash_of(
    conn: &mut AsyncPgConnection,
    ids: &[String],
) -> Result<Vec<(OrderId, CashSide)>, StoreError> {
    type Row = (String, String, Option<i64>, Option<i64>, Option<i64>, Option<i64>);
    let rows: Vec<Row> = cash::table
        .filter(cash::order_id.eq_any(ids))
        .select((
            cash::order_id,
            cash::business_id,
            cash::expected_paise,
            cash::collected_paise,
            cash::handed_over_paise,
            cash::settled_paise,
        ))
        .load(conn)
        .await?;
    let sides = rows.into_iter().map(|(order, business, expected, collected, handed_over, settled)| {
        let status = match (collected, handed_over, settled) {
            (_, _, Some(_)) => CodStatus::Settled,
            (_, Some(_), None) => CodStatus::HandedOver,
            (Some(_), None, None) => CodStatus::Collected,
            (None, None, None) => CodStatus::Pending,
        };
        let business = parse("cash.business_id", &business)?;
        let side = CashSide { business, expected: expected.map(Paise::new), status };
        Ok((parse("cash.order_id", &order)?, side))
    });
    sides.collect()
}
