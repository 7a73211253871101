//! Announcements go to the outbox in the transaction of the change that they report.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::EventId;
use events::{Body, EndpointDisabled, EndpointFailing, Envelope};
use outbox::Unit;
use postgres::StoreError;

use crate::domain::{AnnouncementSubject, EndpointAnnouncement};

pub(crate) async fn announce(
    conn: &AsyncPgConnection,
    Unit { clock, entropy, outbox, .. }: &Unit,
    announcements: Vec<EndpointAnnouncement>,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let envelopes: Vec<Envelope> = announcements
        .into_iter()
        .map(|announcement| Envelope {
            id: EventId::generate(clock, entropy),
            business_id: announcement.business_id,
            occurred_at: at,
            body: body(announcement),
        })
        .collect();
    outbox.enqueue(conn, &envelopes, at).await
}

fn body(EndpointAnnouncement { endpoint_id, subject, .. }: EndpointAnnouncement) -> Body {
    match subject {
        AnnouncementSubject::Failing { percent } => {
            Body::EndpointFailing(EndpointFailing { endpoint_id, percent })
        }
        AnnouncementSubject::Disabled { reason } => {
            Body::EndpointDisabled(EndpointDisabled { endpoint_id, reason })
        }
    }
}
