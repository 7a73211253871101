//! Simulated deliveries. The worker serves all businesses, so the query for due runs names none; each step names its
//! business.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::upsert::excluded;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};

use super::schema::simulations;
use super::{StoreError, corrupt};
use crate::domain::Simulation;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = simulations, check_for_backend(diesel::pg::Pg))]
struct Row {
    order_id: String,
    business_id: String,
    scenario: String,
    steps_done: i32,
    next_at: DateTime<Utc>,
}

/// Schedules runs. A new run replaces the previous one of the same order.
pub async fn schedule(mut conn: &AsyncPgConnection, runs: &[Simulation]) -> Result<(), StoreError> {
    if runs.is_empty() {
        return Ok(());
    }
    let rows: Vec<Row> = runs
        .iter()
        .map(|run| Row {
            order_id: run.order_id.to_string(),
            business_id: run.business_id.to_string(),
            scenario: run.scenario.to_string(),
            steps_done: run.steps_done,
            next_at: run.next_at,
        })
        .collect();
    diesel::insert_into(simulations::table)
        .values(rows)
        .on_conflict((simulations::order_id, simulations::business_id))
        .do_update()
        .set((
            simulations::scenario.eq(excluded(simulations::scenario)),
            simulations::steps_done.eq(excluded(simulations::steps_done)),
            simulations::next_at.eq(excluded(simulations::next_at)),
        ))
        .execute(&mut conn)
        .await?;
    Ok(())
}

/// The active run of an order. A caller that changes it holds the lock of the order.
pub async fn of_order(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<Option<Simulation>, StoreError> {
    let row: Option<Row> = simulations::table
        .filter(simulations::order_id.eq(order.to_string()))
        .filter(simulations::business_id.eq(business.to_string()))
        .select(Row::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Simulation::try_from).transpose()
}

/// Runs of all businesses with a due step, most overdue first.
pub async fn due(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<Simulation>, StoreError> {
    let rows: Vec<Row> = simulations::table
        .filter(simulations::next_at.le(now))
        .order(simulations::next_at)
        .limit(limit)
        .select(Row::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(Simulation::try_from).collect()
}

/// Ends a run.
pub async fn end(conn: &mut AsyncPgConnection, run: &Simulation) -> Result<(), StoreError> {
    diesel::delete(simulations::table)
        .filter(simulations::order_id.eq(run.order_id.to_string()))
        .filter(simulations::business_id.eq(run.business_id.to_string()))
        .execute(conn)
        .await?;
    Ok(())
}

impl TryFrom<Row> for Simulation {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            order_id: row.order_id.parse().map_err(|error| corrupt("simulations.order_id", error))?,
            business_id: row
                .business_id
                .parse()
                .map_err(|error| corrupt("simulations.business_id", error))?,
            scenario: row.scenario.parse().map_err(|error| corrupt("simulations.scenario", error))?,
            steps_done: row.steps_done,
            next_at: row.next_at,
        })
    }
}
