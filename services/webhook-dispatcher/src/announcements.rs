//! What others hear of endpoints in trouble: their business is mailed. Written with the change that it tells of.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Clock, EndpointId, Entropy, EventId};
use events::{Body, EndpointDisabled, EndpointFailing, Envelope};
use postgres::StoreError;

/// An endpoint that its owners are to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub endpoint_id: EndpointId,
    pub business_id: BusinessId,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// So much of the time has passed that it may only fail.
    Failing {
        percent: i32,
    },
    Disabled {
        reason: String,
    },
}

/// Within the caller's transaction. The relay looks often enough by itself.
pub(crate) async fn announce(
    conn: &AsyncPgConnection,
    (clock, entropy): (&Clock, &Entropy),
    troubles: Vec<Trouble>,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let envelopes: Vec<Envelope> = troubles
        .into_iter()
        .map(|trouble| Envelope {
            id: EventId::generate(clock, entropy),
            business_id: trouble.business_id,
            occurred_at: at,
            body: body(trouble.endpoint_id, trouble.what),
        })
        .collect();
    outbox::enqueue(conn, &envelopes, at).await
}

fn body(endpoint_id: EndpointId, what: What) -> Body {
    match what {
        What::Failing { percent } => Body::EndpointFailing(EndpointFailing { endpoint_id, percent }),
        What::Disabled { reason } => Body::EndpointDisabled(EndpointDisabled { endpoint_id, reason }),
    }
}
