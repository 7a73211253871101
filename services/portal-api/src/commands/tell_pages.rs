//! Tells the pages of a business, at every instance, that something they show has changed through this service.

use domain::{BusinessId, EventId};
use events::{Body, Envelope};
use postgres::StoreError;

use crate::app::App;

/// The change itself is made, and its caller has an answer: that pages are told late fails nothing.
pub(crate) async fn tell_pages(app: &App, business: BusinessId) {
    app.status_changes.note(business);
    let now = app.clock.now();
    let id = EventId::generate(&app.clock, &app.entropy);
    let changed = Envelope { id, business_id: business, occurred_at: now, body: Body::PortalChanged {} };
    let told: Result<(), StoreError> = app
        .database
        .transaction(async |conn| outbox::enqueue(conn, std::slice::from_ref(&changed), now).await)
        .await;
    match told {
        Ok(()) => app.notifier.notify(),
        Err(error) => {
            tracing::warn!(%error, business_id = %business, "pages at other instances are not told of a change");
        }
    }
}
