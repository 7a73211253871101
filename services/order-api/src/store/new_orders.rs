//! Inserts new orders column by column. Each column is one array parameter, so one prepared statement inserts any
//! number.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Binary, Jsonb, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::DeliveryState;
use outbox::{PreparedMessages, enqueue_stored};
use postgres::{Statement, StoreError, brief_locks};
use serde_json::Value;

use super::timeline::{self, first_events};
use crate::domain::{NewOrder, OrderEvent, Placement};

/// Parameters: messages, events, orders. Messages and events depend on their orders.
const INSERT: &str = concat!(
    brief_locks!(),
    ",
    stored AS (
        INSERT INTO orders (
            id, business_id, mode, placement, order_reference, idempotency_key, fingerprint, tracking_code, order_source,
            status, cod_status, payment_type, delivery_fee_paise, cod_amount_paise, details, receipt, created_at, request_id,
            key_id, meaning, attempt, sequence, updated_at, pending_since)
        SELECT new.*, 1, (placement = 'placed')::int, created_at, CASE placement WHEN 'placed' THEN NULL ELSE created_at END
        FROM limits
        CROSS JOIN unnest(
            $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37) AS new (
            id, business_id, mode, placement, order_reference, idempotency_key, fingerprint, tracking_code, order_source,
            status, cod_status, payment_type, delivery_fee_paise, cod_amount_paise, details, receipt, created_at, request_id,
            key_id, meaning)
        ON CONFLICT DO NOTHING
        RETURNING id
    ),
    timeline AS (",
    first_events!(),
    "),
    sent AS (",
    enqueue_stored!(),
    ")
    SELECT id FROM stored"
);

#[derive(QueryableByName)]
struct Stored {
    #[diesel(sql_type = Text)]
    id: String,
}

#[derive(Default)]
struct Columns<'a> {
    ids: Vec<String>,
    businesses: Vec<String>,
    modes: Vec<&'static str>,
    placements: Vec<&'static str>,
    references: Vec<&'a str>,
    keys: Vec<&'a str>,
    fingerprints: Vec<&'a [u8]>,
    tracking_codes: Vec<&'a str>,
    sources: Vec<&'a str>,
    statuses: Vec<&'static str>,
    cod_statuses: Vec<&'static str>,
    payment_types: Vec<&'static str>,
    fees: Vec<i64>,
    cod_amounts: Vec<i64>,
    details: Vec<&'a Value>,
    receipts: Vec<&'a [u8]>,
    created: Vec<DateTime<Utc>>,
    requests: Vec<String>,
    api_keys: Vec<String>,
    meanings: Vec<Vec<u8>>,
}

/// Inserts the orders whose id, reference and key are free, with their first events, and returns their ids.
pub async fn insert(
    mut conn: &AsyncPgConnection,
    new: &[(&NewOrder, Placement)],
    events: &[OrderEvent],
    messages: PreparedMessages,
) -> Result<HashSet<String>, StoreError> {
    let mut columns = Columns::default();
    for (order, placement) in new {
        columns.add(order, *placement);
    }
    let insert = columns.bind_to(timeline::bind(messages.bind_to(INSERT), events));
    let stored: Vec<Stored> = insert.get_results(&mut conn).await?;
    messages.enqueued();
    Ok(stored.into_iter().map(|order| order.id).collect())
}

impl<'a> Columns<'a> {
    fn add(&mut self, order: &'a NewOrder, placement: Placement) {
        let state = DeliveryState::new(order.payment_type);
        self.ids.push(order.id.to_string());
        self.businesses.push(order.business_id.to_string());
        self.modes.push(order.mode.as_str());
        self.placements.push(placement.as_str());
        self.references.push(&order.order_reference);
        self.keys.push(&order.idempotency_key);
        self.fingerprints.push(order.fingerprint.as_bytes());
        self.tracking_codes.push(order.tracking_code.as_str());
        self.sources.push(&order.order_source);
        self.statuses.push(state.status.as_str());
        self.cod_statuses.push(state.cod.as_str());
        self.payment_types.push(order.payment_type.as_str());
        self.fees.push(order.delivery_fee.get());
        self.cod_amounts.push(order.cod_amount.get());
        self.details.push(&order.details);
        self.receipts.push(&order.receipt);
        self.created.push(order.created_at);
        self.requests.push(order.request_id.to_string());
        self.api_keys.push(order.key_id.to_string());
        self.meanings.push(order.bound_meaning().as_bytes().to_vec());
    }

    fn bind_to(self, statement: Statement<'a>) -> Statement<'a> {
        statement
            .bind::<Array<Text>, _>(self.ids)
            .bind::<Array<Text>, _>(self.businesses)
            .bind::<Array<Text>, _>(self.modes)
            .bind::<Array<Text>, _>(self.placements)
            .bind::<Array<Text>, _>(self.references)
            .bind::<Array<Text>, _>(self.keys)
            .bind::<Array<Binary>, _>(self.fingerprints)
            .bind::<Array<Text>, _>(self.tracking_codes)
            .bind::<Array<Text>, _>(self.sources)
            .bind::<Array<Text>, _>(self.statuses)
            .bind::<Array<Text>, _>(self.cod_statuses)
            .bind::<Array<Text>, _>(self.payment_types)
            .bind::<Array<BigInt>, _>(self.fees)
            .bind::<Array<BigInt>, _>(self.cod_amounts)
            .bind::<Array<Jsonb>, _>(self.details)
            .bind::<Array<Binary>, _>(self.receipts)
            .bind::<Array<Timestamptz>, _>(self.created)
            .bind::<Array<Text>, _>(self.requests)
            .bind::<Array<Text>, _>(self.api_keys)
            .bind::<Array<Binary>, _>(self.meanings)
    }
}
