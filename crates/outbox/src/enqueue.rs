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
use postgres::{Statement, StoreError, after_commit, statement};
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
        let ids = Columns::of(new.iter().map(|(_, message)| message)).insert(conn, now).await?;
        let expected = new.len();
        match self.hand_over_after_commit(new, ids) {
            enqueued if enqueued == expected => Ok(()),
            enqueued => {
                Err(StoreError::Corrupt(format!("{enqueued} of {expected} events entered the outbox")))
            }
        }
    }

    /// Returns the number of messages that have a row.
    fn hand_over_after_commit(
        &self,
        messages: impl IntoIterator<Item = (usize, Outgoing)>,
        ids: impl IntoIterator<Item = (String, i64)>,
    ) -> usize {
        let mut ids: HashMap<String, i64> = ids.into_iter().collect();
        let with_id = |(lane, message): (usize, Outgoing)| {
            let id = ids.remove(&message.message_id)?;
            Some((lane, Committed { id, message }))
        };
        let committed: Vec<_> = messages.into_iter().filter_map(with_id).collect();
        let (count, handover) = (committed.len(), self.0.clone());
        if count > 0 {
            after_commit(move || handover.hand_over(committed));
        }
        count
    }

    /// Prepares messages for a statement of the caller that contains [`enqueue_stored!`](crate::enqueue_stored). Each
    /// enters the outbox only if that statement stores the row with the given id.
    ///
    /// # Errors
    /// When an event cannot be written as JSON.
    pub fn prepare<'a>(
        &self,
        messages: impl IntoIterator<Item = (String, &'a Envelope, Option<&'a TraceContext>)>,
        now: DateTime<Utc>,
    ) -> Result<PreparedMessages, StoreError> {
        let (mut subjects, mut outgoing, mut lanes) = (Vec::new(), Vec::new(), Vec::new());
        for (subject, envelope, trace) in messages {
            subjects.push(subject);
            lanes.push(lane_of(envelope));
            outgoing.push(message(envelope, trace)?);
        }
        Ok(PreparedMessages { outbox: self.clone(), subjects, messages: outgoing, lanes, now })
    }
}

/// The part of a statement that enqueues the [prepared messages](Outbox::prepare) of stored rows. It follows a part named
/// `stored` with a column `id`, uses the parameters `$1` to `$7`, and returns `event_id` and `id`.
#[macro_export]
macro_rules! enqueue_stored {
    () => {
        "INSERT INTO outbox_messages (event_id, routing_key, body, traceparent, tracestate, created_at)
        SELECT new.event_id, new.routing_key, new.body, new.traceparent, new.tracestate, $7
        FROM unnest($1, $2, $3, $4, $5, $6) AS new (subject, event_id, routing_key, body, traceparent, tracestate)
        JOIN stored ON stored.id = new.subject
        RETURNING event_id, id"
    };
}

/// Messages that a statement of the caller enqueues.
#[must_use = "they are enqueued by a statement"]
pub struct PreparedMessages {
    outbox: Outbox,
    /// The ids of the rows that they depend on.
    subjects: Vec<String>,
    messages: Vec<Outgoing>,
    lanes: Vec<usize>,
    now: DateTime<Utc>,
}

impl PreparedMessages {
    /// The statement with its first seven parameters.
    pub fn bind_to(&self, sql: &'static str) -> Statement<'_> {
        let columns = Columns::of(&self.messages);
        statement(sql)
            .bind::<Array<Text>, _>(&self.subjects)
            .bind::<Array<Text>, _>(columns.event_ids)
            .bind::<Array<Text>, _>(columns.routing_keys)
            .bind::<Array<Text>, _>(columns.bodies)
            .bind::<Array<Nullable<Text>>, _>(columns.traceparents)
            .bind::<Array<Nullable<Text>>, _>(columns.tracestates)
            .bind::<Timestamptz, _>(self.now)
    }

    /// To be called with the ids that the statement returned. Hands over the messages after the commit.
    pub fn enqueued(self, ids: impl IntoIterator<Item = (String, i64)>) {
        self.outbox.hand_over_after_commit(self.lanes.into_iter().zip(self.messages), ids);
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
