//! Queries that help operators to support businesses.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Mode, OrderId};
use outbox::Unit;
use postgres::StoreError;

use super::orders::ListError;
use crate::domain::{
    Activity, BusinessActivity, FoundOrders, LiveOrders, LiveOrdersQuery, OpenOrders, Order, OrderFilter,
    TestedRetries, is_code_of, is_to_city,
};
use crate::page_slots::Reader;
use crate::state::State;
use crate::store::{retry_tests, search, support};

/// The activity of a business in live and in test mode. Counts recent orders since `since`, up to `max`.
pub async fn activity(
    state: &State,
    business: BusinessId,
    since: DateTime<Utc>,
    max: i64,
) -> Result<(Activity, Activity), StoreError> {
    let read = async |conn: &mut _| -> Result<_, StoreError> {
        let live = support::activity(conn, business, Mode::Live, since, max).await?;
        let test = support::activity(conn, business, Mode::Test, since, max).await?;
        Ok((live, test))
    };
    state.unit.database.read(read).await
}

/// The live orders of each of these businesses since `since`, up to `max`.
pub async fn activity_of(
    state: &State,
    businesses: &[BusinessId],
    since: DateTime<Utc>,
    max: i64,
) -> Result<Vec<BusinessActivity>, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| support::activity_of(conn, businesses, since, max).await).await
}

pub async fn live_orders(
    state: &State,
    business: BusinessId,
    query: &LiveOrdersQuery,
) -> Result<LiveOrders, StoreError> {
    state.unit.database.read(async |conn| support::live_orders(conn, business, query).await).await
}

/// What keeps a business from being closed; each kind is counted up to `max`.
pub async fn open_orders(state: &State, business: BusinessId, max: i64) -> Result<OpenOrders, StoreError> {
    state.unit.database.read(async |conn| support::open_orders(conn, business, max).await).await
}

pub async fn tested_retries(state: &State, business: BusinessId) -> Result<TestedRetries, StoreError> {
    state.unit.database.read(async |conn| retry_tests::find(conn, business).await).await
}

/// The placed orders of all businesses with exactly this id, tracking code or reference, newest first.
pub async fn find_anywhere(unit: &Unit, text: &str, max: usize) -> Result<Vec<Order>, StoreError> {
    let find = async |conn: &mut AsyncPgConnection| -> Result<_, StoreError> {
        let mut ids = support::with_code(conn, text, i64::try_from(max).unwrap_or(i64::MAX)).await?;
        let mut found: Vec<Order> = Vec::new();
        loop {
            let page = support::of_any_business(conn, &ids, max.saturating_sub(found.len())).await?;
            found.extend(page.orders);
            if !page.has_more || found.len() >= max {
                return Ok(found);
            }
            ids.retain(|id| found.iter().all(|order| order.id != *id));
        }
    };
    unit.database.read(find).await
}

/// The placed orders of all businesses that a search text finds, in a status and created in a period, if given; without a text, all
/// of them. The first page begins with the exact matches, which no later page repeats; the others follow from the newest on.
pub async fn search_anywhere(
    state: &State,
    text: &str,
    filter: &OrderFilter,
    after: Option<OrderId>,
    limit: usize,
) -> Result<FoundOrders, ListError> {
    let _slot = state.page_slots.enter(Reader::Operator).await?;
    let database = &state.unit.database;
    let max = i64::try_from(limit + 1).unwrap_or(i64::MAX);
    let mut created = filter.created_ids();
    let read = async |conn: &mut AsyncPgConnection| -> Result<_, StoreError> {
        let mut ids = support::with_code(conn, text, max).await?;
        ids.retain(|id| created.contains(id));
        support::of_any_business(conn, &ids, limit).await
    };
    // As many as a page has room for. The others follow as matches of the words.
    let FoundOrders { orders: mut exact, has_more: others_follow, .. } = database.read(read).await?;
    created.end = after.map_or(created.end, |after| created.end.min(after));
    let (status, wanted) = (filter.status, limit + 1 + exact.len());
    let is_named = exact.iter().any(|order| is_code_of(text, order));
    let find = async |conn: &mut _| {
        if is_named {
            return Ok(search::Found::default());
        }
        search::find_anywhere(conn, text, status, &created, wanted).await
    };
    let mut others = match database.transaction(find).await {
        Ok(found) => found,
        // An exact id, code or reference is found also if its words are frequent.
        Err(error) if error.is_timeout() && !exact.is_empty() && !others_follow && after.is_none() => {
            search::Found::default()
        }
        Err(error) => return Err(ListError::of_search(error)),
    };
    others.ids.retain(|id| exact.iter().all(|order| order.id != *id));
    if after.is_some() {
        exact.clear();
    }
    exact.retain(|order| status.is_none_or(|status| order.state.status == status));
    let rest = limit.saturating_sub(exact.len());
    let ids: Vec<OrderId> = others.ids.into_iter().collect();
    let read = async |conn: &mut _| support::of_any_business(conn, &ids, rest).await;
    let mut page = database.read(read).await?;
    if page.has_more {
        // After a page of exact matches, whose ids say nothing about the others.
        page.continue_after = page.orders.is_empty().then_some(created.end);
    } else {
        page.has_more = others.continue_after.is_some();
        page.continue_after = others.continue_after;
    }
    page.orders.splice(..0, exact);
    Ok(page)
}

/// Leaves out orders to other cities. The page may be short then.
pub fn only_to(city: &str, mut page: FoundOrders) -> FoundOrders {
    if page.has_more && page.continue_after.is_none() {
        page.continue_after = page.orders.last().map(|order| order.id);
    }
    page.orders.retain(|order| is_to_city(order, city));
    page
}
