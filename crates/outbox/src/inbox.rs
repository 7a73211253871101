//! The inbox: what a consumer has already handled.

use chrono::{DateTime, Utc};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::EventId;
use postgres::StoreError;

use crate::schema::inbox;

/// True the first time this consumer sees the event; in the caller's transaction, so that the event counts as seen only
/// if what was done about it is committed too. A second delivery at the same time waits for the first to end.
///
/// # Errors
/// When the database cannot answer.
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
