//! Claims due deliveries. Serves all businesses.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, EventId, EventKind, Mode, OrderId, WebhookDeliveryId};
use postgres::{StoreError, statement};
use telemetry::TraceContext;

use super::corrupt;
use super::leases::{is_free, lease_end};
use super::secrets::SecretColumns;
use crate::domain::EncryptedSecrets;

/// What one claim asks for.
pub(crate) struct ClaimRequest<'a> {
    pub mode: Mode,
    pub token: i64,
    pub asks: &'a [Ask],
    /// Deliveries that this process is still sending, although their leases may have expired.
    pub excluded: &'a [WebhookDeliveryId],
}

/// An endpoint that may have due deliveries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub endpoint: EndpointId,
    pub business: BusinessId,
    /// How many deliveries at most.
    pub room: i64,
    /// How many webhooks this process is sending to it.
    pub in_flight: i64,
    /// Only the preferred instance probes a half-open breaker.
    pub is_preferred: bool,
    /// Where to begin to look; none for the first.
    pub since: Option<DateTime<Utc>>,
}

/// A delivery with everything that its attempt needs.
pub(crate) struct ClaimedDelivery {
    pub id: WebhookDeliveryId,
    pub business_id: BusinessId,
    pub endpoint_id: EndpointId,
    pub event_id: EventId,
    pub kind: EventKind,
    pub mode: Mode,
    /// The order of the event.
    pub order_id: Option<OrderId>,
    /// Set if the delivery is part of its order's queue.
    pub queue_order: Option<OrderId>,
    pub token: i64,
    /// The number of the next attempt.
    pub number: i32,
    /// The same, counted from the latest start of the retry schedule.
    pub number_in_schedule: i32,
    /// From another process whose lease expired: the receiver may already have the webhook.
    pub taken_over: bool,
    /// Whether the endpoint still subscribes to such events, or its owner requested this one.
    pub is_wanted: bool,
    /// The endpoint's own rate limit.
    pub max_per_second: Option<i32>,
    pub url: String,
    pub secrets: EncryptedSecrets,
    pub body: Vec<u8>,
    pub occurred_at: DateTime<Utc>,
    pub trace: Option<TraceContext>,
}

/// Locks the oldest due deliveries of these endpoints, as many of each as are asked for. Which endpoints are asked, and for how
/// many, was decided before. A half-open breaker gets one probe.
const CLAIM: &str = concat!(
    "
WITH open AS (
    SELECT endpoints.id, asked.since, CASE
        WHEN health.tripped_until IS NULL THEN asked.room
        WHEN asked.preferred THEN 1 - asked.in_flight
        ELSE 0 END AS room
    FROM unnest($1, $2, $3, $4, $5, $6) AS asked (endpoint_id, business_id, room, in_flight, preferred, since)
    JOIN endpoints ON endpoints.id = asked.endpoint_id AND endpoints.business_id = asked.business_id
    JOIN endpoint_health AS health
        ON health.endpoint_id = endpoints.id AND health.business_id = endpoints.business_id
    WHERE NOT endpoints.paused AND endpoints.deleted_at IS NULL AND health.disabled_at IS NULL
      AND (health.tripped_until IS NULL OR health.tripped_until <= statement_timestamp())
),
locked AS (
    SELECT due.*
    FROM open
    CROSS JOIN LATERAL (
        SELECT id, business_id, due_at, lease_token IS NOT NULL AS taken_over, requested_by
        FROM deliveries
        WHERE endpoint_id = open.id AND mode = $7 AND due_at >= coalesce(open.since, '-infinity')
          AND due_at <= statement_timestamp() AND id <> ALL ($9) AND ",
    is_free!(),
    "
        ORDER BY due_at, id
        LIMIT open.room
        FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE open.room > 0
)
UPDATE deliveries
SET lease_token = $8, requested_by = NULL, lease_until = ",
    lease_end!(),
    "
FROM locked, events, endpoints
WHERE deliveries.id = locked.id AND deliveries.business_id = locked.business_id
    AND events.event_id = deliveries.event_id AND events.business_id = deliveries.business_id
    AND endpoints.id = deliveries.endpoint_id AND endpoints.business_id = deliveries.business_id
RETURNING locked.taken_over, locked.due_at, deliveries.id, deliveries.business_id, deliveries.endpoint_id,
    deliveries.event_id, deliveries.kind, deliveries.order_id, deliveries.in_turn, deliveries.attempts,
    deliveries.earlier_attempts,
    (NOT deliveries.in_turn OR coalesce(locked.requested_by = 'redelivery', false)
        OR (deliveries.kind = ANY (endpoints.events) AND events.mode = ANY (endpoints.modes))) AS wanted,
    events.body, events.occurred_at, events.traceparent, events.tracestate,
    endpoints.max_per_second, endpoints.url, endpoints.secret_ciphertext, endpoints.secret_key_id,
    endpoints.next_secret_ciphertext, endpoints.next_secret_key_id, endpoints.next_secret_from
"
);

#[derive(QueryableByName)]
struct ClaimedRow {
    #[diesel(sql_type = Bool)]
    taken_over: bool,
    #[diesel(sql_type = Timestamptz)]
    due_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Text)]
    event_id: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Nullable<Text>)]
    order_id: Option<String>,
    #[diesel(sql_type = Bool)]
    in_turn: bool,
    #[diesel(sql_type = Integer)]
    attempts: i32,
    #[diesel(sql_type = Integer)]
    earlier_attempts: i32,
    #[diesel(sql_type = Bool)]
    wanted: bool,
    #[diesel(sql_type = Binary)]
    body: Vec<u8>,
    #[diesel(sql_type = Timestamptz)]
    occurred_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    traceparent: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    tracestate: Option<String>,
    #[diesel(sql_type = Nullable<Integer>)]
    max_per_second: Option<i32>,
    #[diesel(sql_type = Text)]
    url: String,
    #[diesel(embed)]
    secrets: SecretColumns,
}

