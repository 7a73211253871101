//! Placed orders.

use chrono::{DateTime, Utc};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Mode, OrderId, Paise, TrackingCode};

use super::StoreError;
use super::corrupt;
use super::fleet::changed_at;
use super::pages::PageInPortions;
use super::predicates::{has_reference, placed};
use super::rows::{OrderRow, after_failure};
use super::schema::orders;
use crate::domain::{AcceptedOrder, ChangePosition, FoundOrders, ListStart, Order, OrderFilter, searched_id};

/// An order of a business, in `mode` if given.
pub async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    mode: Option<Mode>,
    id: OrderId,
) -> Result<Option<Order>, StoreError> {
    let mut query = orders::table
        .filter(orders::id.eq(id.to_string()))
        .filter(orders::business_id.eq(business.to_string()))
        .filter(placed())
        .into_boxed();
    if let Some(mode) = mode {
        query = query.filter(orders::mode.eq(mode.as_str()));
    }
    let row = query.select(OrderRow::as_select()).first(conn).await.optional()?;
    row.map(Order::try_from).transpose()
}

/// Whether a business has placed a live order.
pub async fn any_live_order(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<bool, StoreError> {
    let live = orders::table
        .filter(orders::business_id.eq(business.to_string()))
        .filter(orders::mode.eq(Mode::Live.as_str()))
        .filter(placed());
    Ok(diesel::select(diesel::dsl::exists(live)).get_result(conn).await?)
}

/// A page of a business's orders.
pub async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &OrderFilter,
    start: ListStart,
    limit: usize,
) -> Result<FoundOrders, StoreError> {
    let mut page = PageInPortions::of(limit);
    while let Some((size, last)) = page.next() {
        let start = last.map_or(start, |last| start.at(last));
        let query = after(start, filtered(business, filter)).limit(size).select(OrderRow::as_select());
        page.add(query.load_stream(conn).await?).await?;
    }
    Ok(page.found())
}

fn after(start: ListStart, filtered: orders::BoxedQuery<'static, Pg>) -> orders::BoxedQuery<'static, Pg> {
    match start {
        ListStart::Newest(None) => filtered.order(orders::id.desc()),
        ListStart::Newest(Some(after)) => {
            filtered.filter(orders::id.lt(after.to_string())).order(orders::id.desc())
        }
        ListStart::Changed(None) => filtered.order((orders::updated_at, orders::id)),
        ListStart::Changed(Some(ChangePosition { updated_at, id })) => {
            let later = orders::updated_at.gt(updated_at);
            let same = orders::updated_at.eq(updated_at).and(orders::id.gt(id.to_string()));
            // The first filter is redundant: PostgreSQL starts an index scan only at a plain comparison.
            let query = filtered.filter(orders::updated_at.ge(updated_at)).filter(later.or(same));
            query.order((orders::updated_at, orders::id))
        }
    }
}

fn filtered(business: BusinessId, filter: &OrderFilter) -> orders::BoxedQuery<'static, Pg> {
    let mut query =
        orders::table.filter(orders::business_id.eq(business.to_string())).filter(placed()).into_boxed();
    if let Some(mode) = filter.mode {
        query = query.filter(orders::mode.eq(mode.as_str()));
    }
    if let Some(reference) = &filter.order_reference {
        query = query.filter(has_reference(reference));
    }
    if let Some(code) = &filter.tracking_code {
        query = query.filter(orders::tracking_code.eq(code.to_string()));
    }
    if let Some(status) = filter.status {
        query = query.filter(orders::status.eq(status.as_str()));
    }
    if let Some(cod_status) = filter.cod_status {
        query = query.filter(orders::cod_status.eq(cod_status.as_str()));
    }
    if let Some(payment_type) = filter.payment_type {
        query = query.filter(orders::payment_type.eq(payment_type.as_str()));
    }
    // Ids sort by the time of creation.
    if let Some(time) = filter.created_from {
        query = query.filter(orders::id.ge(OrderId::first_of(time).to_string()));
    }
    if let Some(time) = filter.created_until {
        query = query.filter(orders::id.lt(OrderId::first_of(time).to_string()));
    }
    if let Some(time) = filter.updated_after {
        query = query.filter(orders::updated_at.gt(time));
    }
    if let Some(among) = &filter.among {
        query = query.filter(orders::id.eq_any(among.iter().map(OrderId::to_string).collect::<Vec<_>>()));
    }
    query
}

/// The orders of a business with exactly this id, tracking code or reference: at most four, because references are
/// unique in each mode. One query for each of the three, because each has an index of its own.
pub async fn with_code(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    text: &str,
) -> Result<Vec<OrderId>, StoreError> {
    let of_business = || orders::table.filter(orders::business_id.eq(business.to_string())).filter(placed());
    let mut found: Vec<String> = of_business()
        .filter(orders::mode.eq_any([Mode::Test.as_str(), Mode::Live.as_str()]))
        .filter(has_reference(text))
        .select(orders::id)
        .load(conn)
        .await?;
    if let Some(id) = searched_id(text) {
        let by_id = of_business().filter(orders::id.eq(id.to_string())).select(orders::id);
        found.extend(by_id.load::<String>(conn).await?);
    }
    if let Ok(code) = TrackingCode::from_user_input(text) {
        let by_code = of_business().filter(orders::tracking_code.eq(code.as_str().to_owned()));
        found.extend(by_code.select(orders::id).load::<String>(conn).await?);
    }
    found.into_iter().map(|id| id.parse().map_err(|error| corrupt("orders.id", error))).collect()
}

