//! Notes the retries that a business tests with its Test key. A note that cannot be stored is lost: the business repeats its
//! test.

use domain::{BusinessId, OrderId, RequestId};

use crate::state::State;
use crate::store::retry_tests;

/// A request that failed, for the case that its key succeeds later.
pub async fn note_failure(state: &State, business: BusinessId, key: &str, request: RequestId) {
    let now = state.unit.clock.now();
    let add = async |conn: &mut _| retry_tests::add_failed(conn, business, key, request, now).await;
    if let Err(error) = state.unit.database.read(add).await {
        tracing::warn!(%error, business_id = %business, "noting a failed test request failed");
    }
}

/// A replay of an order.
pub async fn note_replay(state: &State, business: BusinessId, order: OrderId, request: RequestId) {
    let now = state.unit.clock.now();
    let add = async |conn: &mut _| retry_tests::add_replayed(conn, business, order, request, now).await;
    if let Err(error) = state.unit.database.read(add).await {
        tracing::warn!(%error, business_id = %business, "noting a replay failed");
    }
}
