//! Endpoints and their businesses.

use chrono::TimeDelta;
use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use super::one_more_than;
use crate::domain::{ENDPOINTS_MAX, Endpoint, EndpointsSummary, summary};
use crate::state::State;
use crate::store;

pub(crate) use crate::store::FailingEndpoint;

/// One more than `limit`. None if `after` is not in the list.
pub(crate) async fn endpoints(
    state: &State,
    business: BusinessId,
    after: Option<EndpointId>,
    limit: usize,
) -> Result<Option<Vec<Endpoint>>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            if let Some(after) = after
                && store::find_endpoint(conn, business, after).await?.is_none()
            {
                return Ok(None);
            }
            store::list_endpoints(conn, business, after, one_more_than(limit)).await.map(Some)
        })
        .await
}

pub(crate) async fn endpoint(
    state: &State,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<Option<Endpoint>, StoreError> {
    state.unit.database.read(async |conn| store::find_endpoint(conn, business, endpoint).await).await
}

pub(crate) async fn endpoints_summary(
    state: &State,
    business: BusinessId,
) -> Result<EndpointsSummary, StoreError> {
    let list = async |conn: &mut _| store::list_endpoints(conn, business, None, ENDPOINTS_MAX).await;
    let endpoints = state.unit.database.read(list).await?;
    Ok(summary(&endpoints.into_iter().map(|endpoint| endpoint.facts).collect::<Vec<_>>()))
}

/// Businesses with an endpoint, after this id: one more than `limit`.
pub(crate) async fn businesses(
    state: &State,
    after: &str,
    limit: usize,
) -> Result<Vec<BusinessId>, StoreError> {
    let list = async |conn: &mut _| store::businesses_with_endpoints(conn, after, one_more_than(limit)).await;
    state.unit.database.read(list).await
}

/// Endpoints of all businesses whose attempts all fail, the longest first. Those that are disabled are not among them.
pub(crate) async fn failing_endpoints(state: &State, limit: i64) -> Result<Vec<FailingEndpoint>, StoreError> {
    let list = async |conn: &mut _| store::failing_endpoints(conn, TimeDelta::zero(), limit).await;
    state.unit.database.read(list).await
}

/// The number of endpoints with a secret that no configured key decrypts.
pub(crate) async fn endpoints_with_unreadable_secrets(state: &State) -> Result<i64, StoreError> {
    let keys = state.secrets.key_ids();
    state.unit.database.read(async |conn| store::count_secrets_of_other_keys(conn, &keys).await).await
}
