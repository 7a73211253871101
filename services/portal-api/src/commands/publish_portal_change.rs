//! Makes the open pages of a business refresh, on all instances.

use domain::{BusinessId, EventId};
use events::{Body, Envelope};
use postgres::StoreError;

use crate::state::State;

/// A failure is only logged: the change itself is committed and answered.
pub(crate) async fn publish_portal_change(state: &State, business: BusinessId) {
    state.status_streams.signal(business);
    let now = state.unit.clock.now();
    let id = EventId::generate(&state.unit.clock, &state.unit.entropy);
    let changed = Envelope { id, business_id: business, occurred_at: now, body: Body::PortalChanged {} };
    let published: Result<(), StoreError> = state
        .unit
        .transaction(async |conn| state.unit.outbox.enqueue(conn, std::slice::from_ref(&changed), now).await)
        .await;
    if let Err(error) = published {
        tracing::warn!(%error, business_id = %business, "publishing a change failed: pages on other instances do not refresh");
    }
}
