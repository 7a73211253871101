//! Live orders of a business that need attention.

use diesel::dsl::sql;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};
use postgres::literal;

use super::predicates::{live, placed};
use super::schema::orders;
use super::{StoreError, corrupt};
use crate::domain::{Deadlines, ExceptionCounts, ExceptionKind};

/// Of one kind, newest change first.
///
/// Orders without a driver are found by the index of the fleet's list, among those of all businesses: few are that old, and
/// an index of their own would slow down each new order. `orders_with_drivers` finds the others.
fn of(business: BusinessId, kind: ExceptionKind, deadlines: Deadlines) -> orders::BoxedQuery<'static, Pg> {
    let all = orders::table.filter(orders::business_id.eq(business.to_string()));
    let all = all.filter(live()).filter(placed()).into_boxed();
    match kind {
        ExceptionKind::Failed => {
            all.filter(literal::<Bool>("orders.status = 'failed' AND orders.picked_up")).filter(
                sql::<Bool>(
                    "(orders.after_failure->'decided' IS NULL OR orders.after_failure #>> '{decided,on}' < ",
                )
                .bind::<Text, _>(deadlines.today.to_string())
                .sql(" OR (orders.after_failure #>> '{decided,on}' IS NULL AND orders.updated_at < ")
                .bind::<Timestamptz, _>(deadlines.silent)
                .sql("))"),
            )
        }
        ExceptionKind::Unassigned => all
            .filter(literal::<Bool>("orders.status = 'created'"))
            .filter(orders::updated_at.lt(deadlines.unassigned)),
        ExceptionKind::Stuck => all
            .filter(literal::<Bool>("orders.status IN ('driver_assigned', 'picked_up', 'out_for_delivery')"))
            .filter(orders::updated_at.lt(deadlines.silent)),
    }
}

/// The ids of at most `limit` orders, newest change first.
pub async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    kind: ExceptionKind,
    deadlines: Deadlines,
    limit: i64,
) -> Result<Vec<OrderId>, StoreError> {
    let ids: Vec<String> = of(business, kind, deadlines)
        .order((orders::updated_at.desc(), orders::id.desc()))
        .limit(limit)
        .select(orders::id)
        .load(conn)
        .await?;
    ids.into_iter().map(|id| id.parse().map_err(|error| corrupt("orders.id", error))).collect()
}

/// The number of orders of each kind, up to `max`.
pub async fn count(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    deadlines: Deadlines,
    max: i64,
) -> Result<ExceptionCounts, StoreError> {
    let mut count = async |kind| -> Result<i64, StoreError> {
        let found = of(business, kind, deadlines).limit(max).select(orders::id);
        let ids: Vec<String> = found.load(conn).await?;
        Ok(i64::try_from(ids.len()).unwrap_or(max))
    };
    Ok(ExceptionCounts {
        failed: count(ExceptionKind::Failed).await?,
        unassigned: count(ExceptionKind::Unassigned).await?,
        stuck: count(ExceptionKind::Stuck).await?,
    })
}
