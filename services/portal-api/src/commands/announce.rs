//! Announces changes of a business to the other services.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, EventId};
use events::{Body, Envelope};
use postgres::StoreError;

use crate::state::State;

/// Announces, in the transaction of the change, that the ordering rules of a business have changed.
pub(crate) async fn announce_business_change(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let id = EventId::generate(&state.unit.clock, &state.unit.entropy);
    let changed = Envelope { id, business_id: business, occurred_at: now, body: Body::BusinessChanged {} };
    state.unit.outbox.enqueue(conn, &[changed], now).await
}
