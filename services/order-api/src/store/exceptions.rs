//! Live orders that need attention: of a business, or of all for the operator.

use chrono::{DateTime, Utc};
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
use crate::domain::{Deadlines, DecisionFilter, ExceptionCounts, ExceptionKind};

/// When the status of a corrected order last changed, by its last event: a correction changes `updated_at` too.
const MOVED_AT: &str = "(SELECT recorded_at FROM order_events AS last
    WHERE last.order_id = orders.id AND last.business_id = orders.business_id AND last.sequence = orders.sequence)";

/// Of one kind, newest change first. Reads the orders in these states: `orders_by_state` and `orders_with_drivers` find those
/// of a business, and `orders_for_fleet_by_status` and `orders_failed` those of all. `area` leaves only those to a city or PIN code
/// that begins like this. All parcels of failed orders are with the fleet, so few.
fn of(
    business: Option<BusinessId>,
    area: Option<&str>,
    kind: ExceptionKind,
    decision: Option<DecisionFilter>,
    deadlines: Deadlines,
) -> orders::BoxedQuery<'static, Pg> {
    let mut all = orders::table.filter(live()).filter(placed()).into_boxed();
    if let Some(business) = business {
        all = all.filter(orders::business_id.eq(business.to_string()));
    }
    if let Some(area) = area {
        // Orders have the digits alone: `560 025` is `560025`.
        let pincode: String = area.split_whitespace().collect();
        let matches = sql::<Bool>("(starts_with(orders.details #>> '{delivery,pincode}', ")
            .bind::<Text, _>(pincode)
            .sql(") OR starts_with(lower(orders.details #>> '{delivery,city}'), lower(")
            .bind::<Text, _>(area.to_owned())
            .sql(")))");
        all = all.filter(matches);
    }
    if let Some(decision) = decision {
        all = all.filter(literal::<Bool>(match decision {
            DecisionFilter::Asked => "orders.after_failure->'decided' IS NOT NULL",
            DecisionFilter::None => "orders.after_failure->'decided' IS NULL",
            // An order keeps its decision while the attempt is made.
            DecisionFilter::Pending => {
                "orders.status = 'failed' AND orders.after_failure->'decided' IS NOT NULL"
            }
        }));
    }
    let unmoved_since = |time: DateTime<Utc>| {
        sql::<Bool>("(orders.updated_at < ")
            .bind::<Timestamptz, _>(time)
            .sql(" OR orders.details ? 'asSent' AND ")
            .sql(MOVED_AT)
            .sql(" < ")
            .bind::<Timestamptz, _>(time)
            .sql(")")
    };
    match kind {
        ExceptionKind::Failed => {
            let failed = all.filter(literal::<Bool>("orders.status = 'failed' AND orders.picked_up"));
            if decision == Some(DecisionFilter::Pending) {
                return failed;
            }
            failed.filter(
                sql::<Bool>(
                    "(orders.after_failure->'decided' IS NULL OR orders.after_failure #>> '{decided,on}' < ",
                )
                .bind::<Text, _>(deadlines.today.to_string())
                .sql(" OR (orders.after_failure #>> '{decided,on}' IS NULL")
                .sql(" AND (orders.after_failure #>> '{decided,at}')::timestamptz < ")
                .bind::<Timestamptz, _>(deadlines.silent)
                .sql("))"),
            )
        }
        ExceptionKind::Unassigned => all
            .filter(literal::<Bool>("orders.status = 'created'"))
            .filter(unmoved_since(deadlines.unassigned)),
        ExceptionKind::Stuck => all
            .filter(literal::<Bool>("orders.status IN ('driver_assigned', 'picked_up', 'out_for_delivery')"))
            .filter(unmoved_since(deadlines.silent)),
    }
}

/// When the order came into its state, by the last event of the fleet: neither a correction nor a request changes it.
const SINCE: &str = "coalesce((SELECT recorded_at FROM order_events AS last
    WHERE last.order_id = orders.id AND last.business_id = orders.business_id
        AND last.kind NOT IN ('order.reattempt_scheduled', 'order.returning')
    ORDER BY last.sequence DESC LIMIT 1), orders.updated_at)";

/// The ids of at most `limit` orders, newest change first, and since when each is in its state.
pub async fn list(
    conn: &mut AsyncPgConnection,
    business: Option<BusinessId>,
    area: Option<&str>,
    kind: ExceptionKind,
    decision: Option<DecisionFilter>,
    deadlines: Deadlines,
    limit: i64,
) -> Result<Vec<(OrderId, DateTime<Utc>)>, StoreError> {
    let rows: Vec<(String, DateTime<Utc>)> = of(business, area, kind, decision, deadlines)
        .order((orders::updated_at.desc(), orders::id.desc()))
        .limit(limit)
        .select((orders::id, sql::<Timestamptz>(SINCE)))
        .load(conn)
        .await?;
    let order =
        |(id, since): (String, _)| Ok((id.parse().map_err(|error| corrupt("orders.id", error))?, since));
    rows.into_iter().map(order).collect()
}

/// The number of orders of each kind, up to `max`.
pub async fn count(
    conn: &mut AsyncPgConnection,
    business: Option<BusinessId>,
    area: Option<&str>,
    deadlines: Deadlines,
    max: i64,
) -> Result<ExceptionCounts, StoreError> {
    let mut count = async |kind| -> Result<i64, StoreError> {
        let found = of(business, area, kind, None, deadlines).limit(max).select(orders::id);
        let ids: Vec<String> = found.load(conn).await?;
        Ok(i64::try_from(ids.len()).unwrap_or(max))
    };
    Ok(ExceptionCounts {
        failed: count(ExceptionKind::Failed).await?,
        unassigned: count(ExceptionKind::Unassigned).await?,
        stuck: count(ExceptionKind::Stuck).await?,
    })
}