impl ClaimedRow {
    fn into_claimed(self, mode: Mode, token: i64) -> Result<ClaimedDelivery, StoreError> {
        let order = self.order_id.map(|id| id.parse()).transpose().map_err(corrupt)?;
        let tracestate = self.tracestate;
        Ok(ClaimedDelivery {
            id: self.id.parse().map_err(corrupt)?,
            business_id: self.business_id.parse().map_err(corrupt)?,
            endpoint_id: self.endpoint_id.parse().map_err(corrupt)?,
            event_id: self.event_id.parse().map_err(corrupt)?,
            kind: self.kind.parse().map_err(corrupt)?,
            mode,
            order_id: order,
            queue_order: order.filter(|_| self.in_turn),
            token,
            number: self.attempts + 1,
            number_in_schedule: self.attempts - self.earlier_attempts + 1,
            taken_over: self.taken_over,
            is_wanted: self.wanted,
            max_per_second: self.max_per_second,
            url: self.url,
            secrets: self.secrets.into(),
            body: self.body,
            occurred_at: self.occurred_at,
            trace: self.traceparent.map(|traceparent| TraceContext { traceparent, tracestate }),
        })
    }
}

/// Returns each delivery with its due time. One statement, so it is its own short transaction.
pub(crate) async fn claim(
    conn: &mut AsyncPgConnection,
    claim: &ClaimRequest<'_>,
) -> Result<Vec<(ClaimedDelivery, DateTime<Utc>)>, StoreError> {
    let asks = || claim.asks.iter();
    let excluded: Vec<String> = claim.excluded.iter().map(ToString::to_string).collect();
    let rows: Vec<ClaimedRow> = statement(CLAIM)
        .bind::<Array<Text>, _>(Vec::from_iter(asks().map(|ask| ask.endpoint.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(asks().map(|ask| ask.business.to_string())))
        .bind::<Array<BigInt>, _>(Vec::from_iter(asks().map(|ask| ask.room)))
        .bind::<Array<BigInt>, _>(Vec::from_iter(asks().map(|ask| ask.in_flight)))
        .bind::<Array<Bool>, _>(Vec::from_iter(asks().map(|ask| ask.is_preferred)))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(asks().map(|ask| ask.since)))
        .bind::<Text, _>(claim.mode.as_str())
        .bind::<BigInt, _>(claim.token)
        .bind::<Array<Text>, _>(excluded)
        .load(conn)
        .await?;
    let claimed = |row: ClaimedRow| Ok((row.due_at, row.into_claimed(claim.mode, claim.token)?));
    rows.into_iter().map(claimed).map(|one| one.map(|(due_at, delivery)| (delivery, due_at))).collect()
}
