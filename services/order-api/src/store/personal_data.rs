//! Erases the personal data of orders. Retention serves all businesses at once, so its queries name none; each write
//! names the business of its order.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Jsonb, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};
use postgres::statement;
use serde_json::Value;

use super::predicates::{not_erased, to_erase, with_keys};
use super::rows::StateColumns;
use super::schema::orders;
use super::{StoreError, corrupt};
use crate::domain::{Erasable, Fingerprint, Scope, without_personal_data};

/// "erase" in ASCII: the advisory lock of retention.
const LOCK: i64 = 0x65_72_61_73_65;

/// Takes the lock of retention until the transaction ends. False when another instance has it.
pub async fn try_lock(conn: &mut AsyncPgConnection) -> Result<bool, StoreError> {
    postgres::try_lock(conn, LOCK).await
}

/// Orders that retention may erase and that have not changed since `before`, oldest change first.
pub async fn due(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<(BusinessId, OrderId)>, StoreError> {
    let rows: Vec<(String, String)> = orders::table
        .filter(to_erase())
        .filter(orders::updated_at.lt(before))
        .order((orders::updated_at, orders::id))
        .limit(limit)
        .select((orders::business_id, orders::id))
        .load(conn)
        .await?;
    let read = |(business, id): (String, String)| {
        let business = business.parse().map_err(|error| corrupt("orders.business_id", error))?;
        Ok((business, id.parse().map_err(|error| corrupt("orders.id", error))?))
    };
    rows.into_iter().map(read).collect()
}

/// The oldest last change among the orders that retention may erase.
pub async fn oldest_change(conn: &mut AsyncPgConnection) -> Result<Option<DateTime<Utc>>, StoreError> {
    let oldest = orders::table
        .filter(to_erase())
        .order((orders::updated_at, orders::id))
        .select(orders::updated_at)
        .first(conn)
        .await
        .optional()?;
    Ok(oldest)
}

/// One query for each of three indexes, merged by id.
const OF_BUSINESS: &str = "
    (SELECT id FROM orders WHERE business_id = $1 AND mode = 'test' AND placement = 'placed' AND id > $2 AND id < $3
        ORDER BY id LIMIT $4)
    UNION ALL
    (SELECT id FROM orders WHERE business_id = $1 AND mode = 'live' AND placement = 'placed' AND id > $2 AND id < $3
        ORDER BY id LIMIT $4)
    UNION ALL
    (SELECT id FROM orders WHERE business_id = $1 AND placement = 'released' AND id > $2 AND id < $3
        ORDER BY id LIMIT $4)
    ORDER BY id LIMIT $4";

#[derive(QueryableByName)]
struct Id {
    #[diesel(sql_type = Text)]
    id: String,
}

/// The orders of a business between two ids, sorted by id, including erased ones.
pub async fn of_business(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    (after, before): (OrderId, OrderId),
    limit: i64,
) -> Result<Vec<OrderId>, StoreError> {
    let ids: Vec<Id> = statement(OF_BUSINESS)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(after.to_string())
        .bind::<Text, _>(before.to_string())
        .bind::<BigInt, _>(limit)
        .load(conn)
        .await?;
    ids.iter().map(|id| id.id.parse().map_err(|error| corrupt("orders.id", error))).collect()
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = orders, check_for_backend(diesel::pg::Pg))]
struct Row {
    id: String,
    business_id: String,
    mode: String,
    placement: String,
    status: String,
    cod_status: String,
    picked_up: bool,
    payment_type: String,
    after_failure: Option<Value>,
    details: Value,
    updated_at: DateTime<Utc>,
}

impl TryFrom<Row> for Erasable {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.parse().map_err(|error| corrupt("orders.id", error))?,
            business_id: row.business_id.parse().map_err(|error| corrupt("orders.business_id", error))?,
            mode: row.mode.parse().map_err(|error| corrupt("orders.mode", error))?,
            placement: row.placement.parse().map_err(|error| corrupt("orders.placement", error))?,
            state: StateColumns {
                status: &row.status,
                cod_status: &row.cod_status,
                picked_up: row.picked_up,
                payment_type: &row.payment_type,
                after_failure: row.after_failure.as_ref(),
            }
            .try_into()?,
            details: row.details.into(),
            updated_at: row.updated_at,
        })
    }
}

