//! Queries for operators and home pages: orders of any business, and the activity of a business.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, DeliveryStatus, Mode, OrderId, TrackingCode};
use postgres::statement;

use super::pages::PageInPortions;
use super::predicates::{live, placed};
use super::rows::OrderRow;
use super::schema::orders;
use super::{StoreError, corrupt};
use crate::domain::{
    Activity, BusinessActivity, FoundOrders, LiveOrders, LiveOrdersQuery, OpenOrders, RecentOrders,
    searched_id,
};

/// Visits each business along the index of references. An index by reference alone would slow down each new order, for
/// a rare query of operators.
const BY_REFERENCE: &str = "
    WITH RECURSIVE businesses AS (
        (SELECT business_id FROM orders ORDER BY business_id LIMIT 1)
        UNION ALL
        SELECT (
            SELECT next.business_id FROM orders AS next
            WHERE next.business_id > businesses.business_id ORDER BY next.business_id LIMIT 1)
        FROM businesses WHERE businesses.business_id IS NOT NULL)
    SELECT found.id
    FROM businesses
    CROSS JOIN LATERAL (
        SELECT orders.id FROM orders
        WHERE orders.business_id = businesses.business_id AND orders.mode = ANY ('{test,live}')
            AND normalize(orders.order_reference) = normalize($1) AND orders.placement = 'placed') AS found
    ORDER BY found.id DESC LIMIT $2";

const ACTIVITY: &str = "
    SELECT
        (SELECT created_at FROM orders WHERE business_id = $1 AND mode = $2 AND placement = 'placed'
            ORDER BY id DESC LIMIT 1) AS last_at,
        (SELECT count(*) FROM (
            SELECT FROM orders WHERE business_id = $1 AND mode = $2 AND placement = 'placed' AND id >= $3
            LIMIT $4) AS recent) AS recent,
        (SELECT count(*) FROM (
            SELECT FROM orders WHERE placement = 'pending_payment' AND business_id = $1 AND mode = $2
            LIMIT $4) AS pending) AS pending";

const RECENT: &str = "
    SELECT status, count(*) FILTER (WHERE id >= $2) AS today, count(*) AS in_period
    FROM (
        SELECT id, status FROM orders
        WHERE business_id = $1 AND mode = 'live' AND placement = 'placed' AND id >= $3
        ORDER BY id DESC LIMIT $4) AS recent
    GROUP BY status ORDER BY status";

const OF_BUSINESSES: &str = "
    SELECT given.id AS business_id,
        (SELECT created_at FROM orders WHERE business_id = given.id AND mode = 'live' AND placement = 'placed'
            ORDER BY id DESC LIMIT 1) AS last_at,
        (SELECT count(*) FROM (
            SELECT FROM orders WHERE business_id = given.id AND mode = 'live' AND placement = 'placed' AND id >= $2
            LIMIT $3) AS counted) AS recent
    FROM unnest($1) AS given (id)";

/// Each part reads a range of `orders_by_state`.
const OPEN: &str = "
    SELECT
        (SELECT count(*) FROM (
            SELECT FROM orders WHERE business_id = $1 AND mode = 'live' AND placement = 'placed'
                AND status IN ('created', 'driver_assigned', 'picked_up', 'out_for_delivery')
            LIMIT $2) AS found) AS on_their_way,
        (SELECT count(*) FROM (
            SELECT FROM orders WHERE business_id = $1 AND mode = 'live' AND placement = 'placed'
                AND status = 'failed' AND picked_up
            LIMIT $2) AS found) AS failed,
        (SELECT count(*) FROM (
            SELECT FROM orders WHERE business_id = $1 AND mode = 'live' AND placement = 'placed'
                AND status = 'delivered' AND cod_status IN ('pending', 'collected', 'handed_over')
            LIMIT $2) AS found) AS cash";

#[derive(QueryableByName)]
struct BusinessRow {
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    last_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = BigInt)]
    recent: i64,
}

#[derive(QueryableByName)]
struct RecentRow {
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = BigInt)]
    today: i64,
    #[diesel(sql_type = BigInt)]
    in_period: i64,
}

#[derive(QueryableByName)]
struct OpenRow {
    #[diesel(sql_type = BigInt)]
    on_their_way: i64,
    #[diesel(sql_type = BigInt)]
    failed: i64,
    #[diesel(sql_type = BigInt)]
    cash: i64,
}

#[derive(QueryableByName)]
struct Id {
    #[diesel(sql_type = Text)]
    id: String,
}

#[derive(QueryableByName)]
struct ActivityRow {
    #[diesel(sql_type = Nullable<Timestamptz>)]
    last_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = BigInt)]
    recent: i64,
    #[diesel(sql_type = BigInt)]
    pending: i64,
}

