//! The audit log: added to, read, and pruned at its old end.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AuditEntryId, BusinessId, UserId};
use postgres::StoreError;
use serde_json::Value;

use super::schema::audit_log;
use super::stored;
use crate::domain::{Act, Action, Actor, Author};

/// A line to be written.
pub(crate) struct Entry<'a> {
    pub(crate) id: AuditEntryId,
    pub(crate) at: DateTime<Utc>,
    pub(crate) author: &'a Author,
    pub(crate) act: &'a Act,
}

/// A line that was written. Its words are given back as they are: a later version may have written ones that this one
/// does not know.
pub(crate) struct Line {
    pub(crate) id: AuditEntryId,
    pub(crate) at: DateTime<Utc>,
    pub(crate) action: String,
    pub(crate) actor_type: String,
    pub(crate) actor_user_id: Option<String>,
    pub(crate) actor_email: Option<String>,
    pub(crate) target: Option<LineTarget>,
    pub(crate) request_id: Option<String>,
    pub(crate) details: Value,
}

pub(crate) struct LineTarget {
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) label: Option<String>,
}

/// What is looked for; what is absent does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) action: Option<Action>,
    pub(crate) user: Option<UserId>,
    /// From then on.
    pub(crate) since: Option<DateTime<Utc>>,
    /// Before then.
    pub(crate) until: Option<DateTime<Utc>>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = audit_log)]
struct EntryRow {
    id: String,
    at: DateTime<Utc>,
    action: String,
    actor_type: String,
    actor_user_id: Option<String>,
    actor_email: Option<String>,
    target_type: Option<String>,
    target_id: Option<String>,
    target_label: Option<String>,
    request_id: Option<String>,
    details: Value,
}

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    entry: &Entry<'_>,
) -> Result<(), StoreError> {
    let (actor_type, user, email) = match &entry.author.actor {
        Actor::User { id, email } => ("user", Some(id.to_string()), Some(email.as_str())),
        Actor::Operator => ("operator", None, None),
        Actor::System => ("system", None, None),
    };
    let target = entry.act.target.as_ref();
    diesel::insert_into(audit_log::table)
        .values((
            audit_log::id.eq(entry.id.to_string()),
            audit_log::business_id.eq(business.to_string()),
            audit_log::at.eq(entry.at),
            audit_log::action.eq(<&str>::from(entry.act.action)),
            audit_log::actor_type.eq(actor_type),
            audit_log::actor_user_id.eq(user),
            audit_log::actor_email.eq(email),
            audit_log::target_type.eq(target.map(|target| <&str>::from(target.kind))),
            audit_log::target_id.eq(target.map(|target| target.id.as_str())),
            audit_log::target_label.eq(target.and_then(|target| target.label.as_deref())),
            audit_log::request_id.eq(entry.author.request.map(|id| id.to_string())),
            audit_log::details.eq(&entry.act.details),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Whether there is a line of this action on this target already.
pub(crate) async fn has(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    act: &Act,
) -> Result<bool, StoreError> {
    let Some(target) = &act.target else { return Ok(false) };
    let lines = audit_log::table
        .filter(audit_log::business_id.eq(business.to_string()))
        .filter(audit_log::action.eq(<&str>::from(act.action)))
        .filter(audit_log::target_id.eq(&target.id));
    Ok(diesel::select(diesel::dsl::exists(lines)).get_result(conn).await?)
}

/// Newest first; one more than `limit` tells that there are more. `None` when `after` is no line of this business.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: Filter,
    limit: usize,
    after: Option<AuditEntryId>,
) -> Result<Option<Vec<Line>>, StoreError> {
    let mut query = audit_log::table
        .filter(audit_log::business_id.eq(business.to_string()))
        .order(audit_log::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select(EntryRow::as_select())
        .into_boxed();
    if let Some(action) = filter.action {
        query = query.filter(audit_log::action.eq(<&str>::from(action)));
    }
    if let Some(user) = filter.user {
        query = query.filter(audit_log::actor_user_id.eq(user.to_string()));
    }
    // By id, which the indexes end with and which sorts by time; a line belongs to its whole millisecond.
    if let Some(since) = filter.since {
        query = query.filter(audit_log::id.ge(AuditEntryId::first_of(since).to_string()));
    }
    if let Some(until) = filter.until {
        query = query.filter(audit_log::id.lt(AuditEntryId::first_of(until).to_string()));
    }
    if let Some(after) = after {
        let known =
            audit_log::table.find(after.to_string()).filter(audit_log::business_id.eq(business.to_string()));
        if !diesel::select(diesel::dsl::exists(known)).get_result::<bool>(conn).await? {
            return Ok(None);
        }
        query = query.filter(audit_log::id.lt(after.to_string()));
    }
    let rows: Vec<EntryRow> = query.load(conn).await?;
    rows.into_iter().map(Line::try_from).collect::<Result<_, _>>().map(Some)
}

/// When the oldest line was written: what happened before may have left none, or its line has been removed. Serves all
/// businesses.
pub(crate) async fn begins_at(conn: &mut AsyncPgConnection) -> Result<Option<DateTime<Utc>>, StoreError> {
    Ok(audit_log::table.order(audit_log::id).select(audit_log::at).first(conn).await.optional()?)
}

/// Removes at most `max` lines that were written before `before`; tells how many. Serves all businesses.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, audit_log::id: String, audit_log::id.lt(AuditEntryId::first_of(before).to_string()))
}

impl TryFrom<EntryRow> for Line {
    type Error = StoreError;

    fn try_from(row: EntryRow) -> Result<Self, StoreError> {
        let target = row.target_type.zip(row.target_id);
        Ok(Self {
            id: stored("audit_log.id", &row.id)?,
            at: row.at,
            action: row.action,
            actor_type: row.actor_type,
            actor_user_id: row.actor_user_id,
            actor_email: row.actor_email,
            target: target.map(|(kind, id)| LineTarget { kind, id, label: row.target_label }),
            request_id: row.request_id,
            details: row.details,
        })
    }
}
