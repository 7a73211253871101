//! Orders and reports of the fleet. The fleet serves all businesses, so these queries name none. They read only live
//! orders, by id alone, which is the first column of the primary key.

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::expression::{SqlLiteral, UncheckedBind};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Timestamptz;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::OrderId;

use super::pages::PageInPortions;
use super::predicates::{live, placed};
use super::rows::OrderRow;
use super::schema::{fleet_reports, orders};
use super::{StoreError, corrupt};
use crate::domain::{ChangePosition, Fingerprint, FleetFilter, FoundOrders, Order};

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

/// Live orders by their last change, oldest first, up to the point before which no more changes can appear.
///
/// Needs a connection without a transaction: that point must be known before the orders are read.
pub async fn list(
    conn: &mut AsyncPgConnection,
    filter: &FleetFilter,
    limit: usize,
) -> Result<FoundOrders, StoreError> {
    let complete = complete_until(conn).await?;
    let mut page = PageInPortions::of(limit);
    while let Some((size, last)) = page.next() {
        let after = last.map(ChangePosition::of).or(filter.after);
        let query = settled(&FleetFilter { after, ..*filter }, complete);
        page.add(query.limit(size).select(OrderRow::as_select()).load_stream(conn).await?).await?;
    }
    Ok(page.found())
}

fn settled(filter: &FleetFilter, complete: DateTime<Utc>) -> orders::BoxedQuery<'static, Pg> {
    let mut query =
        orders::table.filter(live()).filter(placed()).filter(orders::updated_at.lt(complete)).into_boxed();
    if let Some(status) = filter.status {
        query = query.filter(orders::status.eq(status.as_str()));
    }
    if let Some(updated_after) = filter.updated_after {
        query = query.filter(orders::updated_at.gt(updated_after));
    }
    if let Some(ChangePosition { updated_at, id }) = filter.after {
        let later = orders::updated_at.gt(updated_at);
        let same = orders::updated_at.eq(updated_at).and(orders::id.gt(id.to_string()));
        // The first filter is redundant: PostgreSQL starts an index scan only at a plain comparison.
        query = query.filter(orders::updated_at.ge(updated_at)).filter(later.or(same));
    }
    query.order((orders::updated_at, orders::id))
}

/// The time of a change: `now`, but not before the start of the current transaction. See [`list`].
pub(super) fn changed_at(now: DateTime<Utc>) -> ChangedAt {
    sql::<Timestamptz>("greatest(").bind::<Timestamptz, _>(now).sql(", transaction_timestamp())")
}

pub(super) type ChangedAt = SqlLiteral<Timestamptz, UncheckedBind<SqlLiteral<Timestamptz>, Bound>>;
type Bound = diesel::dsl::AsExprOf<DateTime<Utc>, Timestamptz>;

/// All changes before this time are visible, and no more will be added.
///
/// A change that is not visible yet is not older than the oldest running transaction ([`changed_at`]) of this
/// database's own role, the only one that writes. A dump only reads, so it must not delay the fleet. PostgreSQL lists a
/// transaction a moment after its start; the margin covers that moment. The time is that of the statement's arrival, before
/// the transactions are listed: a later one could be later than a change of a transaction that began meanwhile.
pub(super) async fn complete_until(conn: &mut AsyncPgConnection) -> Result<DateTime<Utc>, StoreError> {
    #[derive(QueryableByName)]
    struct Complete {
        #[diesel(sql_type = Timestamptz)]
        until: DateTime<Utc>,
    }
    let complete: Complete = sql_query(
        "SELECT least(min(xact_start), statement_timestamp() - interval '200 milliseconds') AS until \
         FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user \
         AND backend_type = 'client backend' AND application_name <> 'pg_dump' AND pid <> pg_backend_pid()",
    )
    .get_result(conn)
    .await?;
    Ok(complete.until)
}

/// The current position of an order in [`list`].
pub async fn position(
    conn: &mut AsyncPgConnection,
    id: OrderId,
) -> Result<Option<ChangePosition>, StoreError> {
    let updated_at: Option<DateTime<Utc>> = orders::table
        .filter(orders::id.eq(id.to_string()))
        .filter(live())
        .filter(placed())
        .select(orders::updated_at)
        .first(conn)
        .await
        .optional()?;
    Ok(updated_at.map(|updated_at| ChangePosition { updated_at, id }))
}

/// Stores a report under the fleet's id for it, which is unique across all businesses. Returns the stored report when
/// the id was used before.
pub async fn insert_report(
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

/// Deletes a report that the same transaction stored, and then refused.
pub async fn delete_report(
    conn: &mut AsyncPgConnection,
    event_id: &str,
    order: &Order,
) -> Result<(), StoreError> {
    let key = (order.id.to_string(), event_id, order.business_id.to_string());
    diesel::delete(fleet_reports::table.find(key)).execute(conn).await?;
    Ok(())
}
