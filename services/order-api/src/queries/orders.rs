//! The orders of a business.

use std::cmp::Reverse;
use std::collections::HashMap;

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Mode, OrderId};
use postgres::StoreError;

use crate::domain::{
    AcceptedOrder, AttemptRecord, BusinessErasure, DecisionFilter, ExceptionCounts, ExceptionKind,
    FoundExceptions, FoundOrders, ListStart, Order, OrderFilter, is_code_of,
};
use crate::page_slots::Reader;
use crate::state::State;
use crate::store::{business_erasures, evidence, exceptions, orders, search, support};

/// Why a page was not read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("the search takes too long")]
    TooBroad,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ListError {
    pub(super) fn of_search(error: StoreError) -> Self {
        if error.is_timeout() { Self::TooBroad } else { Self::Store(error) }
    }
}

/// An order, in `mode` if given.
pub async fn find(
    state: &State,
    business: BusinessId,
    mode: Option<Mode>,
    id: OrderId,
) -> Result<Option<Order>, StoreError> {
    state.unit.database.read(async |conn| orders::find(conn, business, mode, id).await).await
}

pub async fn list(
    state: &State,
    business: BusinessId,
    filter: &OrderFilter,
    start: ListStart,
    limit: usize,
) -> Result<FoundOrders, ListError> {
    let _slot = state.page_slots.enter(Reader::Business(business)).await?;
    let database = &state.unit.database;
    let after = match start {
        ListStart::Newest(after) if filter.is_narrow() => after,
        _ => {
            return Ok(database
                .read(async |conn| orders::list(conn, business, filter, start, limit).await)
                .await?);
        }
    };
    let found = database.transaction(async |conn| narrow(conn, business, filter, after, limit).await).await;
    found.map_err(ListError::of_search)
}

/// Finds the orders of a page first, and reads them then. The first page begins with the exact matches, which no later page
/// repeats.
async fn narrow(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &OrderFilter,
    after: Option<OrderId>,
    limit: usize,
) -> Result<FoundOrders, StoreError> {
    let before = after.unwrap_or(OrderId::MAX);
    let mut exact = exact_matches(conn, business, filter, limit).await?;
    let mut found = if is_named(&exact, filter) {
        search::Found::default()
    } else {
        search::find(conn, business, filter, before, limit + exact.len()).await?
    };
    found.ids.retain(|id| exact.iter().all(|order| order.id != *id));
    if after.is_some() {
        exact.clear();
    }
    let among = OrderFilter { among: Some(found.ids.into_iter().collect()), ..filter.clone() };
    let rest = limit.saturating_sub(exact.len());
    let mut page = orders::list(conn, business, &among, ListStart::Newest(None), rest).await?;
    if !page.has_more {
        page.has_more = found.continue_after.is_some();
        page.continue_after = found.continue_after;
    } else if page.orders.is_empty() {
        // The exact matches fill the page.
        page.continue_after = Some(before);
    }
    page.orders.splice(..0, exact);
    Ok(page)
}

fn is_named(exact: &[Order], filter: &OrderFilter) -> bool {
    let text = filter.search.as_ref().map_or("", |search| search.text.as_str());
    exact.iter().any(|order| is_code_of(text, order))
}

/// The orders with exactly this id, tracking code or reference, also before they are indexed.
async fn exact_matches(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &OrderFilter,
    limit: usize,
) -> Result<Vec<Order>, StoreError> {
    let Some(search) = &filter.search else { return Ok(Vec::new()) };
    let ids = orders::with_code(conn, business, &search.text).await?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let among = OrderFilter { among: Some(ids), ..filter.clone() };
    Ok(orders::list(conn, business, &among, ListStart::Newest(None), limit).await?.orders)
}

/// The orders with exactly this id, tracking code or reference.
pub async fn with_code(state: &State, business: BusinessId, text: &str) -> Result<Vec<OrderId>, StoreError> {
    state.unit.database.read(async |conn| orders::with_code(conn, business, text).await).await
}

/// An order with the stored part of the request that created it.
pub async fn accepted(
    state: &State,
    business: BusinessId,
    id: OrderId,
) -> Result<Option<AcceptedOrder>, StoreError> {
    state.unit.database.read(async |conn| orders::accepted(conn, business, id).await).await
}