/// The orders of all businesses with exactly this id, tracking code or reference.
pub async fn with_code(
    conn: &mut AsyncPgConnection,
    text: &str,
    max: i64,
) -> Result<Vec<OrderId>, StoreError> {
    let found: Vec<Id> =
        statement(BY_REFERENCE).bind::<Text, _>(text).bind::<BigInt, _>(max).load(conn).await?;
    let mut ids: Vec<String> = found.into_iter().map(|found| found.id).collect();
    if let Some(id) = searched_id(text) {
        ids.push(id.to_string());
    }
    if let Ok(code) = TrackingCode::from_user_input(text) {
        let by_code = orders::table.filter(orders::tracking_code.eq(code.as_str().to_owned()));
        ids.extend(by_code.select(orders::id).load::<String>(conn).await?);
    }
    ids.into_iter().map(|id| id.parse().map_err(|error| corrupt("orders.id", error))).collect()
}

/// A page of the placed ones of these orders of any business, newest first.
pub async fn of_any_business(
    conn: &mut AsyncPgConnection,
    ids: &[OrderId],
    limit: usize,
) -> Result<FoundOrders, StoreError> {
    let mut page = PageInPortions::of(limit);
    while let Some((size, last)) = page.next() {
        let before = last.map_or(OrderId::MAX, |last| last.id);
        let ids: Vec<String> = ids.iter().map(OrderId::to_string).collect();
        let query = orders::table
            .filter(orders::id.eq_any(ids))
            .filter(orders::id.lt(before.to_string()))
            .filter(placed())
            .order(orders::id.desc())
            .limit(size)
            .select(OrderRow::as_select());
        page.add(query.load_stream(conn).await?).await?;
    }
    Ok(page.found())
}

/// Counts recent orders, placed since `since`, and pending ones, each up to `max`.
pub async fn activity(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    mode: Mode,
    since: DateTime<Utc>,
    max: i64,
) -> Result<Activity, StoreError> {
    let ActivityRow { last_at, recent, pending } = statement(ACTIVITY)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(mode.as_str())
        .bind::<Text, _>(OrderId::first_of(since).to_string())
        .bind::<BigInt, _>(max)
        .get_result(conn)
        .await?;
    Ok(Activity { last_at, recent, pending })
}

/// Counts the live orders of a business, each kind up to `max`, and of the recent orders the newest `max`.
pub async fn live_orders(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    query: &LiveOrdersQuery,
) -> Result<LiveOrders, StoreError> {
    let last_at = orders::table
        .filter(orders::business_id.eq(business.to_string()))
        .filter(live())
        .filter(placed())
        .order(orders::id.desc())
        .select(orders::created_at)
        .first(conn)
        .await
        .optional()?;
    let rows: Vec<RecentRow> = statement(RECENT)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(OrderId::first_of(query.today_since).to_string())
        .bind::<Text, _>(OrderId::first_of(query.period_since).to_string())
        .bind::<BigInt, _>(query.max)
        .load(conn)
        .await?;
    let recent = |row: RecentRow| {
        let status = row.status.parse::<DeliveryStatus>().map_err(|error| corrupt("orders.status", error))?;
        Ok(RecentOrders { status, today: row.today, in_period: row.in_period })
    };
    let by_status = rows.into_iter().map(recent).collect::<Result<_, StoreError>>()?;
    Ok(LiveOrders { last_at, by_status })
}

/// Counts the live orders of each kind up to `max`.
pub async fn open_orders(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    max: i64,
) -> Result<OpenOrders, StoreError> {
    let OpenRow { on_their_way, failed, cash } =
        statement(OPEN).bind::<Text, _>(business.to_string()).bind::<BigInt, _>(max).get_result(conn).await?;
    Ok(OpenOrders { on_their_way, failed, cash })
}

/// The live orders of each of these businesses since `since`, up to `max`.
pub async fn activity_of(
    conn: &mut AsyncPgConnection,
    businesses: &[BusinessId],
    since: DateTime<Utc>,
    max: i64,
) -> Result<Vec<BusinessActivity>, StoreError> {
    let ids: Vec<String> = businesses.iter().map(BusinessId::to_string).collect();
    let rows: Vec<BusinessRow> = statement(OF_BUSINESSES)
        .bind::<Array<Text>, _>(ids)
        .bind::<Text, _>(OrderId::first_of(since).to_string())
        .bind::<BigInt, _>(max)
        .load(conn)
        .await?;
    let activity = |row: BusinessRow| {
        let business = row.business_id.parse::<BusinessId>();
        let business = business.map_err(|error| corrupt("orders.business_id", error))?;
        Ok(BusinessActivity { business, recent: row.recent, last_at: row.last_at })
    };
    rows.into_iter().map(activity).collect()
}
