//! Who holds a reference or an idempotency key: what the pipeline that places an order asks first.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Mode, OrderId};

use super::StoreError;
use super::predicates::{pending, still_held};
use super::rows::ClaimRow;
use super::schema::orders;
use crate::domain::Claim;

/// The order that holds an idempotency key.
pub async fn by_key(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    mode: Mode,
    key: &str,
) -> Result<Option<Claim>, StoreError> {
    let row = orders::table
        .filter(orders::business_id.eq(business.to_string()))
        .filter(orders::mode.eq(mode.as_str()))
        .filter(orders::idempotency_key.eq(key))
        .filter(still_held())
        .select(ClaimRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Claim::try_from).transpose()
}

/// The order of a reference, released ones included: they are taken over.
pub async fn by_reference(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    mode: Mode,
    reference: &str,
) -> Result<Option<Claim>, StoreError> {
    let row = orders::table
        .filter(orders::business_id.eq(business.to_string()))
        .filter(orders::mode.eq(mode.as_str()))
        .filter(orders::order_reference.eq(reference))
        .select(ClaimRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Claim::try_from).transpose()
}

/// Orders whose payment has been open since before `before`, oldest first, but not `set_aside`: work for recovery.
pub async fn pending_since(
    conn: &mut AsyncPgConnection,
    before: chrono::DateTime<chrono::Utc>,
    set_aside: impl Iterator<Item = &OrderId>,
    limit: i64,
) -> Result<Vec<Claim>, StoreError> {
    let rows: Vec<ClaimRow> = orders::table
        .filter(pending())
        .filter(orders::pending_since.lt(before))
        .filter(orders::id.ne_all(set_aside.map(ToString::to_string).collect::<Vec<_>>()))
        .order(orders::pending_since)
        .limit(limit)
        .select(ClaimRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(Claim::try_from).collect()
}

/// How many orders wait for their payment, and since when the oldest does, for the metrics.
pub async fn pending_orders(
    conn: &mut AsyncPgConnection,
) -> Result<(i64, Option<chrono::DateTime<chrono::Utc>>), StoreError> {
    let (count, oldest) = (diesel::dsl::count_star(), diesel::dsl::min(orders::pending_since));
    Ok(orders::table.filter(pending()).select((count, oldest)).get_result(conn).await?)
}
