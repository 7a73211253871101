//! Writes events to the outbox.

use std::borrow::Cow;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::expression::functions::define_sql_function;
use diesel::sql_types::{Array, Nullable, Text, Timestamptz};
use diesel::{IntoSql, QueryResult};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use events::Envelope;
use messaging::Outgoing;
use postgres::{StoreError, after_commit};
use telemetry::TraceContext;

use crate::Outbox;
use crate::handover::{Committed, lane_of};
use crate::schema::outbox_messages as outbox;

impl Outbox {
    /// Adds the events to the outbox in the caller's transaction and in the given order, with the trace context of the
    /// current span.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn enqueue(
        &self,
        conn: &AsyncPgConnection,
        envelopes: &[Envelope],
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let trace = TraceContext::current();
        self.enqueue_traced(conn, envelopes.iter().map(|envelope| (envelope, trace.as_ref())), now).await
    }

    /// As [`Outbox::enqueue`], for events of several traces, as in a write batch. Can be pipelined with other
    /// statements.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn enqueue_traced<'a>(
        &self,
        conn: &AsyncPgConnection,
        messages: impl IntoIterator<Item = (&'a Envelope, Option<&'a TraceContext>)>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut new = Vec::new();
        for (envelope, trace) in messages {
            new.push((lane_of(envelope), message(envelope, trace)?));
        }
        if new.is_empty() {
            return Ok(());
        }
        let mut ids: HashMap<String, i64> = Columns::of(new.iter().map(|(_, message)| message))
            .insert(conn, now)
            .await?
            .into_iter()
            .collect();
        let expected = new.len();
        let with_id = |(lane, message): (usize, Outgoing)| {
            let id = ids.remove(&message.message_id)?;
            Some((lane, Committed { id, message }))
        };
        let committed: Vec<_> = new.into_iter().filter_map(with_id).collect();
        if committed.len() != expected {
            return Err(StoreError::Corrupt(format!(
                "{} of {expected} events entered the outbox",
                committed.len()
            )));
        }
        let handover = self.0.clone();
        after_commit(move || handover.hand_over(committed));
        Ok(())
    }
}

fn message(envelope: &Envelope, trace: Option<&TraceContext>) -> Result<Outgoing, StoreError> {
    let body = serde_json::to_string(envelope)
        .map_err(|error| StoreError::Corrupt(format!("an event cannot be written as JSON: {error}")))?;
    Ok(Outgoing {
        routing_key: envelope.routing_key().as_str().to_owned(),
        message_id: envelope.id.to_string(),
        body: body.into_bytes(),
        trace: trace.cloned(),
    })
}

define_sql_function! {
    /// Turns an array into rows. An array is one parameter, so one prepared statement serves any number of events.
    fn unnest<T: diesel::sql_types::SqlType + diesel::sql_types::SingleValue>(values: Array<T>) -> T;
}

/// The messages by column.
#[derive(Default)]
struct Columns<'a> {
    event_ids: Vec<&'a str>,
    routing_keys: Vec<&'a str>,
    bodies: Vec<Cow<'a, str>>,
    traceparents: Vec<Option<&'a str>>,
    tracestates: Vec<Option<&'a str>>,
}

impl<'a> Columns<'a> {
    fn of(messages: impl IntoIterator<Item = &'a Outgoing>) -> Self {
        let mut columns = Self::default();
        for Outgoing { routing_key, message_id, body, trace } in messages {
            columns.event_ids.push(message_id);
            columns.routing_keys.push(routing_key);
            columns.bodies.push(String::from_utf8_lossy(body));
            columns.traceparents.push(trace.as_ref().map(|trace| trace.traceparent.as_str()));
            columns.tracestates.push(trace.as_ref().and_then(|trace| trace.tracestate.as_deref()));
        }
        columns
    }

    /// Returns the event's id and the row's id of each message.
    async fn insert(
        self,
        mut conn: &AsyncPgConnection,
        now: DateTime<Utc>,
    ) -> QueryResult<Vec<(String, i64)>> {
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
            .returning((outbox::event_id, outbox::id))
            .get_results(&mut conn)
            .await
    }
}
