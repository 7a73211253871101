//! Writes events to the outbox.

use std::borrow::Cow;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use diesel::expression::functions::define_sql_function;
use diesel::sql_types::{Array, Nullable, Text, Timestamptz};
use diesel::{IntoSql, QueryResult};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use events::Envelope;
use messaging::Outgoing;
use postgres::{Statement, StoreError, after_commit, statement};
use telemetry::TraceContext;
use tokio::sync::Notify;

use crate::schema::outbox_messages as outbox;

/// The outbox of a service. Each commit of events wakes the [`Relay`](crate::Relay) of this process. Clones share it.
#[derive(Clone, Default)]
pub struct Outbox(Arc<Notify>);

impl Outbox {
    /// Waits for a commit since the last call.
    pub(crate) async fn committed(&self) {
        self.0.notified().await;
    }

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
            new.push(message(envelope, trace)?);
        }
        if new.is_empty() {
            return Ok(());
        }
        Columns::of(&new).insert(conn, now).await?;
        self.publish_after_commit();
        Ok(())
    }

    fn publish_after_commit(&self) {
        let outbox = self.clone();
        after_commit(move || outbox.0.notify_one());
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
        let (mut subjects, mut outgoing) = (Vec::new(), Vec::new());
        for (subject, envelope, trace) in messages {
            subjects.push(subject);
            outgoing.push(message(envelope, trace)?);
        }
        Ok(PreparedMessages { outbox: self.clone(), subjects, messages: outgoing, now })
    }
}

/// The part of a statement that enqueues the [prepared messages](Outbox::prepare) of stored rows. It follows a part named
/// `stored` with a column `id`, and uses the parameters `$1` to `$7`.
#[macro_export]
macro_rules! enqueue_stored {
    () => {
        "INSERT INTO outbox_messages (event_id, routing_key, body, traceparent, tracestate, created_at)
        SELECT new.event_id, new.routing_key, new.body, new.traceparent, new.tracestate, $7
        FROM unnest($1, $2, $3, $4, $5, $6) AS new (subject, event_id, routing_key, body, traceparent, tracestate)
        JOIN stored ON stored.id = new.subject"
    };
}

/// Messages that a statement of the caller enqueues.
#[must_use = "they are enqueued by a statement"]
pub struct PreparedMessages {
    outbox: Outbox,
    /// The ids of the rows that they depend on.
    subjects: Vec<String>,
    messages: Vec<Outgoing>,
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

    /// To be called after the statement. The messages of stored rows are published after the commit.
    pub fn enqueued(self) {
        self.outbox.publish_after_commit();
    }
}

fn message(envelope: &Envelope, trace: Option<&TraceContext>) -> Result<Outgoing, StoreError> {
    let message = Outgoing::of(envelope)
        .map_err(|error| StoreError::Corrupt(format!("an event cannot be written as JSON: {error}")))?;
    Ok(Outgoing { trace: trace.cloned(), ..message })
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
