//! Remittances and their orders. Both are append-only.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise, RemittanceId};
use postgres::{StoreError, statement};

use super::columns::{expect_rows, parse};
use super::schema::{cash, remittance_orders, remittances};
use crate::domain::{Remittance, RemittedOrder};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = remittances, check_for_backend(diesel::pg::Pg))]
struct RemittanceRow {
    id: String,
    business_id: String,
    bank_reference: String,
    paid_on: NaiveDate,
    order_count: i64,
    total_paise: i64,
    created_by: String,
    created_at: DateTime<Utc>,
}

impl RemittanceRow {
    fn into_remittance(self) -> Result<Remittance, StoreError> {
        Ok(Remittance {
            id: parse("remittances.id", &self.id)?,
            business: parse("remittances.business_id", &self.business_id)?,
            bank_reference: self.bank_reference,
            paid_on: self.paid_on,
            order_count: self.order_count,
            total: Paise::new(self.total_paise),
            created_by: self.created_by,
            created_at: self.created_at,
        })
    }
}

/// Adds a remittance. False if the business has one with this bank reference, in any case of its letters: waits for a concurrent
/// one.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    remittance: &Remittance,
) -> Result<bool, StoreError> {
    let row = RemittanceRow {
        id: remittance.id.to_string(),
        business_id: remittance.business.to_string(),
        bank_reference: remittance.bank_reference.clone(),
        paid_on: remittance.paid_on,
        order_count: remittance.order_count,
        total_paise: remittance.total.get(),
        created_by: remittance.created_by.clone(),
        created_at: remittance.created_at,
    };
    let added =
        diesel::insert_into(remittances::table).values(row).on_conflict_do_nothing().execute(conn).await?;
    Ok(added == 1)
}

const INSERT_ORDERS: &str = "
    INSERT INTO remittance_orders (business_id, remittance_id, order_id, amount_paise, note)
    SELECT $1, $2, new.* FROM unnest($3, $4, $5) AS new";

pub(crate) async fn insert_orders(
    mut conn: &AsyncPgConnection,
    remittance: &Remittance,
    orders: &[RemittedOrder],
) -> Result<(), StoreError> {
    let added = statement(INSERT_ORDERS)
        .bind::<Text, _>(remittance.business.to_string())
        .bind::<Text, _>(remittance.id.to_string())
        .bind::<Array<Text>, _>(orders.iter().map(|order| order.order.to_string()).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(orders.iter().map(|order| order.amount.get()).collect::<Vec<_>>())
        .bind::<Array<Nullable<Text>>, _>(orders.iter().map(|order| order.note.clone()).collect::<Vec<_>>())
        .execute(&mut conn)
        .await?;
    expect_rows("inserting the orders of a remittance", orders.len(), added)
}

/// Whatever the case of its letters. By the index `remittances_bank_reference_in_any_case`.
pub(crate) async fn find_by_bank_reference(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    bank_reference: &str,
) -> Result<Option<Remittance>, StoreError> {
    let row = remittances::table
        .filter(remittances::business_id.eq(business.to_string()))
        .filter(
            sql::<Bool>("upper(bank_reference COLLATE \"C\") = upper(")
                .bind::<Text, _>(bank_reference)
                .sql(" COLLATE \"C\")"),
        )
        .select(RemittanceRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(RemittanceRow::into_remittance).transpose()
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: RemittanceId,
) -> Result<Option<Remittance>, StoreError> {
    let row = remittances::table
        .find((id.to_string(), business.to_string()))
        .select(RemittanceRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(RemittanceRow::into_remittance).transpose()
}

/// Up to `limit` remittances of a business, newest first.
pub(crate) async fn page(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    before: Option<RemittanceId>,
    limit: i64,
) -> Result<Vec<Remittance>, StoreError> {
    let mut query = remittances::table
        .filter(remittances::business_id.eq(business.to_string()))
        .order(remittances::id.desc())
        .limit(limit)
        .select(RemittanceRow::as_select())
        .into_boxed();
    if let Some(before) = before {
        query = query.filter(remittances::id.lt(before.to_string()));
    }
    let rows: Vec<RemittanceRow> = query.load(conn).await?;
    rows.into_iter().map(RemittanceRow::into_remittance).collect()
}

/// All orders of a remittance, oldest first.
pub(crate) async fn orders_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: RemittanceId,
) -> Result<Vec<RemittedOrder>, StoreError> {
    type Row = (String, String, (Option<i64>, Option<i64>, Option<i64>), i64, Option<String>);
    let of_cash = cash::business_id
        .eq(remittance_orders::business_id)
        .and(cash::order_id.eq(remittance_orders::order_id));
    let rows: Vec<Row> = remittance_orders::table
        .inner_join(cash::table.on(of_cash))
        .filter(remittance_orders::business_id.eq(business.to_string()))
        .filter(remittance_orders::remittance_id.eq(id.to_string()))
        .order(remittance_orders::order_id)
        .select((
            remittance_orders::order_id,
            cash::order_reference,
            (cash::collected_paise, cash::expected_paise, cash::handed_over_paise),
            remittance_orders::amount_paise,
            remittance_orders::note,
        ))
        .load(conn)
        .await?;
    let order = |(order, order_reference, (collected, expected, handed_over), amount, note): Row| {
        let handed_over = handed_over.unwrap_or_default();
        Ok(RemittedOrder {
            order: parse("remittance_orders.order_id", &order)?,
            order_reference,
            handed_over: Paise::new(handed_over),
            owed: Paise::new(collected.or(expected).unwrap_or(handed_over)),
            amount: Paise::new(amount),
            note,
        })
    };
    rows.into_iter().map(order).collect()
}

/// The remittances of these orders of these businesses. Omits orders without one.
pub(crate) async fn of_cash(
    conn: &mut AsyncPgConnection,
    businesses: &[BusinessId],
    orders: &[OrderId],
) -> Result<BTreeMap<OrderId, Remittance>, StoreError> {
    let of_remittance = remittances::business_id
        .eq(remittance_orders::business_id)
        .and(remittances::id.eq(remittance_orders::remittance_id));
    let rows: Vec<(String, RemittanceRow)> = remittance_orders::table
        .inner_join(remittances::table.on(of_remittance))
        .filter(remittance_orders::business_id.eq_any(businesses.iter().map(BusinessId::to_string)))
        .filter(remittance_orders::order_id.eq_any(orders.iter().map(OrderId::to_string)))
        .select((remittance_orders::order_id, RemittanceRow::as_select()))
        .load(conn)
        .await?;
    let of = |(order, row): (String, RemittanceRow)| {
        Ok((parse("remittance_orders.order_id", &order)?, row.into_remittance()?))
    };
    rows.into_iter().map(of).collect()
}
