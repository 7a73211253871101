//! Claims due deliveries. Serves all businesses.

use std::collections::HashMap;

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
use crate::domain::{EncryptedSecrets, Slots};

/// The capacity of the claiming process.
pub(crate) struct ClaimRequest<'a> {
    pub now: DateTime<Utc>,
    pub token: i64,
    /// How many deliveries at most.
    pub room: i64,
    /// For endpoints without a rate limit of their own.
    pub per_second: i64,
    /// How many processes share the rate limits.
    pub instances: i64,
    /// The endpoints that may have due deliveries. The first are served if not all can be.
    pub asked: &'a [Asked],
    /// The slots of each business, and the free ones.
    pub held: &'a [(BusinessId, Slots)],
    pub free: Slots,
    /// Deliveries that this process is still sending, although their leases may have expired.
    pub excluded: &'a [WebhookDeliveryId],
}

/// An endpoint that may have due deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub endpoint: EndpointId,
    pub business: BusinessId,
    /// How many webhooks this process may send to it now.
    pub room: i64,
    /// How many it is sending.
    pub in_flight: i64,
    /// Where to begin to look; none for the first.
    pub due_since: Option<DateTime<Utc>>,
}

impl Asked {
    pub(crate) fn key(&self) -> (EndpointId, BusinessId) {
        (self.endpoint, self.business)
    }
}

