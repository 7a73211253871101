//! The inbox: each verified webhook once, in order of arrival, with its result.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};

use super::schema::webhooks;
use crate::{ReceivedWebhook, ShopError, WebhookOutcome};

/// The key of the advisory lock that serializes insertions. Any number that the shop does not use elsewhere.
const ARRIVAL_LOCK: i64 = 7_001;

#[derive(Queryable, Selectable)]
#[diesel(table_name = webhooks, check_for_backend(diesel::pg::Pg))]
struct WebhookRow {
    event_id: String,
    arrival: i64,
    kind: String,
    sequence: Option<i64>,
    mode: Option<String>,
    order_reference: Option<String>,
    tracking_code: Option<String>,
    body: Vec<u8>,
    headers: serde_json::Value,
    received_at: DateTime<Utc>,
    times_received: i32,
    outcome: Option<String>,
}

/// A verified webhook before it is stored.
#[derive(Debug, Insertable)]
#[diesel(table_name = webhooks)]
pub(crate) struct Arrival {
    pub(crate) event_id: String,
    pub(crate) kind: String,
    pub(crate) sequence: Option<i64>,
    pub(crate) mode: Option<String>,
    pub(crate) order_reference: Option<String>,
    pub(crate) tracking_code: Option<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: serde_json::Value,
    pub(crate) received_at: DateTime<Utc>,
}

/// Stores a webhook, or counts it again if its event is stored. Returns whether it is new.
///
/// Insertions are serialized, so that arrival numbers become visible in order and a reader that remembers the last
/// number misses no webhook.
pub(crate) async fn insert(conn: &mut AsyncPgConnection, arrival: &Arrival) -> Result<bool, ShopError> {
    conn.transaction(async |conn| {
        diesel::sql_query("SELECT pg_advisory_xact_lock($1)")
            .bind::<diesel::sql_types::BigInt, _>(ARRIVAL_LOCK)
            .execute(conn)
            .await?;
        let repeated = diesel::update(webhooks::table.find(&arrival.event_id))
            .set(webhooks::times_received.eq(webhooks::times_received + 1))
            .execute(conn)
            .await?;
        if repeated == 1 {
            return Ok(false);
        }
        diesel::insert_into(webhooks::table)
            .values((arrival, webhooks::times_received.eq(1)))
            .execute(conn)
            .await?;
        Ok(true)
    })
    .await
}

pub(crate) async fn page(
    conn: &mut AsyncPgConnection,
    after: i64,
    limit: u32,
) -> Result<Vec<ReceivedWebhook>, ShopError> {
    let rows = webhooks::table
        .filter(webhooks::arrival.gt(after))
        .order(webhooks::arrival)
        .limit(i64::from(limit))
        .select(WebhookRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(WebhookRow::into_webhook).collect()
}

/// The unprocessed events after an arrival number, oldest first, with their numbers.
pub(crate) async fn waiting(
    conn: &mut AsyncPgConnection,
    after: i64,
    limit: i64,
) -> Result<Vec<(i64, String)>, ShopError> {
    Ok(webhooks::table
        .filter(webhooks::processed_at.is_null())
        .filter(webhooks::arrival.gt(after))
        .order(webhooks::arrival)
        .limit(limit)
        .select((webhooks::arrival, webhooks::event_id))
        .load(conn)
        .await?)
}

/// Locks an unprocessed webhook and returns its body; `None` if another process has it or has processed it.
pub(crate) async fn lock_waiting(
    conn: &mut AsyncPgConnection,
    event_id: &str,
) -> Result<Option<Vec<u8>>, ShopError> {
    Ok(webhooks::table
        .find(event_id)
        .filter(webhooks::processed_at.is_null())
        .select(webhooks::body)
        .for_update()
        .skip_locked()
        .first(conn)
        .await
        .optional()?)
}

/// Stores the result of a locked webhook.
pub(crate) async fn save_outcome(
    conn: &mut AsyncPgConnection,
    event_id: &str,
    outcome: WebhookOutcome,
    now: DateTime<Utc>,
) -> Result<(), ShopError> {
    diesel::update(webhooks::table.find(event_id))
        .filter(webhooks::processed_at.is_null())
        .set((webhooks::processed_at.eq(now), webhooks::outcome.eq(outcome.as_str())))
        .execute(conn)
        .await?;
    Ok(())
}

/// Deletes the webhooks that were processed before a time.
pub(crate) async fn forget(conn: &mut AsyncPgConnection, before: DateTime<Utc>) -> Result<(), ShopError> {
    let old = webhooks::table.filter(webhooks::processed_at.lt(before));
    diesel::delete(old).execute(conn).await?;
    Ok(())
}

impl WebhookRow {
    fn into_webhook(self) -> Result<ReceivedWebhook, ShopError> {
        let outcome = self.outcome.map(|text| text.parse().map_err(|_| ShopError::UnknownText(text.clone())));
        Ok(ReceivedWebhook {
            arrival: self.arrival,
            event_id: self.event_id,
            kind: self.kind,
            sequence: self.sequence,
            mode: self.mode,
            order_reference: self.order_reference,
            tracking_code: self.tracking_code,
            body: self.body,
            headers: serde_json::from_value::<BTreeMap<String, String>>(self.headers)?,
            received_at: self.received_at,
            times_received: self.times_received,
            outcome: outcome.transpose()?,
        })
    }
}
