//! Renews the leases of deliveries in flight, so that no other process sends them meanwhile; and the instance itself,
//! because the running ones share the rate limits.

use std::sync::Arc;

use postgres::StoreError;

use crate::state::State;

pub(crate) async fn renew_leases(state: Arc<State>) -> Result<(), StoreError> {
    state.sender.renew_leases().await
}

pub(crate) async fn renew_instance(state: Arc<State>) -> Result<(), StoreError> {
    state.sender.renew_instance().await
}