/// An order, in `mode` if given, with the records of its attempts, oldest first.
pub async fn with_evidence(
    state: &State,
    business: BusinessId,
    mode: Option<Mode>,
    id: OrderId,
) -> Result<Option<(Order, Vec<AttemptRecord>)>, StoreError> {
    let read = async |conn: &mut _| -> Result<_, StoreError> {
        let Some(order) = orders::find(conn, business, mode, id).await? else { return Ok(None) };
        let records = evidence::of_order(conn, business, id).await?;
        Ok(Some((order, records)))
    };
    state.unit.database.read(read).await
}

/// The references of these orders, without orders of other businesses.
pub async fn references(
    state: &State,
    business: BusinessId,
    ids: &[OrderId],
) -> Result<Vec<(OrderId, String)>, StoreError> {
    state.unit.database.read(async |conn| orders::references(conn, business, ids).await).await
}

/// Whether the business has placed a test order.
pub async fn any_test_order(state: &State, business: BusinessId) -> Result<bool, StoreError> {
    state.unit.database.read(async |conn| orders::any_test_order(conn, business).await).await
}

/// Of the orders of one kind that need attention.
const COUNTED_MAX: i64 = 1_000;
/// Orders of a page.
const EXCEPTIONS_MAX: i64 = 100;

/// The live orders of a business, or of all, that need attention: the number of each kind, up to 1,000. `area` leaves only those
/// to a city or PIN code that begins like this.
pub async fn count_exceptions(
    state: &State,
    business: Option<BusinessId>,
    area: Option<&str>,
) -> Result<ExceptionCounts, StoreError> {
    let _slot = state.page_slots.enter(business.map_or(Reader::Operator, Reader::Business)).await?;
    let deadlines = state.patience.deadlines(state.unit.clock.now());
    let count = async |conn: &mut _| exceptions::count(conn, business, area, deadlines, COUNTED_MAX).await;
    state.unit.database.read(count).await
}

/// The orders of one kind that changed last, sorted by the time since which they are in their state, newest first.
pub async fn list_exceptions(
    state: &State,
    business: Option<BusinessId>,
    area: Option<&str>,
    kind: ExceptionKind,
    decision: Option<DecisionFilter>,
) -> Result<FoundExceptions, StoreError> {
    let _slot = state.page_slots.enter(business.map_or(Reader::Operator, Reader::Business)).await?;
    let deadlines = state.patience.deadlines(state.unit.clock.now());
    let list = async |conn: &mut _| -> Result<_, StoreError> {
        let mut found =
            exceptions::list(conn, business, area, kind, decision, deadlines, EXCEPTIONS_MAX + 1).await?;
        let is_cut = i64::try_from(found.len()).is_ok_and(|found| found > EXCEPTIONS_MAX);
        found.truncate(found.len() - usize::from(is_cut));
        let ids: Vec<OrderId> = found.iter().map(|(id, _)| *id).collect();
        let listed = match business {
            Some(business) => {
                let among = OrderFilter { among: Some(ids), ..OrderFilter::default() };
                orders::list(conn, business, &among, ListStart::Newest(None), found.len()).await?
            }
            None => support::of_any_business(conn, &ids, found.len()).await?,
        };
        let since: HashMap<OrderId, _> = found.into_iter().collect();
        let with_time = |order: Order| {
            let at = since.get(&order.id).copied().unwrap_or(order.updated_at);
            (order, at)
        };
        let mut orders: Vec<_> = listed.orders.into_iter().map(with_time).collect();
        orders.sort_by_key(|(order, at)| Reverse((*at, order.id)));
        Ok(FoundExceptions { orders, has_more: listed.has_more || is_cut })
    };
    state.unit.database.read(list).await
}

/// The latest erasure of all orders of the business.
pub async fn latest_erasure(
    state: &State,
    business: BusinessId,
) -> Result<Option<BusinessErasure>, StoreError> {
    state.unit.database.read(async |conn| business_erasures::of_business(conn, business).await).await
}