/// An order of a business in either mode, with the stored part of the request that created it.
pub async fn accepted(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: OrderId,
) -> Result<Option<AcceptedOrder>, StoreError> {
    let row: Option<(OrderRow, String, String, String)> = orders::table
        .filter(orders::id.eq(id.to_string()))
        .filter(orders::business_id.eq(business.to_string()))
        .filter(placed())
        .select((OrderRow::as_select(), orders::idempotency_key, orders::request_id, orders::key_id))
        .first(conn)
        .await
        .optional()?;
    let Some((order, idempotency_key, request_id, key_id)) = row else { return Ok(None) };
    Ok(Some(AcceptedOrder {
        order: order.try_into()?,
        idempotency_key,
        request_id: request_id.parse().map_err(|error| corrupt("orders.request_id", error))?,
        key_id: key_id.parse().map_err(|error| corrupt("orders.key_id", error))?,
    }))
}

/// The references of these orders, without orders of other businesses.
pub async fn references(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    ids: &[OrderId],
) -> Result<Vec<(OrderId, String)>, StoreError> {
    let ids: Vec<String> = ids.iter().map(OrderId::to_string).collect();
    let rows: Vec<(String, String)> = orders::table
        .filter(orders::id.eq_any(ids))
        .filter(orders::business_id.eq(business.to_string()))
        .filter(placed())
        .select((orders::id, orders::order_reference))
        .load(conn)
        .await?;
    let parsed = rows
        .into_iter()
        .map(|(id, reference)| Ok((id.parse().map_err(|error| corrupt("orders.id", error))?, reference)));
    parsed.collect()
}

/// Whether a business has placed a test order.
pub async fn any_test_order(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<bool, StoreError> {
    let query = diesel::select(diesel::dsl::exists(
        orders::table
            .filter(orders::business_id.eq(business.to_string()))
            .filter(orders::mode.eq(Mode::Test.as_str()))
            .filter(placed()),
    ));
    Ok(query.get_result(conn).await?)
}

/// The order with a tracking code, of any business: the code grants access.
pub async fn by_tracking_code(
    conn: &mut AsyncPgConnection,
    code: &TrackingCode,
) -> Result<Option<Order>, StoreError> {
    let row = orders::table
        .filter(orders::tracking_code.eq(code.as_str()))
        .filter(placed())
        .select(OrderRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Order::try_from).transpose()
}

/// Locks an order of a business until the transaction ends. Each change of an order needs this lock.
pub async fn lock(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    mode: Mode,
    id: OrderId,
) -> Result<Option<Order>, StoreError> {
    let row = orders::table
        .filter(orders::id.eq(id.to_string()))
        .filter(orders::business_id.eq(business.to_string()))
        .filter(orders::mode.eq(mode.as_str()))
        .filter(placed())
        .select(OrderRow::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()?;
    row.map(Order::try_from).transpose()
}

/// Stores a changed order, and returns the time of the change: its `updated_at` or slightly later. The caller holds the
/// lock.
pub async fn save(conn: &mut AsyncPgConnection, order: &Order) -> Result<DateTime<Utc>, StoreError> {
    let saved = diesel::update(orders::table)
        .filter(orders::id.eq(order.id.to_string()))
        .filter(orders::business_id.eq(order.business_id.to_string()))
        .filter(orders::sequence.eq(order.sequence - 1))
        .set((
            orders::status.eq(order.state.status.as_str()),
            orders::cod_status.eq(order.state.cod.as_str()),
            orders::picked_up.eq(order.state.picked_up),
            orders::sequence.eq(order.sequence),
            orders::driver.eq(&order.driver),
            orders::reason.eq(&order.reason),
            orders::after_failure.eq(after_failure(order)?),
            orders::cod_collected_paise.eq(order.cash.collected.map(Paise::get)),
            orders::cod_handed_over_paise.eq(order.cash.handed_over.map(Paise::get)),
            orders::cod_settled_paise.eq(order.cash.settled.map(Paise::get)),
            orders::updated_at.eq(changed_at(order.updated_at)),
        ))
        .returning(orders::updated_at)
        .get_result(conn)
        .await
        .optional()?;
    saved.ok_or_else(|| StoreError::Corrupt(format!("{} changed without its lock", order.id)))
}

/// Stores what the business asked for: its decision and its correction. `stored` is the sequence before it. Returns the time of
/// the change, like [`save`]. The caller holds the lock.
pub async fn save_request(
    conn: &mut AsyncPgConnection,
    order: &Order,
    stored: i64,
) -> Result<DateTime<Utc>, StoreError> {
    let saved = diesel::update(orders::table)
        .filter(orders::id.eq(order.id.to_string()))
        .filter(orders::business_id.eq(order.business_id.to_string()))
        .filter(orders::sequence.eq(stored))
        .set((
            orders::sequence.eq(order.sequence),
            orders::details.eq(&*order.details),
            orders::after_failure.eq(after_failure(order)?),
            orders::updated_at.eq(changed_at(order.updated_at)),
        ))
        .returning(orders::updated_at)
        .get_result(conn)
        .await
        .optional()?;
    saved.ok_or_else(|| StoreError::Corrupt(format!("{} changed without its lock", order.id)))
}
