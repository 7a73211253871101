//! What the fleet sees and says. The fleet serves every business, so these queries name none; they see live orders only. An
//! order is looked for by its id alone, with which its key begins.

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::expression::{SqlLiteral, UncheckedBind};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Timestamptz;
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

/// A place in [`list`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleetPosition {
    pub updated_at: DateTime<Utc>,
    pub id: OrderId,
}

impl FleetPosition {
    /// Behind everything of this time.
    pub fn after(time: DateTime<Utc>) -> Self {
        Self { updated_at: time, id: OrderId::MAX }
    }
}

/// What the fleet asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct FleetFilter {
    pub status: Option<DeliveryStatus>,
    pub updated_after: Option<DateTime<Utc>>,
    pub after: Option<FleetPosition>,
}

/// Live orders by their last change, oldest first, as far as no change can come before them any more.
///
/// On a connection that is in no transaction: what is settled must be known before the orders are read.
pub async fn list(
    conn: &mut AsyncPgConnection,
    wanted: &FleetFilter,
    limit: usize,
) -> Result<Vec<Order>, StoreError> {
    let settled = settled_until(conn).await?;
    let mut query =
        orders::table.filter(live()).filter(placed()).filter(orders::updated_at.lt(settled)).into_boxed();
    if let Some(status) = wanted.status {
        query = query.filter(orders::status.eq(status.as_str()));
    }
    if let Some(updated_after) = wanted.updated_after {
        query = query.filter(orders::updated_at.gt(updated_after));
    }
    if let Some(FleetPosition { updated_at, id }) = wanted.after {
        let later = orders::updated_at.gt(updated_at);
        let same = orders::updated_at.eq(updated_at).and(orders::id.gt(id.to_string()));
        // Said twice, since PostgreSQL begins an index at a plain comparison only.
        query = query.filter(orders::updated_at.ge(updated_at)).filter(later.or(same));
    }
    let rows: Vec<OrderRow> = query
        .order((orders::updated_at, orders::id))
        .limit(i64::try_from(limit).unwrap_or(i64::MAX))
        .select(OrderRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(Order::try_from).collect()
}

/// When a placed order changes: `now`, but not before the transaction that changes it began. See [`list`].
pub(super) fn changed_at(now: DateTime<Utc>) -> ChangedAt {
    sql::<Timestamptz>("greatest(").bind::<Timestamptz, _>(now).sql(", transaction_timestamp())")
}

pub(super) type ChangedAt = SqlLiteral<Timestamptz, UncheckedBind<SqlLiteral<Timestamptz>, Bound>>;
type Bound = diesel::dsl::AsExprOf<DateTime<Utc>, Timestamptz>;

/// Everything that changed before this time can be seen by now, and nothing will change at a time before it.
///
/// A change that is still to be seen is not older than the oldest transaction that runs ([`changed_at`]), of this
/// database's own role: no other writes. A dump, which only reads, must not hold the fleet up. A transaction is listed an
/// instant after its start; the margin is for that instant.
pub(super) async fn settled_until(conn: &mut AsyncPgConnection) -> Result<DateTime<Utc>, StoreError> {
    #[derive(QueryableByName)]
    struct Settled {
        #[diesel(sql_type = Timestamptz)]
        until: DateTime<Utc>,
    }
    let settled: Settled = sql_query(
        "SELECT least(min(xact_start), clock_timestamp() - interval '200 milliseconds') AS until \
         FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user \
         AND backend_type = 'client backend' AND application_name <> 'pg_dump' AND pid <> pg_backend_pid()",
    )
    .get_result(conn)
    .await?;
    Ok(settled.until)
}

/// Where an order stands in [`list`] now.
pub async fn position(
    conn: &mut AsyncPgConnection,
    id: OrderId,
) -> Result<Option<FleetPosition>, StoreError> {
    let updated_at: Option<DateTime<Utc>> = orders::table
        .filter(orders::id.eq(id.to_string()))
        .filter(live())
        .filter(placed())
        .select(orders::updated_at)
        .first(conn)
        .await
        .optional()?;
    Ok(updated_at.map(|updated_at| FleetPosition { updated_at, id }))
}

/// Remembers a report by the fleet's own id, of which each is used once, whichever the business. When that id is known: what it
/// was remembered for.
pub async fn remember(
    conn: &mut AsyncPgConnection,
    event_id: &str,
    order: &Order,
    fingerprint: Fingerprint,
    now: DateTime<Utc>,
) -> Result<Option<(OrderId, Fingerprint)>, StoreError> {
    let inserted = diesel::insert_into(fleet_reports::table)
        .values((
            fleet_reports::business_id.eq(order.business_id.to_string()),
            fleet_reports::event_id.eq(event_id),
            fleet_reports::order_id.eq(order.id.to_string()),
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
        .filter(fleet_reports::event_id.eq(event_id))
        .select((fleet_reports::order_id, fleet_reports::fingerprint))
        .first(conn)
        .await?;
    let order_id = order_id.parse().map_err(|error| corrupt("fleet_reports.order_id", error))?;
    let known = Fingerprint::from_bytes(&bytes)
        .ok_or_else(|| corrupt("fleet_reports.fingerprint", "wrong length"))?;
    Ok(Some((order_id, known)))
}
