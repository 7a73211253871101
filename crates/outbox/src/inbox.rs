//! The inbox: the events that a consumer has handled.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use diesel::prelude::QueryableByName;
use diesel::sql_types::{Array, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::EventId;
use messaging::Rejection;
use postgres::{StoreError, statement};

use crate::schema::inbox;

/// Whether this consumer sees the event for the first time. Runs in the caller's transaction, so that the event counts
/// as handled only if its effects are committed too. A concurrent delivery waits for this transaction.
///
/// # Errors
/// When the database fails.
pub async fn first_time(
    conn: &mut AsyncPgConnection,
    consumer: &str,
    event: EventId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    use diesel::ExpressionMethods;

    let row = (inbox::consumer.eq(consumer), inbox::event_id.eq(event.to_string()), inbox::seen_at.eq(now));
    let added = diesel::insert_into(inbox::table).values(row).on_conflict_do_nothing().execute(conn).await?;
    Ok(added == 1)
}

/// Inserts in sorted order, because each insert waits for a concurrent transaction with the same event.
const SEE: &str = "
    INSERT INTO inbox (consumer, event_id, seen_at)
    SELECT $1, event_id, $2 FROM unnest($3) AS event_id
    ON CONFLICT DO NOTHING
    RETURNING event_id";

#[derive(QueryableByName)]
struct Seen {
    #[diesel(sql_type = Text)]
    event_id: String,
}

/// As [`first_time`], for many events: returns the new ones. Can be pipelined with other statements.
///
/// # Errors
/// When the database fails.
pub async fn first_times(
    mut conn: &AsyncPgConnection,
    consumer: &str,
    events: &[EventId],
    now: DateTime<Utc>,
) -> Result<HashSet<EventId>, StoreError> {
    if events.is_empty() {
        return Ok(HashSet::new());
    }
    let seen: Vec<Seen> = statement(SEE)
        .bind::<Text, _>(consumer)
        .bind::<Timestamptz, _>(now)
        .bind::<Array<Text>, _>(sorted(events))
        .load(&mut conn)
        .await?;
    seen.iter().map(|row| row.event_id.parse().map_err(corrupt)).collect()
}

/// The answer of a consumer whose database failed: only an error that the event itself causes is final.
pub fn rejection(error: &StoreError) -> Rejection {
    let reason = error.to_string();
    if error.is_unavailable() {
        Rejection::Later(reason)
    } else if error.is_caused_by_data() {
        Rejection::Never(reason)
    } else {
        Rejection::Unexpected(reason)
    }
}

/// Sorted, without duplicates.
fn sorted(events: &[EventId]) -> Vec<String> {
    events.iter().map(ToString::to_string).collect::<BTreeSet<_>>().into_iter().collect()
}

fn corrupt(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("inbox: {error}"))
}
