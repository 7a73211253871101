//! Businesses.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::{BusinessId, Paise};
use postgres::StoreError;

use crate::business::domain::{Business, BusinessFilter, ListedBusiness, Standing};
use crate::business::queries::unanswered::Unanswered;
use crate::state::State;
use crate::store::{businesses, users};

pub(crate) async fn find(state: &State, business: BusinessId) -> Result<Option<Business>, StoreError> {
    state.unit.database.read(async |conn| businesses::find(conn, business).await).await
}

pub(crate) async fn standing(state: &State, business: BusinessId) -> Result<Option<Standing>, StoreError> {
    state.unit.database.read(async |conn| businesses::standing(conn, business).await).await
}

/// The operator's list. See [`businesses::list`].
pub(crate) async fn list(
    state: &State,
    limit: usize,
    after: Option<BusinessId>,
    filter: &BusinessFilter,
) -> Result<Option<Vec<ListedBusiness>>, StoreError> {
    state.unit.database.read(async |conn| businesses::list(conn, limit, after, filter).await).await
}

/// What the other services know about a business in the operator's list. `None` for a service that did not answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListedActivity {
    pub(crate) balance: Option<Paise>,
    pub(crate) recent_orders: Option<i64>,
    pub(crate) last_order_at: Option<DateTime<Utc>>,
}

/// Asks each service once for all these businesses, which are at most a page.
pub(crate) async fn activity_of(state: &State, ids: &[BusinessId]) -> HashMap<BusinessId, ListedActivity> {
    if ids.is_empty() {
        return HashMap::new();
    }
    let (balances, orders) =
        tokio::join!(state.peers.wallet.balances(ids), state.peers.orders.activity_of(ids));
    let mut unanswered = Unanswered::default();
    let balances = unanswered.unwrap("wallet", balances);
    let orders = unanswered.unwrap("order-api", orders);
    let mut of_each: HashMap<BusinessId, ListedActivity> = HashMap::new();
    if let Some(balances) = balances {
        // A business that never paid in has an empty wallet.
        for id in ids {
            of_each.entry(*id).or_default().balance = Some(Paise::ZERO);
        }
        for found in balances {
            of_each.entry(found.business_id).or_default().balance = Some(found.balance_paise);
        }
    }
    for found in orders.into_iter().flatten() {
        let of = of_each.entry(found.business_id).or_default();
        (of.recent_orders, of.last_order_at) = (Some(found.recent), found.last_at);
    }
    of_each
}

/// A business as in the operator's list, and its number of users.
pub(crate) async fn with_users(
    state: &State,
    business: BusinessId,
) -> Result<Option<(ListedBusiness, i64)>, StoreError> {
    let only = BusinessFilter { only: Some(business), ..BusinessFilter::default() };
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let found = businesses::list(conn, 1, None, &only).await?.and_then(|mut found| found.pop());
            let Some(listed) = found else { return Ok(None) };
            Ok(Some((listed, users::count(conn, business).await?)))
        })
        .await
}

/// The names of those businesses that exist.
pub(crate) async fn names(
    state: &State,
    ids: &[BusinessId],
) -> Result<Vec<(BusinessId, String)>, StoreError> {
    state.unit.database.read(async |conn| businesses::names(conn, ids).await).await
}