/// The result of a claim.
pub(crate) struct Claimed {
    pub deliveries: Vec<ClaimedDelivery>,
    /// For each endpoint of these, when the first of the free deliveries that were there became due.
    pub due_since: Vec<(EndpointId, DateTime<Utc>)>,
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

/// Steps:
///
/// 1. `open`, `ready`: the asked endpoints that may receive webhooks, each with the room that its concurrency and rate
///    limit allow. An endpoint whose breaker is half open gets one probe.
/// 2. `due`: the oldest deliveries of each: twice an even share of the process's room, within the endpoint's room. If no
///    test slot is free, 16 more rows are read, so that live deliveries behind those of test mode are found. The look
///    begins at `since`, because the index keeps all earlier ones as long as an old snapshot is in use, such as a backup's.
/// 3. `of_mode`, `of_business`, `of_all`, `candidates`: businesses take turns, and so do the endpoints of a business. In
///    each round, live deliveries come before those of test mode, and then the order of `asked` counts. A
///    business is served only while it holds fewer slots than are free ([`Slots`]): its n-th delivery, at place p of
///    all, needs held + n - 1 < free - (p - 1). As p is at least n, `of_mode` and `of_business` drop only rows that
///    would fail anyway.
/// 4. `locked`: repeats the conditions on the locked rows, in a form that no index matches: the planner must use the
///    keys.
///
/// All joins use whole keys: for a part of a key, the planner would expect many rows.
const CLAIM: &str = concat!(
    r#"
WITH open AS (
    SELECT endpoints.id, endpoints.business_id, least(
        asked.room,
        greatest(coalesce(endpoints.max_per_second, $9) / $15, 1),
        CASE WHEN endpoint_health.tripped_until IS NOT NULL THEN 1 - asked.under_way END) AS room,
        coalesce(held.in_all, 0) AS held, coalesce(held.in_test, 0) AS held_test, asked.position,
        coalesce(asked.since, '-infinity') AS since
    FROM unnest($4, $5, $6, $10, $16) WITH ORDINALITY AS asked (endpoint_id, business_id, under_way, room, since, position)
    JOIN endpoints ON endpoints.id = asked.endpoint_id AND endpoints.business_id = asked.business_id
    JOIN endpoint_health ON endpoint_health.endpoint_id = endpoints.id AND endpoint_health.business_id = endpoints.business_id
    LEFT JOIN unnest($11, $12, $13) AS held (business_id, in_all, in_test) ON held.business_id = endpoints.business_id
    WHERE NOT endpoints.paused AND endpoints.deleted_at IS NULL AND endpoint_health.disabled_at IS NULL
      AND (endpoint_health.tripped_until IS NULL OR endpoint_health.tripped_until <= $1)
      AND (coalesce(held.in_test, 0) < $2 OR 'live' = ANY (endpoints.modes))
),
ready AS (SELECT * FROM open WHERE room > 0 AND held < $14),
share AS (SELECT 1 + 2 * $3 / greatest(count(*), 1) AS each FROM ready),
due AS (
    SELECT found.*, ready.business_id, ready.held, ready.held_test, ready.position
    FROM ready
    CROSS JOIN share
    CROSS JOIN LATERAL (
        SELECT first.id, first.due_since, events.mode = 'test' AS test,
               row_number() OVER (ORDER BY first.due_at, first.id) AS turn
        FROM (
            SELECT deliveries.id, deliveries.due_at, deliveries.event_id, deliveries.business_id,
                   first_value(deliveries.due_at) OVER (ORDER BY deliveries.due_at, deliveries.id) AS due_since
            FROM deliveries
            WHERE deliveries.endpoint_id = ready.id AND deliveries.due_at >= ready.since AND deliveries.due_at <= $1
              AND deliveries.id <> ALL ($7)
              AND "#,
    is_free!(),
    r#"
            ORDER BY deliveries.due_at, deliveries.id
            LIMIT least(ready.room, share.each) + CASE WHEN ready.held_test >= $2 THEN 16 ELSE 0 END
        ) AS first
        JOIN events ON events.event_id = first.event_id AND events.business_id = first.business_id
        WHERE events.mode <> 'test' OR ready.held_test < $2
        ORDER BY first.due_at, first.id
        LIMIT least(ready.room, share.each)
    ) AS found
),
of_mode AS (
    SELECT *, row_number() OVER (PARTITION BY business_id, test ORDER BY turn, position) AS turn_of_mode FROM due
),
of_business AS (
    SELECT *, row_number() OVER (PARTITION BY business_id ORDER BY turn, position) AS turn_of_business FROM of_mode
    WHERE NOT test OR held_test + 2 * turn_of_mode <= $2 + 1
),
of_all AS (
    SELECT *, row_number() OVER (ORDER BY turn_of_business, test, position) AS place,
           row_number() OVER (PARTITION BY test ORDER BY turn_of_business, position) AS place_of_mode
    FROM of_business
    WHERE held + 2 * turn_of_business <= $14 + 1
),
candidates AS (
    SELECT id, business_id, due_since FROM of_all
    WHERE held + turn_of_business + place <= $14 + 1
      AND (NOT test OR held_test + turn_of_mode + place_of_mode <= $2 + 1)
    ORDER BY place
    LIMIT $3
),
locked AS (
    SELECT deliveries.id, deliveries.business_id, deliveries.lease_token IS NOT NULL AS taken_over, candidates.due_since,
        deliveries.requested_by
    FROM deliveries
    JOIN candidates ON candidates.id = deliveries.id AND candidates.business_id = deliveries.business_id
    WHERE coalesce(deliveries.due_at <= $1, false) AND "#,
    is_free!(),
    r#"
    FOR UPDATE OF deliveries SKIP LOCKED
)
UPDATE deliveries
SET lease_token = $8, requested_by = NULL, lease_until = "#,
    lease_end!(),
    r#"
FROM locked, events, endpoints
WHERE deliveries.id = locked.id AND deliveries.business_id = locked.business_id
    AND events.event_id = deliveries.event_id AND events.business_id = deliveries.business_id
    AND endpoints.id = deliveries.endpoint_id AND endpoints.business_id = deliveries.business_id
RETURNING locked.taken_over, locked.due_since, deliveries.id, deliveries.business_id, deliveries.endpoint_id, deliveries.event_id, deliveries.kind,
    deliveries.order_id, deliveries.in_turn, deliveries.attempts, deliveries.earlier_attempts,
    (NOT deliveries.in_turn OR coalesce(locked.requested_by = 'redelivery', false)
        OR (deliveries.kind = ANY (endpoints.events) AND events.mode = ANY (endpoints.modes))) AS wanted,
    events.mode, events.body, events.occurred_at, events.traceparent, events.tracestate,
    endpoints.max_per_second, endpoints.url, endpoints.secret_ciphertext, endpoints.secret_key_id,
    endpoints.next_secret_ciphertext, endpoints.next_secret_key_id, endpoints.next_secret_from
"#
);

#[derive(QueryableByName)]
struct ClaimedRow {
    #[diesel(sql_type = Bool)]
    taken_over: bool,
    #[diesel(sql_type = Timestamptz)]
    due_since: DateTime<Utc>,
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
    #[diesel(sql_type = Text)]
    mode: String,
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
    fn into_claimed(self, token: i64) -> Result<ClaimedDelivery, StoreError> {
        let order = self.order_id.map(|id| id.parse()).transpose().map_err(corrupt)?;
        let tracestate = self.tracestate;
        Ok(ClaimedDelivery {
            id: self.id.parse().map_err(corrupt)?,
            business_id: self.business_id.parse().map_err(corrupt)?,
            endpoint_id: self.endpoint_id.parse().map_err(corrupt)?,
            event_id: self.event_id.parse().map_err(corrupt)?,
            kind: self.kind.parse().map_err(corrupt)?,
            mode: self.mode.parse().map_err(corrupt)?,
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

/// One statement, so it is its own short transaction.
pub(crate) async fn claim(
    conn: &mut AsyncPgConnection,
    claim: &ClaimRequest<'_>,
) -> Result<Claimed, StoreError> {
    let (asked, held) = (|| claim.asked.iter(), || claim.held.iter());
    let excluded: Vec<String> = claim.excluded.iter().map(ToString::to_string).collect();
    let rows: Vec<ClaimedRow> = statement(CLAIM)
        .bind::<Timestamptz, _>(claim.now)
        .bind::<BigInt, _>(claim.free.test)
        .bind::<BigInt, _>(claim.room)
        .bind::<Array<Text>, _>(Vec::from_iter(asked().map(|asked| asked.endpoint.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(asked().map(|asked| asked.business.to_string())))
        .bind::<Array<BigInt>, _>(Vec::from_iter(asked().map(|asked| asked.in_flight)))
        .bind::<Array<Text>, _>(excluded)
        .bind::<BigInt, _>(claim.token)
        .bind::<BigInt, _>(claim.per_second)
        .bind::<Array<BigInt>, _>(Vec::from_iter(asked().map(|asked| asked.room)))
        .bind::<Array<Text>, _>(Vec::from_iter(held().map(|(business, _)| business.to_string())))
        .bind::<Array<BigInt>, _>(Vec::from_iter(held().map(|(_, held)| held.all)))
        .bind::<Array<BigInt>, _>(Vec::from_iter(held().map(|(_, held)| held.test)))
        .bind::<BigInt, _>(claim.free.all)
        .bind::<BigInt, _>(claim.instances)
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(asked().map(|asked| asked.due_since)))
        .load(conn)
        .await?;
    let mut due_since = HashMap::new();
    let mut deliveries = Vec::with_capacity(rows.len());
    for row in rows {
        let since = row.due_since;
        let delivery = row.into_claimed(claim.token)?;
        due_since.insert(delivery.endpoint_id, since);
        deliveries.push(delivery);
    }
    Ok(Claimed { deliveries, due_since: due_since.into_iter().collect() })
}
