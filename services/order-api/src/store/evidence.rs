//! The records of the attempts at a delivery, and the codes of customers.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};

use super::StoreError;
use super::schema::{delivery_codes, delivery_evidence};
use crate::domain::{AttemptRecord, DeliveryCode};

/// The records of an order, oldest first. An order has few attempts.
pub async fn of_order(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<Vec<AttemptRecord>, StoreError> {
    let rows: Vec<(String, String, Option<String>)> = delivery_evidence::table
        .filter(delivery_evidence::order_id.eq(order.to_string()))
        .filter(delivery_evidence::business_id.eq(business.to_string()))
        .order(delivery_evidence::attempt)
        .select((delivery_evidence::record, delivery_evidence::hash, delivery_evidence::personal))
        .load(conn)
        .await?;
    Ok(rows.into_iter().map(|(record, hash, personal)| AttemptRecord { record, hash, personal }).collect())
}

/// Adds the next record of an order, whose row is locked.
pub async fn append(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    attempt: u32,
    record: &AttemptRecord,
) -> Result<(), StoreError> {
    let attempt = i32::try_from(attempt).unwrap_or(i32::MAX);
    diesel::insert_into(delivery_evidence::table)
        .values((
            delivery_evidence::order_id.eq(order.to_string()),
            delivery_evidence::attempt.eq(attempt),
            delivery_evidence::business_id.eq(business.to_string()),
            delivery_evidence::record.eq(&record.record),
            delivery_evidence::hash.eq(&record.hash),
            delivery_evidence::personal.eq(record.personal.as_deref()),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// The code of an order, if one was issued.
pub async fn code(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<Option<DeliveryCode>, StoreError> {
    let row: Option<(String, i32)> = delivery_codes::table
        .find((order.to_string(), business.to_string()))
        .select((delivery_codes::code, delivery_codes::wrong))
        .first(conn)
        .await
        .optional()?;
    Ok(row.map(|(code, wrong)| DeliveryCode { code, wrong }))
}

/// Stores the code of an order that has none and is locked.
pub async fn insert_code(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    code: &str,
) -> Result<(), StoreError> {
    diesel::insert_into(delivery_codes::table)
        .values((
            delivery_codes::order_id.eq(order.to_string()),
            delivery_codes::business_id.eq(business.to_string()),
            delivery_codes::code.eq(code),
            delivery_codes::wrong.eq(0),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Counts a wrong code of an order, which is locked.
pub async fn count_wrong_code(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<(), StoreError> {
    let of_order = delivery_codes::table.find((order.to_string(), business.to_string()));
    let wrong = delivery_codes::wrong.eq(delivery_codes::wrong + 1);
    diesel::update(of_order).set(wrong).execute(conn).await?;
    Ok(())
}
