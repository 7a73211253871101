//! What the fleet sees and says. The fleet serves every business, so these queries name none; they see live orders only.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{DeliveryStatus, OrderId};

use super::predicates::{live, placed};
use super::rows::OrderRow;
use super::schema::{fleet_reports, orders};
use super::{StoreError, corrupt};
use crate::domain::{Fingerprint, Order};

/// A live order, locked until the transaction ends.
pub async fn lock(conn: &mut AsyncPgConnection, id: OrderId) -> Result<Option<Order>, StoreError> {
    let row = orders::table
        .filter(orders::id.eq(id.to_string()))
        .filter(live())
        .filter(placed())
        .select(OrderRow::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()?;
    row.map(Order::try_from).transpose()
}

/// Live orders by their last change, oldest first, so that a fleet that keeps asking misses none.
pub async fn list(
    conn: &mut AsyncPgConnection,
    status: Option<DeliveryStatus>,
    updated_after: Option<DateTime<Utc>>,
    after: Option<&(DateTime<Utc>, OrderId)>,
    limit: usize,
) -> Result<Vec<Order>, StoreError> {
    let mut query = orders::table.filter(live()).filter(placed()).into_boxed();
    if let Some(status) = status {
        query = query.filter(orders::status.eq(status.as_str()));
    }
    if let Some(updated_after) = updated_after {
        query = query.filter(orders::updated_at.gt(updated_after));
    }
    if let Some((updated_at, id)) = after {
        let later = orders::updated_at.gt(*updated_at);
        let same = orders::updated_at.eq(*updated_at).and(orders::id.gt(id.to_string()));
        query = query.filter(later.or(same));
    }
    let rows: Vec<OrderRow> = query
        .order((orders::updated_at, orders::id))
        .limit(i64::try_from(limit).unwrap_or(i64::MAX))
        .select(OrderRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(Order::try_from).collect()
}

/// Where an order stands in [`list`], for a page that begins after it.
pub async fn cursor(
    conn: &mut AsyncPgConnection,
    id: OrderId,
) -> Result<Option<(DateTime<Utc>, OrderId)>, StoreError> {
    let updated_at: Option<DateTime<Utc>> = orders::table
        .filter(orders::id.eq(id.to_string()))
        .filter(live())
        .filter(placed())
        .select(orders::updated_at)
        .first(conn)
        .await
        .optional()?;
    Ok(updated_at.map(|updated_at| (updated_at, id)))
}

/// Remembers a report by the fleet's own id. When that id is known: what it was remembered for.
pub async fn remember(
    conn: &mut AsyncPgConnection,
    event_id: &str,
    order: OrderId,
    fingerprint: Fingerprint,
    now: DateTime<Utc>,
) -> Result<Option<(OrderId, Fingerprint)>, StoreError> {
    let inserted = diesel::insert_into(fleet_reports::table)
        .values((
            fleet_reports::event_id.eq(event_id),
            fleet_reports::order_id.eq(order.to_string()),
            fleet_reports::fingerprint.eq(fingerprint.as_bytes()),
            fleet_reports::recorded_at.eq(now),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    if inserted == 1 {
        return Ok(None);
    }
    let (order_id, bytes): (String, Vec<u8>) = fleet_reports::table
        .find(event_id)
        .select((fleet_reports::order_id, fleet_reports::fingerprint))
        .first(conn)
        .await?;
    let order_id = order_id.parse().map_err(|error| corrupt("fleet_reports.order_id", error))?;
    let known = Fingerprint::from_bytes(&bytes)
        .ok_or_else(|| corrupt("fleet_reports.fingerprint", "wrong length"))?;
    Ok(Some((order_id, known)))
}
