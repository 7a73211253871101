//! Exports, and the chunks of their files.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::sql_types::Timestamptz;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, ExportId};
use identity::{Realm, prune, stored};
use postgres::{StoreError, statement, violates};
use serde_json::Value;

use crate::exports::domain::{Export, ExportFailure, ExportScope, ExportState, Progress};
use crate::store::schema::{export_chunks, exports};
use diesel::prelude::*;

/// A business has fewer. Of all businesses, the staff sees the newest.
const LIST_MAX: i64 = 100;

#[derive(Queryable, Selectable, QueryableByName)]
#[diesel(table_name = exports)]
struct ExportRow {
    id: String,
    business_id: String,
    realm: String,
    author: String,
    kind: String,
    format: String,
    filter: Value,
    shows_customers: bool,
    state: String,
    failure: Option<String>,
    attempts: i32,
    row_count: i64,
    percent: i32,
    chunks: i32,
    created_at: DateTime<Utc>,
    completed_at: Option<DateTime<Utc>>,
    expires_at: DateTime<Utc>,
}

/// The exports of a scope that have not expired. Those of the staff may be of all businesses.
macro_rules! in_scope {
    ($scope:expr, $now:expr) => {{
        let mut query = exports::table
            .filter(exports::realm.eq($scope.realm.as_str()))
            .filter(exports::expires_at.gt($now))
            .select(ExportRow::as_select())
            .into_boxed();
        if let Some(business) = $scope.business {
            query = query.filter(exports::business_id.eq(business.to_string()));
        }
        if let Some(author) = &$scope.author {
            query = query.filter(exports::author.eq(author.clone()));
        }
        query
    }};
}

/// The row of an export, if this writer still has it.
macro_rules! held {
    ($export:expr) => {
        exports::table
            .find(($export.business.to_string(), $export.id.to_string()))
            .filter(exports::state.eq(ExportState::Running.to_string()))
            .filter(exports::attempts.eq($export.attempts))
    };
}

