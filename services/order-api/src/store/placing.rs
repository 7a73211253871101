//! Storing orders on their way to being placed. The functions take many at once, for shared commits.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};

use super::fleet::changed_at;
use super::predicates::with_keys;
use super::rows::{OrderRow, TakeOverRow};
use super::schema::orders;
use super::{StoreError, new_orders};
use crate::domain::{Claim, NewOrder, Order, Placement};

#[derive(QueryableByName)]
struct StoredId {
    #[diesel(sql_type = Text)]
    id: String,
}

/// Stores those whose id, reference and key are free; tells which.
pub async fn insert(
    conn: &mut AsyncPgConnection,
    new: &[(&NewOrder, Placement)],
) -> Result<HashSet<String>, StoreError> {
    let stored: Vec<StoredId> = new_orders::insert(new).get_results(conn).await?;
    Ok(stored.into_iter().map(|stored| stored.id).collect())
}

/// An order whose attempt is paid.
#[derive(Clone, Copy, Debug)]
pub struct Paid {
    pub business_id: BusinessId,
    pub order_id: OrderId,
    pub attempt: i32,
}

/// Turns pending orders into placed ones, each only at the attempt that was paid. Gives those that it turned; the
/// others were placed before.
pub async fn place(
    conn: &mut AsyncPgConnection,
    paid: &[Paid],
    now: DateTime<Utc>,
) -> Result<Vec<Order>, StoreError> {
    // Rows are locked in the order of their ids, so that two batches never wait for each other in a circle.
    let pending: Vec<(String, i32)> = orders::table
        .filter(with_keys(paid.iter().map(|paid| (paid.order_id, paid.business_id))))
        .filter(orders::placement.eq(Placement::PendingPayment.as_str()))
        .select((orders::id, orders::attempt))
        .order(orders::id)
        .for_update()
        .load(conn)
        .await?;
    let pending: HashSet<(String, i32)> = pending.into_iter().collect();
    let placing: Vec<_> = paid
        .iter()
        .filter(|paid| pending.contains(&(paid.order_id.to_string(), paid.attempt)))
        .map(|paid| (paid.order_id, paid.business_id))
        .collect();
    if placing.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<OrderRow> = diesel::update(orders::table)
        .filter(with_keys(placing.into_iter()))
        .set((
            orders::placement.eq(Placement::Placed.as_str()),
            orders::pending_since.eq(None::<DateTime<Utc>>),
            orders::sequence.eq(1),
            orders::updated_at.eq(changed_at(now)),
        ))
        .returning(OrderRow::as_returning())
        .get_results(conn)
        .await?;
    rows.into_iter().map(Order::try_from).collect()
}

/// Frees the reference and key of an order whose debit was rejected or called off; false when it has moved on.
pub async fn release(
    conn: &mut AsyncPgConnection,
    claim: &Claim,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let released = diesel::update(orders::table)
        .filter(orders::id.eq(claim.order_id.to_string()))
        .filter(orders::business_id.eq(claim.business_id.to_string()))
        .filter(orders::attempt.eq(claim.attempt))
        .filter(orders::placement.eq(Placement::PendingPayment.as_str()))
        .set((
            orders::placement.eq(Placement::Released.as_str()),
            orders::pending_since.eq(None::<DateTime<Utc>>),
            orders::updated_at.eq(now),
        ))
        .execute(conn)
        .await?;
    Ok(released == 1)
}

/// Gives a released order to a new request for its reference, with the next attempt. False when another request was
/// faster, or when the new key is in use.
pub async fn take_over(
    conn: &mut AsyncPgConnection,
    released: &Claim,
    new: &NewOrder,
) -> Result<bool, StoreError> {
    let taken = diesel::update(orders::table)
        .filter(orders::id.eq(released.order_id.to_string()))
        .filter(orders::business_id.eq(released.business_id.to_string()))
        .filter(orders::attempt.eq(released.attempt))
        .filter(orders::placement.eq(Placement::Released.as_str()))
        .set(TakeOverRow::new(new, released.attempt + 1))
        .execute(conn)
        .await;
    match taken {
        Ok(count) => Ok(count == 1),
        Err(error) if postgres::violates(&error, "orders_idempotency_key") => Ok(false),
        Err(error) => Err(error.into()),
    }
}
