//! The rows of the outbox: taking them and putting them back. All statements use the primary key.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use messaging::Outgoing;
use postgres::{StoreError, statement};
use telemetry::TraceContext;

/// The number of messages in one transaction and one round of confirms.
pub(crate) const BATCH_MAX: usize = 256;

/// Selects the rows to take.
pub(crate) enum Selection<'a> {
    /// The oldest after one id and up to another, except some routing keys.
    Span {
        after: i64,
        until: i64,
        except: Vec<&'a str>,
    },
    These(&'a [i64]),
}

const TAKE: &str = "
    DELETE FROM outbox_messages
    WHERE id = ANY (ARRAY(
        SELECT id FROM outbox_messages WHERE id > $1 AND id <= $2 AND NOT routing_key = ANY ($3)
        ORDER BY id LIMIT $4 FOR UPDATE SKIP LOCKED))
    RETURNING id, event_id, routing_key, body, traceparent, tracestate, created_at";

const TAKE_THESE: &str = "
    DELETE FROM outbox_messages
    WHERE id = ANY (ARRAY(SELECT id FROM outbox_messages WHERE id = ANY ($1) ORDER BY id FOR UPDATE SKIP LOCKED))
    RETURNING id, event_id, routing_key, body, traceparent, tracestate, created_at";

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    event_id: String,
    #[diesel(sql_type = Text)]
    routing_key: String,
    #[diesel(sql_type = Text)]
    body: String,
    #[diesel(sql_type = Nullable<Text>)]
    traceparent: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    tracestate: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
}

/// The row of a message in the outbox.
pub(crate) struct Position {
    pub(crate) id: i64,
    created_at: DateTime<Utc>,
}

impl Row {
    fn split(self) -> (Position, Outgoing) {
        let tracestate = self.tracestate;
        let message = Outgoing {
            routing_key: self.routing_key,
            message_id: self.event_id,
            body: self.body.into_bytes(),
            trace: self.traceparent.map(|traceparent| TraceContext { traceparent, tracestate }),
        };
        (Position { id: self.id, created_at: self.created_at }, message)
    }
}

/// In the order of their insertion, without rows that another relay holds.
pub(crate) async fn take(
    conn: &mut AsyncPgConnection,
    wanted: &Selection<'_>,
) -> Result<(Vec<Position>, Vec<Outgoing>), StoreError> {
    let mut rows: Vec<Row> = match wanted {
        Selection::Span { after, until, except } => {
            statement(TAKE)
                .bind::<BigInt, _>(*after)
                .bind::<BigInt, _>(*until)
                .bind::<Array<Text>, _>(except.clone())
                .bind::<BigInt, _>(BATCH_MAX as i64)
                .load(conn)
                .await?
        }
        Selection::These(ids) => {
            statement(TAKE_THESE).bind::<Array<BigInt>, _>(ids.to_vec()).load(conn).await?
        }
    };
    rows.sort_unstable_by_key(|row| row.id);
    Ok(rows.into_iter().map(Row::split).unzip())
}

const PUT_BACK: &str = "
    INSERT INTO outbox_messages (id, event_id, routing_key, body, traceparent, tracestate, created_at)
    OVERRIDING SYSTEM VALUE
    SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)";

/// Restores each row under its old id.
pub(crate) async fn put_back(
    conn: &mut AsyncPgConnection,
    kept: &[(Position, Outgoing)],
) -> Result<(), StoreError> {
    let (places, messages) =
        (|| kept.iter().map(|(place, _)| place), || kept.iter().map(|(_, message)| message));
    let traces = || messages().map(|message| message.trace.as_ref());
    let bodies: Vec<_> = messages().map(|message| String::from_utf8_lossy(&message.body)).collect();
    statement(PUT_BACK)
        .bind::<Array<BigInt>, _>(Vec::from_iter(places().map(|place| place.id)))
        .bind::<Array<Text>, _>(Vec::from_iter(messages().map(|message| message.message_id.as_str())))
        .bind::<Array<Text>, _>(Vec::from_iter(messages().map(|message| message.routing_key.as_str())))
        .bind::<Array<Text>, _>(Vec::from_iter(bodies.iter().map(AsRef::as_ref)))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            traces().map(|trace| trace.map(|trace| trace.traceparent.as_str())),
        ))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            traces().map(|trace| trace.and_then(|trace| trace.tracestate.as_deref())),
        ))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(places().map(|place| place.created_at)))
        .execute(conn)
        .await?;
    Ok(())
}

const EDGE: &str = "
    SELECT max(id) AS last, count(*) AS rows
    FROM (SELECT id FROM outbox_messages WHERE id > $1 ORDER BY id LIMIT $2) AS near";

#[derive(QueryableByName)]
pub(crate) struct Edge {
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(crate) last: Option<i64>,
    #[diesel(sql_type = BigInt)]
    pub(crate) rows: i64,
}

/// The last of the given number of rows after an id.
pub(crate) async fn edge(conn: &mut AsyncPgConnection, after: i64, rows: i64) -> Result<Edge, StoreError> {
    Ok(statement(EDGE).bind::<BigInt, _>(after).bind::<BigInt, _>(rows).get_result(conn).await?)
}

const WHICH_STAY: &str = "SELECT id FROM outbox_messages WHERE id = ANY ($1)";

#[derive(QueryableByName)]
struct Id {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Which of these rows still exist, including rows that another relay holds.
pub(crate) async fn which_stay(conn: &mut AsyncPgConnection, ids: &[i64]) -> Result<Vec<i64>, StoreError> {
    let rows: Vec<Id> = statement(WHICH_STAY).bind::<Array<BigInt>, _>(ids.to_vec()).load(conn).await?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// Not `min` and `max`: with the statistics of an empty table, the planner would read all rows for them.
const ENDS: &str = "
    SELECT (SELECT id FROM outbox_messages WHERE id > $1 ORDER BY id LIMIT 1) AS oldest,
        (SELECT id FROM outbox_messages WHERE id > $1 ORDER BY id DESC LIMIT 1) AS newest";

/// The first and the last row after an id.
#[derive(QueryableByName)]
pub(crate) struct Ends {
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(crate) oldest: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(crate) newest: Option<i64>,
}

pub(crate) async fn ends(conn: &mut AsyncPgConnection, after: i64) -> Result<Ends, StoreError> {
    Ok(statement(ENDS).bind::<BigInt, _>(after).get_result(conn).await?)
}
