//! The money of orders in the ledger, for the comparison with order-api.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, CodStatus, OrderId, Paise};
use postgres::StoreError;

use super::IdRange;
use crate::domain::{CashSide, DebitSide, LedgerSide};
use crate::store::columns::parse;
use crate::store::predicates::{is_fee_or_refund, is_refund};
use crate::store::remittances;
use crate::store::schema::{cash, debits, transfers};

/// The order ids of debits, unparsed: an invalid id is a finding.
pub(crate) async fn orders_with_debits(
    conn: &mut AsyncPgConnection,
    range: &IdRange,
) -> Result<Vec<String>, StoreError> {
    let orders = debits::table
        .filter(debits::order_id.gt(&range.after))
        .filter(debits::order_id.le(&range.until))
        .select(debits::order_id)
        .distinct()
        .order(debits::order_id);
    Ok(orders.load(conn).await?)
}

/// The order ids of fees and refunds.
pub(crate) async fn orders_with_transfers(
    conn: &mut AsyncPgConnection,
    range: &IdRange,
) -> Result<Vec<String>, StoreError> {
    let orders = transfers::table
        .filter(transfers::id.gt(&range.after))
        .filter(transfers::id.le(&range.until))
        .filter(is_fee_or_refund())
        .select(transfers::order_id.assume_not_null())
        .distinct();
    Ok(orders.load(conn).await?)
}

/// The order ids of cash.
pub(crate) async fn orders_with_cash(
    conn: &mut AsyncPgConnection,
    range: &IdRange,
) -> Result<Vec<String>, StoreError> {
    let orders = cash::table
        .filter(cash::order_id.gt(&range.after))
        .filter(cash::order_id.le(&range.until))
        .select(cash::order_id)
        .order(cash::order_id);
    Ok(orders.load(conn).await?)
}

/// Debits, refunds and cash of these orders. Omits orders without any.
pub(crate) async fn ledger_of(
    conn: &mut AsyncPgConnection,
    orders: &[OrderId],
) -> Result<BTreeMap<OrderId, LedgerSide>, StoreError> {
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
    let mut ledger: BTreeMap<OrderId, LedgerSide> = BTreeMap::new();
    for (order, business, amount, outcome, decided_at) in rows {
        let debit = DebitSide {
            business: parse("debits.business_id", &business)?,
            amount: Paise::new(amount),
            outcome: parse("debits.outcome", &outcome)?,
            decided_at,
        };
        ledger.entry(parse("debits.order_id", &order)?).or_default().debits.push(debit);
    }
    let refunded: Vec<String> = transfers::table
        .filter(transfers::order_id.eq_any(&ids))
        .filter(is_refund())
        .select(transfers::order_id.assume_not_null())
        .load(conn)
        .await?;
    for order in refunded {
        ledger.entry(parse("transfers.order_id", &order)?).or_default().refunded = true;
    }
    let cash = cash_of(conn, &ids).await?;
    let businesses: Vec<BusinessId> = cash.iter().map(|(_, side)| side.business).collect();
    let remitted = remittances::of_cash(conn, &businesses, orders).await?;
    for (order, side) in cash {
        let remitted_at = remitted.get(&order).map(|remittance| remittance.created_at);
        ledger.entry(order).or_default().cash = Some(CashSide { remitted_at, ..side });
    }
    Ok(ledger)
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
        let side = CashSide { business, expected: expected.map(Paise::new), status, remitted_at: None };
        Ok((parse("cash.order_id", &order)?, side))
    });
    sides.collect()
}
