//! The orders that have a reference or an Idempotency-Key.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Mode, OrderId};

use super::StoreError;
use super::predicates::{has_reference, holds_key, pending};
use super::rows::ExistingOrderRow;
use super::schema::orders;
use crate::domain::ExistingOrder;

/// The order that has an Idempotency-Key. Released orders have none.
pub async fn by_key(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    mode: Mode,
    key: &str,
) -> Result<Option<ExistingOrder>, StoreError> {
    let row = orders::table
        .filter(orders::business_id.eq(business.to_string()))
        .filter(orders::mode.eq(mode.as_str()))
        .filter(orders::idempotency_key.eq(key))
        .filter(holds_key())
        .select(ExistingOrderRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(ExistingOrder::try_from).transpose()
}

/// The order that has a reference, including a released one.
pub async fn by_reference(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    mode: Mode,
    reference: &str,
) -> Result<Option<ExistingOrder>, StoreError> {
    let row = orders::table
        .filter(orders::business_id.eq(business.to_string()))
        .filter(orders::mode.eq(mode.as_str()))
        .filter(has_reference(reference))
        .select(ExistingOrderRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(ExistingOrder::try_from).transpose()
}

/// Orders that have waited for their payment since before `before`, oldest first, without `excluded`: work for
/// recovery.
pub async fn pending_since(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    excluded: impl Iterator<Item = &OrderId>,
    limit: i64,
) -> Result<Vec<ExistingOrder>, StoreError> {
    let rows: Vec<ExistingOrderRow> = orders::table
        .filter(pending())
        .filter(orders::pending_since.lt(before))
        .filter(orders::id.ne_all(excluded.map(ToString::to_string).collect::<Vec<_>>()))
        .order(orders::pending_since)
        .limit(limit)
        .select(ExistingOrderRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(ExistingOrder::try_from).collect()
}

/// The number of orders that wait for their payment, and the start of the longest wait.
pub async fn count_pending(conn: &mut AsyncPgConnection) -> Result<(i64, Option<DateTime<Utc>>), StoreError> {
    let (count, oldest) = (diesel::dsl::count_star(), diesel::dsl::min(orders::pending_since));
    Ok(orders::table.filter(pending()).select((count, oldest)).get_result(conn).await?)
}