pub(crate) async fn insert(conn: &mut AsyncPgConnection, export: &Export) -> Result<(), StoreError> {
    diesel::insert_into(exports::table)
        .values((
            exports::id.eq(export.id.to_string()),
            exports::business_id.eq(export.business.to_string()),
            exports::realm.eq(export.realm.as_str()),
            exports::author.eq(&export.author),
            exports::kind.eq(export.kind.to_string()),
            exports::format.eq(export.format.to_string()),
            exports::filter.eq(&export.filter),
            exports::shows_customers.eq(export.shows_customers),
            exports::state.eq(export.state.to_string()),
            exports::created_at.eq(export.created_at),
            exports::due_at.eq(export.created_at),
            exports::expires_at.eq(export.expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Newest first.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    scope: &ExportScope,
    now: DateTime<Utc>,
) -> Result<Vec<Export>, StoreError> {
    let query = in_scope!(scope, now).order(exports::id.desc()).limit(LIST_MAX);
    let rows: Vec<ExportRow> = query.load(conn).await?;
    rows.into_iter().map(Export::try_from).collect()
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    scope: &ExportScope,
    id: ExportId,
    now: DateTime<Utc>,
) -> Result<Option<Export>, StoreError> {
    let query = in_scope!(scope, now).filter(exports::id.eq(id.to_string()));
    let row: Option<ExportRow> = query.first(conn).await.optional()?;
    row.map(Export::try_from).transpose()
}

/// How many exports of the realm the business has. Exact while the business's row is locked.
pub(crate) async fn count(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    realm: Realm,
    now: DateTime<Utc>,
) -> Result<i64, StoreError> {
    let of_business = exports::table
        .filter(exports::business_id.eq(business.to_string()))
        .filter(exports::realm.eq(realm.as_str()))
        .filter(exports::expires_at.gt(now));
    Ok(of_business.count().get_result(conn).await?)
}

/// Removes an export with its file. False if that has already happened.
pub(crate) async fn remove(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: ExportId,
) -> Result<bool, StoreError> {
    let export = exports::table.find((business.to_string(), id.to_string()));
    Ok(diesel::delete(export).execute(conn).await? == 1)
}

/// An export whose lease has ended is begun again. The index `exports_one_running` refuses a second one of a business.
const CLAIM: &str = "
UPDATE exports SET state = 'running', due_at = $2, attempts = attempts + 1, row_count = 0, percent = 0, chunks = 0
WHERE (business_id, id) = (
    SELECT due.business_id, due.id FROM exports AS due
    WHERE due.state IN ('waiting', 'running') AND due.due_at <= $1 AND due.expires_at > $1 AND NOT EXISTS (
        SELECT FROM exports AS other
        WHERE other.business_id = due.business_id AND other.realm = due.realm AND other.state = 'running' AND other.id <> due.id)
    ORDER BY due.due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING *";

/// Claims the export that has been due for longest. Covers all businesses.
pub(crate) async fn claim(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    lease: TimeDelta,
) -> Result<Option<Export>, StoreError> {
    let claim = statement(CLAIM).bind::<Timestamptz, _>(now).bind::<Timestamptz, _>(now + lease);
    let claimed: QueryResult<Option<ExportRow>> = claim.get_result(conn).await.optional();
    match claimed {
        // Another instance has claimed one of this business at the same time.
        Err(error) if violates(&error, "exports_one_running") => Ok(None),
        claimed => claimed?.map(Export::try_from).transpose(),
    }
}

/// Removes what a former writer has left.
pub(crate) async fn clear(conn: &mut AsyncPgConnection, export: &Export) -> Result<(), StoreError> {
    let chunks = export_chunks::table
        .filter(export_chunks::business_id.eq(export.business.to_string()))
        .filter(export_chunks::export_id.eq(export.id.to_string()));
    diesel::delete(chunks).execute(conn).await?;
    Ok(())
}

/// Adds a part of the file, and extends the lease. False if the export was removed, or another writer has begun it again.
pub(crate) async fn append(
    conn: &mut AsyncPgConnection,
    export: &Export,
    progress: Progress,
    content: &[u8],
    leased_until: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let updated = diesel::update(held!(export))
        .set((
            exports::row_count.eq(progress.rows),
            exports::percent.eq(progress.percent),
            exports::chunks.eq(progress.chunks),
            exports::due_at.eq(leased_until),
        ))
        .execute(conn)
        .await?;
    if updated == 0 {
        return Ok(false);
    }
    diesel::insert_into(export_chunks::table)
        .values((
            export_chunks::business_id.eq(export.business.to_string()),
            export_chunks::export_id.eq(export.id.to_string()),
            export_chunks::position.eq(progress.chunks - 1),
            export_chunks::content.eq(content),
        ))
        .execute(conn)
        .await?;
    Ok(true)
}

/// Ends a written export. Call [`append`] with the last part first.
pub(crate) async fn finish(
    conn: &mut AsyncPgConnection,
    export: &Export,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let done = (
        exports::state.eq(ExportState::Done.to_string()),
        exports::percent.eq(100),
        exports::completed_at.eq(now),
    );
    diesel::update(held!(export)).set(done).execute(conn).await?;
    Ok(())
}

/// Ends an export without a file.
pub(crate) async fn fail(
    conn: &mut AsyncPgConnection,
    export: &Export,
    failure: ExportFailure,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let failed = (
        exports::state.eq(ExportState::Failed.to_string()),
        exports::failure.eq(failure.to_string()),
        exports::completed_at.eq(now),
    );
    if diesel::update(held!(export)).set(failed).execute(conn).await? == 1 {
        clear(conn, export).await?;
    }
    Ok(())
}

/// Lets any instance begin the export again at this time.
pub(crate) async fn release(
    conn: &mut AsyncPgConnection,
    export: &Export,
    due_at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let waiting = (exports::state.eq(ExportState::Waiting.to_string()), exports::due_at.eq(due_at));
    diesel::update(held!(export)).set(waiting).execute(conn).await?;
    Ok(())
}

pub(crate) async fn chunk(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: ExportId,
    position: i32,
) -> Result<Option<Vec<u8>>, StoreError> {
    let chunk = export_chunks::table
        .find((business.to_string(), id.to_string(), position))
        .select(export_chunks::content);
    Ok(chunk.first(conn).await.optional()?)
}

/// Deletes at most `max` exports that expired before `before`, and returns how many. Covers all businesses.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, exports::id: String, exports::expires_at.le(before))
}

impl TryFrom<ExportRow> for Export {
    type Error = StoreError;

    fn try_from(row: ExportRow) -> Result<Self, StoreError> {
        let failure = row.failure.as_deref();
        Ok(Self {
            id: stored("exports.id", &row.id)?,
            business: stored("exports.business_id", &row.business_id)?,
            realm: stored("exports.realm", &row.realm)?,
            author: row.author,
            kind: stored("exports.kind", &row.kind)?,
            format: stored("exports.format", &row.format)?,
            filter: row.filter,
            shows_customers: row.shows_customers,
            state: stored("exports.state", &row.state)?,
            failure: failure.map(|failure| stored("exports.failure", failure)).transpose()?,
            attempts: row.attempts,
            progress: Progress { rows: row.row_count, percent: row.percent, chunks: row.chunks },
            created_at: row.created_at,
            completed_at: row.completed_at,
            expires_at: row.expires_at,
        })
    }
}
