//! Makes the open pages of a business refresh, on all instances.

use domain::{BusinessId, EventId};
use events::{Body, Envelope};
use messaging::Outgoing;

use crate::state::State;

/// Not by the outbox, which would cost each change a second transaction: a lost signal does no harm, because pages read everything
/// again when their stream or the consumer of this instance connects.
pub(crate) fn publish_portal_change(state: &State, business: BusinessId) {
    state.status_streams.signal(business);
    let changed = Envelope {
        id: EventId::generate(&state.unit.clock, &state.unit.entropy),
        business_id: business,
        occurred_at: state.unit.clock.now(),
        body: Body::PortalChanged {},
    };
    let publisher = state.publisher.clone();
    state.background.spawn(async move {
        let published = match Outgoing::of(&changed) {
            Ok(message) => publisher.publish(&[message]).await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = published {
            tracing::info!(error, business_id = %business, "publishing a change failed: pages on other instances do not refresh");
        }
    });
}
