//! Debits: one row per order and attempt, inserted with its final outcome.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise, TransferId};
use postgres::StoreError;

use super::columns::parse;
use super::predicates::is_posted;
use super::schema::debits;
use crate::domain::{Debit, DebitId};

/// The constraints that fail when two transactions decide the same order at the same time.
pub(crate) const CONFLICTS: [&str; 2] = ["debits_pkey", "debits_one_posted_per_order"];

#[derive(Queryable, Selectable)]
#[diesel(table_name = debits, check_for_backend(diesel::pg::Pg))]
struct DebitRow {
    order_id: String,
    attempt: i32,
    business_id: String,
    amount_paise: i64,
    outcome: String,
    balance_after_paise: i64,
}

impl DebitRow {
    fn into_debit(self) -> Result<Debit, StoreError> {
        Ok(Debit {
            id: DebitId { order: parse("debits.order_id", &self.order_id)?, attempt: self.attempt },
            business: parse("debits.business_id", &self.business_id)?,
            amount: Paise::new(self.amount_paise),
            outcome: parse("debits.outcome", &self.outcome)?,
            balance_after: Paise::new(self.balance_after_paise),
        })
    }
}

/// All debits of these orders, for any attempt and business: an order pays once, whichever business a request names.
pub(crate) async fn of_orders(
    mut conn: &AsyncPgConnection,
    orders: &[OrderId],
) -> Result<Vec<Debit>, StoreError> {
    let ids: Vec<String> = orders.iter().map(OrderId::to_string).collect();
    let rows = debits::table
        .filter(debits::order_id.eq_any(ids))
        .select(DebitRow::as_select())
        .load(&mut conn)
        .await?;
    rows.into_iter().map(DebitRow::into_debit).collect()
}

/// The transfer and the amount of this order's posted debit.
pub(crate) async fn posted(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<Option<(TransferId, Paise)>, StoreError> {
    let row = debits::table
        .filter(debits::order_id.eq(order.to_string()))
        .filter(debits::business_id.eq(business.to_string()))
        .filter(is_posted())
        .select((debits::transfer_id.assume_not_null(), debits::amount_paise))
        .first::<(String, i64)>(conn)
        .await
        .optional()?;
    row.map(|(id, amount)| Ok((parse("debits.transfer_id", &id)?, Paise::new(amount)))).transpose()
}
