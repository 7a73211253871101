//! Writes the file of an export: reads the list page by page, and stores a chunk of the file for every ten pages. Memory is bounded by
//! a chunk. A writer that dies loses its lease, and another one begins the file again.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{StaffId, UserId};
use identity::Realm;
use internal_api::CallError;
use metrics::counter;
use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::domain::Part;
use crate::exports::commands::rows::Source;
use crate::exports::domain::{
    ATTEMPTS_MAX, Export, ExportFailure, MAILED_ABOVE_ROWS, Progress, ROWS_MAX, percent,
};
use crate::exports::store::exports;
use crate::exports::writer::Writer;
use crate::mail::Mail;
use crate::state::State;
use crate::store::{businesses, staff, users};

/// Longer than a chunk takes when each call lasts as long as it may.
const LEASE: TimeDelta = TimeDelta::seconds(120);
/// After the first attempt; twice as long after the second, and so on.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(20);
const PAGES_OF_CHUNK: usize = 10;

/// Why a file is not written to its end.
#[derive(Debug, thiserror::Error)]
enum Interrupted {
    #[error("the export was removed, or another instance has begun it again")]
    Lost,
    #[error("the service is stopping")]
    Stopping,
    #[error("the file has too many rows")]
    TooManyRows,
    #[error("the sheet is too large")]
    TooLarge,
    #[error("the file cannot be written: {0}")]
    Damaged(String),
    #[error(transparent)]
    Peer(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Publishes the counters as 0: alerts on increases miss the first event of an absent series.
pub(crate) fn publish_counters() {
    for outcome in ["done", "failed"] {
        count(outcome, 0);
    }
}

fn count(outcome: &'static str, by: u64) {
    counter!("exports_ended_total", "outcome" => outcome).increment(by);
}

/// Writes the export that has been due for longest, if there is one.
pub(crate) async fn write_next(state: &State, stop: &CancellationToken) -> Result<bool, StoreError> {
    let (now, database) = (state.unit.clock.now(), &state.unit.database);
    let claimed: Result<Option<Export>, StoreError> =
        database.read(async |conn| exports::claim(conn, now, LEASE).await).await;
    let Some(export) = claimed? else { return Ok(false) };
    let (export_id, business_id, attempts) = (export.id, export.business, export.attempts);
    tracing::info!(%export_id, %business_id, attempts, "export begins");
    match write(state, &export, stop).await {
        Ok(rows) => {
            count("done", 1);
            tracing::info!(%export_id, %business_id, rows, "export written");
        }
        Err(interrupted) => {
            tracing::warn!(%export_id, %business_id, attempts, %interrupted, "export interrupted");
            record(state, &export, &interrupted).await?;
        }
    }
    Ok(true)
}

async fn write(state: &State, export: &Export, stop: &CancellationToken) -> Result<i64, Interrupted> {
    if export.attempts > ATTEMPTS_MAX {
        return Err(Interrupted::Damaged("every attempt has ended early".to_owned()));
    }
    let damaged = |error: &dyn std::fmt::Display| Interrupted::Damaged(error.to_string());
    let (database, region) = (&state.unit.database, state.mailbox.region);
    let business: Result<_, StoreError> = database
        .read(async |conn| {
            exports::clear(conn, export).await?;
            businesses::find(conn, export.business).await
        })
        .await;
    let since = business?.ok_or(Interrupted::Lost)?.created_at;
    let mut source = Source::of(export).map_err(|error| damaged(&error))?;
    let (newest, oldest) = (export.created_at, source.oldest(since));
    let columns = source.columns(region, newest);
    let mut writer = Writer::begin(export.format, &columns, region).map_err(|error| damaged(&error))?;
    let mut progress = Progress::default();
    loop {
        let mut next = None;
        for _ in 0..PAGES_OF_CHUNK {
            if stop.is_cancelled() {
                return Err(Interrupted::Stopping);
            }
            let page = source.next(state, export.business).await?;
            progress.rows += i64::try_from(page.rows.len()).unwrap_or(i64::MAX);
            if progress.rows > ROWS_MAX {
                return Err(Interrupted::TooManyRows);
            }
            page.rows.iter().try_for_each(|row| writer.row(row)).map_err(|error| match error.kind() {
                std::io::ErrorKind::FileTooLarge => Interrupted::TooLarge,
                _ => damaged(&error),
            })?;
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        progress.chunks += 1;
        let Some(order) = next else { break };
        progress.percent = percent(newest, oldest, order.time());
        store(state, export, progress, &writer.take()).await?;
    }
    let last = writer.finish().map_err(|error| damaged(&error))?;
    complete(state, export, progress, &last).await?;
    Ok(progress.rows)
}

async fn store(state: &State, export: &Export, progress: Progress, chunk: &[u8]) -> Result<(), Interrupted> {
    let leased_until = state.unit.clock.now() + LEASE;
    let database = &state.unit.database;
    let is_held: Result<bool, StoreError> = database
        .transaction(async |conn| exports::append(conn, export, progress, chunk, leased_until).await)
        .await;
    is_held?.then_some(()).ok_or(Interrupted::Lost)
}

/// Stores the last chunk, and tells the author about a long file.
async fn complete(
    state: &State,
    export: &Export,
    progress: Progress,
    chunk: &[u8],
) -> Result<(), Interrupted> {
    let (now, database) = (state.unit.clock.now(), &state.unit.database);
    let is_held: Result<bool, StoreError> = database
        .transaction(async |conn| {
            if !exports::append(conn, export, progress, chunk, now).await? {
                return Ok(false);
            }
            exports::finish(conn, export, now).await?;
            if progress.rows > MAILED_ABOVE_ROWS {
                mail_author(conn, state, export, progress.rows, now).await?;
            }
            Ok(true)
        })
        .await;
    is_held?.then_some(()).ok_or(Interrupted::Lost)?;
    state.mailbox.wake_sender();
    Ok(())
}

/// Tokens and people who have been removed get no mail.
async fn mail_author(
    conn: &mut AsyncPgConnection,
    state: &State,
    export: &Export,
    rows: i64,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let mail = |part| Mail::ExportReady { part, rows, expires_at: export.expires_at };
    match export.realm {
        Realm::User => {
            let Ok(user) = export.author.parse::<UserId>() else { return Ok(()) };
            let Some(user) = users::find(conn, export.business, user).await? else { return Ok(()) };
            state.mailbox.queue(conn, export.business, &user.email, &mail(Part::Portal), now).await
        }
        Realm::Staff => {
            let Ok(person) = export.author.parse::<StaffId>() else { return Ok(()) };
            let Some(found) = staff::find(conn, person).await? else { return Ok(()) };
            state.mailbox.queue(conn, person, &found.email, &mail(Part::Console), now).await
        }
    }
}

async fn record(state: &State, export: &Export, interrupted: &Interrupted) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let is_last = export.attempts >= ATTEMPTS_MAX;
    let failure = match interrupted {
        Interrupted::Lost => return Ok(()),
        Interrupted::TooManyRows => Some(ExportFailure::TooManyRows),
        Interrupted::TooLarge => Some(ExportFailure::TooLarge),
        Interrupted::Damaged(_) => Some(ExportFailure::Unavailable),
        // The owner accepted the filter before. An instance of an older release, or under load, may refuse it for a while.
        Interrupted::Peer(CallError::Refused { .. }) => is_last.then_some(ExportFailure::Refused),
        Interrupted::Stopping | Interrupted::Peer(_) | Interrupted::Store(_) => {
            is_last.then_some(ExportFailure::Unavailable)
        }
    };
    let is_stopping = matches!(interrupted, Interrupted::Stopping);
    let due_at = if is_stopping { now } else { now + RETRY_AFTER * export.attempts };
    let database = &state.unit.database;
    let recorded: Result<(), StoreError> = database
        .transaction(async |conn| match failure {
            Some(failure) => exports::fail(conn, export, failure, now).await,
            None => exports::release(conn, export, due_at).await,
        })
        .await;
    recorded?;
    if failure.is_some() {
        count("failed", 1);
    }
    Ok(())
}
