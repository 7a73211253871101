//! Events that an endpoint did not subscribe to when their turn came, and does now.

use chrono::{DateTime, Utc};
use diesel::sql_types::{BigInt, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, EventId};
use postgres::{StoreError, statement};

/// They enter the log as if they had been called off, which a recovery sends again. An id lies in the log where its event's
/// time is; a part of it comes from the endpoint, since several endpoints can miss the same event. `POSIX` names the index.
const ADD: &str = r#"
    INSERT INTO deliveries (
        id, event_id, endpoint_id, business_id, order_id, sequence, kind, in_turn, state, attempts, earlier_attempts,
        last_error, created_at, completed_at)
    SELECT 'whd_' || substr(events.event_id, 5, 18) || upper(substr(md5($2), 1, 8)), events.event_id, $2, $1,
        events.order_id, events.sequence, events.kind, false, 'discarded', 0, 0,
        'not sent: the endpoint no longer subscribes to such events', $5, $5
    FROM events
    JOIN endpoints ON endpoints.business_id = events.business_id AND endpoints.id = $2
    WHERE events.business_id = $1 AND events.business_id COLLATE "POSIX" = $1
        AND events.event_id COLLATE "POSIX" >= $3 AND events.event_id COLLATE "POSIX" < $4
        AND events.kind = ANY (endpoints.events) AND events.mode = ANY (endpoints.modes)
        AND NOT EXISTS (
            SELECT FROM deliveries
            WHERE deliveries.event_id = events.event_id AND deliveries.endpoint_id = $2
                AND deliveries.business_id = $1)
    ORDER BY events.event_id COLLATE "POSIX"
    LIMIT $6
    ON CONFLICT DO NOTHING"#;

/// Adds the first `limit` of a span to the endpoint's log; tells how many.
pub(crate) async fn add_unsubscribed(
    conn: &mut AsyncPgConnection,
    (business, endpoint): (BusinessId, EndpointId),
    (since, until): (DateTime<Utc>, DateTime<Utc>),
    limit: i64,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    Ok(statement(ADD)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(endpoint.to_string())
        .bind::<Text, _>(EventId::first_of(since).to_string())
        .bind::<Text, _>(EventId::first_of(until).to_string())
        .bind::<Timestamptz, _>(now)
        .bind::<BigInt, _>(limit)
        .execute(conn)
        .await?)
}
