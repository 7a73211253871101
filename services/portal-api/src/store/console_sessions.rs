//! The open sessions of the console, as their holders list and end them: those of persons, and those of the configured token.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

use crate::domain::{ConsoleHolder, ConsoleSessionId, OpenAt, OpenSession};

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Binary)]
    token_hash: Vec<u8>,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    last_seen_at: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    expires_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    address: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    user_agent: Option<String>,
}

#[derive(QueryableByName)]
struct Start {
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Binary)]
    token_hash: Vec<u8>,
}

/// The same statements for both tables. `$1` is the person; the sessions of the configured token belong to nobody.
struct Statements {
    /// Newest first, from the session after `$5`, `$6` on.
    list: &'static str,
    /// Where the session with the id `$2` is in the list. It may have ended since.
    start: &'static str,
    end: &'static str,
    end_others: &'static str,
}

macro_rules! statements {
    ($own:literal) => {
        Statements {
            list: concat!(
                "SELECT token_hash, created_at, last_seen_at, expires_at, address, user_agent FROM ",
                $own,
                " AND expires_at > $2 AND created_at > $3 AND last_seen_at > $4
                AND ($5::timestamptz IS NULL OR (created_at, token_hash) < ($5, $6))
                ORDER BY created_at DESC, token_hash DESC LIMIT $7"
            ),
            start: concat!(
                "SELECT created_at, token_hash FROM ",
                $own,
                " AND substring(token_hash FOR 16) = $2"
            ),
            end: concat!("DELETE FROM ", $own, " AND substring(token_hash FOR 16) = $2 AND expires_at > $3"),
            end_others: concat!(
                "DELETE FROM ",
                $own,
                " AND substring(token_hash FOR 16) IS DISTINCT FROM $2 AND expires_at > $3"
            ),
        }
    };
}

const OF_PERSON: Statements = statements!("staff_sessions WHERE staff_id = $1");
const OF_CONFIGURATION: Statements = statements!("operator_sessions WHERE $1::text IS NULL");

fn of(holder: ConsoleHolder) -> (&'static Statements, Option<String>) {
    match holder {
        ConsoleHolder::Person(id) => (&OF_PERSON, Some(id.to_string())),
        ConsoleHolder::Configuration => (&OF_CONFIGURATION, None),
    }
}

/// Newest first. Reads one more than `limit` to show that more follow. `None` if `after` is not a session of the holder.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    holder: ConsoleHolder,
    limit: usize,
    after: Option<ConsoleSessionId>,
    open: OpenAt,
) -> Result<Option<Vec<OpenSession<ConsoleSessionId>>>, StoreError> {
    let (statements, person) = of(holder);
    let mut start = None;
    if let Some(after) = after {
        let found: Option<Start> = statement(statements.start)
            .bind::<Nullable<Text>, _>(person.clone())
            .bind::<Binary, _>(after.as_bytes().to_vec())
            .get_result(conn)
            .await
            .optional()?;
        let Some(found) = found else { return Ok(None) };
        start = Some(found);
    }
    let (created_at, token_hash) = start.map(|start| (start.created_at, start.token_hash)).unzip();
    let rows: Vec<Row> = statement(statements.list)
        .bind::<Nullable<Text>, _>(person)
        .bind::<Timestamptz, _>(open.now)
        .bind::<Timestamptz, _>(open.created_after)
        .bind::<Timestamptz, _>(open.used_after)
        .bind::<Nullable<Timestamptz>, _>(created_at)
        .bind::<Nullable<Binary>, _>(token_hash)
        .bind::<BigInt, _>(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .load(conn)
        .await?;
    rows.into_iter().map(|row| listed(row, open)).collect::<Result<_, _>>().map(Some)
}

/// Ends one session of the holder. False if it is not theirs or has already ended.
pub(crate) async fn end(
    conn: &mut AsyncPgConnection,
    holder: ConsoleHolder,
    id: ConsoleSessionId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let (statements, person) = of(holder);
    let ended = statement(statements.end)
        .bind::<Nullable<Text>, _>(person)
        .bind::<Binary, _>(id.as_bytes().to_vec())
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    Ok(ended > 0)
}

/// Ends all sessions of the holder except `kept`, and returns how many.
pub(crate) async fn end_others(
    conn: &mut AsyncPgConnection,
    holder: ConsoleHolder,
    kept: Option<ConsoleSessionId>,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    let (statements, person) = of(holder);
    Ok(statement(statements.end_others)
        .bind::<Nullable<Text>, _>(person)
        .bind::<Nullable<Binary>, _>(kept.map(|kept| kept.as_bytes().to_vec()))
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?)
}

fn listed(row: Row, open: OpenAt) -> Result<OpenSession<ConsoleSessionId>, StoreError> {
    let damaged = |_| StoreError::Corrupt("a digest of a console session has a wrong length".to_owned());
    Ok(OpenSession {
        id: ConsoleSessionId::of(row.token_hash.try_into().map_err(damaged)?),
        created_at: row.created_at,
        last_seen_at: row.last_seen_at,
        expires_at: open.end(row.created_at, Some(row.last_seen_at), row.expires_at),
        address: row.address,
        user_agent: row.user_agent,
        business: None,
    })
}
