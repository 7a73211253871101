//! The log of attempts.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, WebhookDeliveryId};
use postgres::StoreError;
use serde_json::Value;

use super::corrupt;
use super::record::Outcome;
use super::schema::attempts;
use crate::domain::Attempt;

#[derive(Insertable)]
#[diesel(table_name = attempts)]
struct NewAttemptRow<'a> {
    delivery_id: String,
    number: i32,
    business_id: String,
    started_at: DateTime<Utc>,
    duration_ms: i64,
    response_status: Option<i32>,
    succeeded: bool,
    error: Option<&'a str>,
    request_headers: &'a Value,
    response_headers: &'a Value,
    response_body: Option<&'a str>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = attempts, check_for_backend(diesel::pg::Pg))]
struct AttemptRow {
    number: i32,
    started_at: DateTime<Utc>,
    duration_ms: i64,
    response_status: Option<i32>,
    error: Option<String>,
    request_headers: Value,
    response_headers: Value,
    response_body: Option<String>,
}

pub(super) async fn insert_attempts(
    conn: &mut AsyncPgConnection,
    outcomes: &[&Outcome],
) -> Result<(), StoreError> {
    let rows: Vec<_> = outcomes
        .iter()
        .filter_map(|outcome| Some((outcome, outcome.attempt.as_ref()?)))
        .map(|(outcome, attempt)| NewAttemptRow {
            delivery_id: outcome.delivery.to_string(),
            number: outcome.number,
            business_id: outcome.business_id.to_string(),
            started_at: attempt.started_at,
            duration_ms: attempt.duration_ms,
            response_status: attempt.response_status.map(i32::from),
            succeeded: attempt.succeeded(),
            error: attempt.error.as_deref(),
            request_headers: &attempt.request_headers,
            response_headers: &attempt.response_headers,
            response_body: attempt.response_body.as_deref(),
        })
        .collect();
    if !rows.is_empty() {
        diesel::insert_into(attempts::table).values(&rows).execute(conn).await?;
    }
    Ok(())
}

/// The latest attempts of a delivery with their numbers, in the order they were made; at most `limit`.
pub(crate) async fn attempts_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    delivery: WebhookDeliveryId,
    limit: i64,
) -> Result<Vec<(i32, Attempt)>, StoreError> {
    let rows: Vec<AttemptRow> = attempts::table
        .filter(attempts::business_id.eq(business.to_string()))
        .filter(attempts::delivery_id.eq(delivery.to_string()))
        .select(AttemptRow::as_select())
        .order(attempts::number.desc())
        .limit(limit)
        .load(conn)
        .await?;
    rows.into_iter().rev().map(attempt).collect()
}

fn attempt(row: AttemptRow) -> Result<(i32, Attempt), StoreError> {
    let attempt = Attempt {
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