/// Locks the orders that are not erased until the transaction ends. Sorted by id, so that two erasures cannot deadlock.
async fn lock(
    conn: &mut AsyncPgConnection,
    keys: &[(BusinessId, OrderId)],
) -> Result<Vec<Erasable>, StoreError> {
    let rows: Vec<Row> = orders::table
        .filter(with_keys(keys.iter().map(|(business, order)| (*order, *business))))
        .filter(not_erased())
        .order(orders::id)
        .select(Row::as_select())
        .for_update()
        .load(conn)
        .await?;
    rows.into_iter().map(Erasable::try_from).collect()
}

/// `updated_at` is unchanged, because the delivery did not change.
const ERASE: &str = "
    UPDATE orders
    SET details = erased.details, driver = NULL, reason = NULL, fingerprint = $5, meaning = NULL,
        personal_data_erased_at = $4
    FROM unnest($1, $2, $3) AS erased (id, business_id, details)
    WHERE orders.id = erased.id AND orders.business_id = erased.business_id
        AND orders.personal_data_erased_at IS NULL";

const ERASE_EVENTS: &str = "
    UPDATE order_events
    SET data = data - $3, personal_data_erased_at = $4
    FROM unnest($1, $2) AS erased (order_id, business_id)
    WHERE order_events.order_id = erased.order_id AND order_events.business_id = erased.business_id
        AND order_events.data ?| $3";

const ERASE_REPORTS: &str = "
    UPDATE fleet_reports
    SET fingerprint = $3
    FROM unnest($1, $2) AS erased (order_id, business_id)
    WHERE fleet_reports.order_id = erased.order_id AND fleet_reports.business_id = erased.business_id";

/// Erases the personal data of these orders in all tables. The caller holds their locks.
pub async fn erase(
    conn: &mut AsyncPgConnection,
    erasable: &[Erasable],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    if erasable.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = erasable.iter().map(|order| order.id.to_string()).collect();
    let businesses: Vec<String> = erasable.iter().map(|order| order.business_id.to_string()).collect();
    let details: Vec<Value> = erasable.iter().map(|order| without_personal_data(&order.details)).collect();
    let erased = statement(ERASE)
        .bind::<Array<Text>, _>(&ids)
        .bind::<Array<Text>, _>(&businesses)
        .bind::<Array<Jsonb>, _>(details)
        .bind::<Nullable<Timestamptz>, _>(now)
        .bind::<Binary, _>(Fingerprint::ERASED.as_bytes())
        .execute(conn)
        .await?;
    if erased != erasable.len() {
        return Err(StoreError::Corrupt("erased an order without its lock".into()));
    }
    statement(ERASE_EVENTS)
        .bind::<Array<Text>, _>(&ids)
        .bind::<Array<Text>, _>(&businesses)
        .bind::<Array<Text>, _>(events::ProgressData::PERSONAL.as_slice())
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    statement(ERASE_REPORTS)
        .bind::<Array<Text>, _>(&ids)
        .bind::<Array<Text>, _>(&businesses)
        .bind::<Binary, _>(Fingerprint::ERASED.as_bytes())
        .execute(conn)
        .await?;
    Ok(())
}

/// Locks the orders that are not erased, and splits them into those that the scope includes and the rest.
pub async fn lock_in(
    conn: &mut AsyncPgConnection,
    keys: &[(BusinessId, OrderId)],
    scope: Scope,
) -> Result<(Vec<Erasable>, Vec<Erasable>), StoreError> {
    let locked = lock(conn, keys).await?;
    Ok(locked.into_iter().partition(|order| scope.includes(order)))
}
