//! The log of attempts, in a partition per day. A delivery's creation time excludes the partitions before it.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, WebhookDeliveryId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::record::Outcome;
use crate::domain::{Attempt, NO_HEADERS};

/// The clocks of two instances differ by less than this: an attempt may seem to precede its delivery.
const CLOCK_SKEW_MAX: TimeDelta = TimeDelta::minutes(5);

/// Headers are bound as JSON texts.
const INSERT: &str = "
    INSERT INTO attempts (
        delivery_id, number, business_id, started_at, duration_ms, response_status, succeeded, error, response_body, url,
        request_headers, response_headers)
    SELECT new.delivery_id, new.number, new.business_id, new.started_at, new.duration_ms, new.response_status,
        new.succeeded, new.error, new.response_body, new.url, new.request_headers::json, new.response_headers::json
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS new (
        delivery_id, number, business_id, started_at, duration_ms, response_status, succeeded, error, response_body, url,
        request_headers, response_headers)";

/// Leaves out the responses to events of erased orders.
pub(super) async fn insert_attempts(
    mut conn: &AsyncPgConnection,
    outcomes: &[&Outcome],
    erased: &BTreeSet<OrderId>,
) -> Result<(), StoreError> {
    let made: Vec<(&Outcome, &Attempt)> =
        outcomes.iter().filter_map(|outcome| Some((*outcome, outcome.attempt.as_ref()?))).collect();
    if made.is_empty() {
        return Ok(());
    }
    let outcomes = || made.iter().map(|(outcome, _)| *outcome);
    let attempts = || made.iter().map(|(_, attempt)| *attempt);
    let responses = || {
        made.iter().map(|(outcome, attempt)| {
            let is_erased = outcome.order.is_some_and(|order| erased.contains(&order));
            (!is_erased).then_some(*attempt)
        })
    };
    let headers =
        || responses().map(|response| response.map_or(NO_HEADERS, |response| &response.response_headers));
    statement(INSERT)
        .bind::<Array<Text>, _>(Vec::from_iter(outcomes().map(|outcome| outcome.delivery.to_string())))
        .bind::<Array<Integer>, _>(Vec::from_iter(outcomes().map(|outcome| outcome.number)))
        .bind::<Array<Text>, _>(Vec::from_iter(outcomes().map(|outcome| outcome.business_id.to_string())))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(attempts().map(|attempt| attempt.started_at)))
        .bind::<Array<BigInt>, _>(Vec::from_iter(attempts().map(|attempt| attempt.duration_ms)))
        .bind::<Array<Nullable<Integer>>, _>(Vec::from_iter(
            attempts().map(|attempt| attempt.response_status.map(i32::from)),
        ))
        .bind::<Array<Bool>, _>(Vec::from_iter(attempts().map(Attempt::succeeded)))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(attempts().map(|attempt| attempt.error.as_deref())))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            responses().map(|response| response?.response_body.as_deref()),
        ))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(attempts().map(|attempt| attempt.url.as_deref())))
        .bind::<Array<Text>, _>(Vec::from_iter(attempts().map(|attempt| attempt.request_headers.as_str())))
        .bind::<Array<Text>, _>(Vec::from_iter(headers()))
        .execute(&mut conn)
        .await?;
    Ok(())
}

/// Ends with the attempt that exceeds `$5` bytes.
const OF_DELIVERY: &str = "
    SELECT number, started_at, duration_ms, response_status, error, response_body, url, request_headers, response_headers
    FROM (
        SELECT latest.*, sum(octet_length(concat(request_headers, response_headers, response_body)))
            OVER (ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
        FROM (
            SELECT number, started_at, duration_ms, response_status, error, response_body, url,
                request_headers::text AS request_headers, response_headers::text AS response_headers
            FROM attempts
            WHERE business_id = $1 AND delivery_id = $2 AND started_at >= $3
            ORDER BY number DESC
            LIMIT $4
        ) AS latest
    ) AS measured
    WHERE coalesce(bytes_before, 0) <= $5
    ORDER BY number DESC";

#[derive(QueryableByName)]
struct AttemptRow {
    #[diesel(sql_type = Integer)]
    number: i32,
    #[diesel(sql_type = Timestamptz)]
    started_at: DateTime<Utc>,
    #[diesel(sql_type = BigInt)]
    duration_ms: i64,
    #[diesel(sql_type = Nullable<Integer>)]
    response_status: Option<i32>,
    #[diesel(sql_type = Nullable<Text>)]
    error: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    response_body: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    url: Option<String>,
    #[diesel(sql_type = Text)]
    request_headers: String,
    #[diesel(sql_type = Text)]
    response_headers: String,
}

/// The latest attempts of a delivery with their numbers, oldest first: at most `limit`, and about `bytes` of texts.
pub(crate) async fn attempts_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    (delivery, created_at): (WebhookDeliveryId, DateTime<Utc>),
    (limit, bytes): (i64, i64),
) -> Result<Vec<(i32, Attempt)>, StoreError> {
    let rows: Vec<AttemptRow> = statement(OF_DELIVERY)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(delivery.to_string())
        .bind::<Timestamptz, _>(created_at - CLOCK_SKEW_MAX)
        .bind::<BigInt, _>(limit)
        .bind::<BigInt, _>(bytes)
        .load(conn)
        .await?;
    rows.into_iter().rev().map(attempt).collect()
}

fn attempt(row: AttemptRow) -> Result<(i32, Attempt), StoreError> {
    let attempt = Attempt {
        url: row.url,
        started_at: row.started_at,
        duration_ms: row.duration_ms,
        response_status: row.response_status.map(u16::try_from).transpose().map_err(corrupt)?,
        error: row.error,
        request_headers: row.request_headers,
        response_headers: row.response_headers,
        response_body: row.response_body,
    };
    Ok((row.number, attempt))
}
