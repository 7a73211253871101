//! Writes events to the outbox.

use chrono::{DateTime, Utc};
use diesel::expression::functions::define_sql_function;
use diesel::sql_types::{Array, Nullable, Text, Timestamptz};
use diesel::{IntoSql, QueryResult};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use events::Envelope;
use postgres::StoreError;
use telemetry::TraceContext;

use crate::schema::outbox_messages as outbox;

/// Adds the events to the outbox in the caller's transaction and in the given order, with the trace context of the
/// current span. [`Unit::transaction`](crate::Unit::transaction) notifies the relay after the commit.
///
/// # Errors
/// When the database fails.
pub async fn enqueue(
    conn: &AsyncPgConnection,
    envelopes: &[Envelope],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let trace = TraceContext::current();
    enqueue_traced(conn, envelopes.iter().map(|envelope| (envelope, trace.as_ref())), now).await
}

/// As [`enqueue`], for events of several traces, as in a write batch. Can be pipelined with other statements.
///
/// # Errors
/// When the database fails.
pub async fn enqueue_traced<'a>(
    conn: &AsyncPgConnection,
    messages: impl IntoIterator<Item = (&'a Envelope, Option<&'a TraceContext>)>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let columns = Columns::of(messages)?;
    let expected = columns.event_ids.len();
    if expected == 0 {
        return Ok(());
    }
    let added = columns.insert(conn, now).await?;
    if added == expected {
        Ok(())
    } else {
        Err(StoreError::Corrupt(format!("{added} of {expected} events entered the outbox")))
    }
}

define_sql_function! {
    /// Turns an array into rows. An array is one parameter, so one prepared statement serves any number of events.
    fn unnest<T: diesel::sql_types::SqlType + diesel::sql_types::SingleValue>(values: Array<T>) -> T;
}

/// The messages by column.
#[derive(Default)]
struct Columns {
    event_ids: Vec<String>,
    routing_keys: Vec<String>,
    bodies: Vec<String>,
    traceparents: Vec<Option<String>>,
    tracestates: Vec<Option<String>>,
}

impl Columns {
    fn of<'a>(
        messages: impl IntoIterator<Item = (&'a Envelope, Option<&'a TraceContext>)>,
    ) -> Result<Self, StoreError> {
        let mut columns = Self::default();
        for (envelope, trace) in messages {
            let body = serde_json::to_string(envelope).map_err(|error| {
                StoreError::Corrupt(format!("an event cannot be written as JSON: {error}"))
            })?;
            columns.event_ids.push(envelope.id.to_string());
            columns.routing_keys.push(envelope.routing_key().as_str().to_owned());
            columns.bodies.push(body);
            columns.traceparents.push(trace.map(|trace| trace.traceparent.clone()));
            columns.tracestates.push(trace.and_then(|trace| trace.tracestate.clone()));
        }
        Ok(columns)
    }

    async fn insert(self, mut conn: &AsyncPgConnection, now: DateTime<Utc>) -> QueryResult<usize> {
        let rows = diesel::select((
            unnest::<Text, _>(self.event_ids),
            unnest::<Text, _>(self.routing_keys),
            unnest::<Text, _>(self.bodies),
            unnest::<Nullable<Text>, _>(self.traceparents),
            unnest::<Nullable<Text>, _>(self.tracestates),
            now.into_sql::<Timestamptz>(),
        ));
        diesel::insert_into(outbox::table)
            .values(rows)
            .into_columns((
                outbox::event_id,
                outbox::routing_key,
                outbox::body,
                outbox::traceparent,
                outbox::tracestate,
                outbox::created_at,
            ))
            .execute(&mut conn)
            .await
    }
}
