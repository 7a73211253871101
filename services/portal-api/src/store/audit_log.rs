//! The audit log. Entries are inserted, read, and pruned when old.

use chrono::{DateTime, Utc};
use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AuditEntryId, BusinessId};
use identity::{CallerAddress, prune, stored};
use postgres::StoreError;
use serde_json::Value;

use crate::audit::domain::{Actor, AuditEntry, AuditEvent, AuditFilter, AuditTarget, Author};
use crate::store::schema::audit_log;
use diesel::prelude::*;

/// An entry to write.
pub(crate) struct NewEntry<'a> {
    pub(crate) id: AuditEntryId,
    pub(crate) at: DateTime<Utc>,
    pub(crate) author: &'a Author,
    pub(crate) event: &'a AuditEvent,
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
    address: Option<String>,
    target_type: Option<String>,
    target_id: Option<String>,
    target_label: Option<String>,
    request_id: Option<String>,
    details: Value,
}

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    entry: &NewEntry<'_>,
) -> Result<(), StoreError> {
    let (actor_type, user, email) = match &entry.author.actor {
        Actor::User { id, email } => ("user", Some(id.to_string()), Some(email.as_str())),
        Actor::Operator(_) => ("operator", None, None),
        Actor::System => ("system", None, None),
    };
    let target = entry.event.target.as_ref();
    diesel::insert_into(audit_log::table)
        .values((
            audit_log::id.eq(entry.id.to_string()),
            audit_log::business_id.eq(business.to_string()),
            audit_log::at.eq(entry.at),
            audit_log::action.eq(<&str>::from(entry.event.action)),
            audit_log::actor_type.eq(actor_type),
            audit_log::actor_user_id.eq(user),
            audit_log::actor_email.eq(email),
            audit_log::address.eq(entry.author.address.as_ref().map(CallerAddress::as_str)),
            audit_log::target_type.eq(target.map(|target| <&str>::from(target.kind))),
            audit_log::target_id.eq(target.map(|target| target.id.as_str())),
            audit_log::target_label.eq(target.and_then(|target| target.label.as_deref())),
            audit_log::request_id.eq(entry.author.request.map(|id| id.to_string())),
            audit_log::details.eq(&entry.event.details),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Serializes entries about what happens to a target once, until the transaction ends.
pub(crate) async fn lock_once(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    let target = event.target.as_ref().map(|target| target.id.as_str()).unwrap_or_default();
    diesel::sql_query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind::<Text, _>(format!("{business} {} {target}", event.action))
        .execute(conn)
        .await?;
    Ok(())
}

/// Whether the action on this target is already logged.
pub(crate) async fn has(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    event: &AuditEvent,
) -> Result<bool, StoreError> {
    let Some(target) = &event.target else { return Ok(false) };
    let entries = audit_log::table
        .filter(audit_log::business_id.eq(business.to_string()))
        .filter(audit_log::action.eq(<&str>::from(event.action)))
        .filter(audit_log::target_id.eq(&target.id));
    Ok(diesel::select(diesel::dsl::exists(entries)).get_result(conn).await?)
}

/// Newest first. Reads one more than `limit` to show that more follow. `None` if `after` is not an entry of this business.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &AuditFilter,
    limit: usize,
    after: Option<AuditEntryId>,
) -> Result<Option<Vec<AuditEntry>>, StoreError> {
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
    if let Some(order) = filter.order {
        // No index has the target: only entries since the order was placed are read.
        let placed = AuditEntryId::first_of(order.time()).to_string();
        query = query.filter(audit_log::target_id.eq(order.to_string())).filter(audit_log::id.ge(placed));
    }
    if let Some(email) = &filter.actor {
        query = query.filter(audit_log::actor_email.eq(email));
    }
    if let Some(address) = &filter.address {
        query = query.filter(audit_log::address.eq(address.as_str()));
    }
    // Compares ids: they sort by time (in milliseconds) and are the last column of the indexes.
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
    rows.into_iter().map(AuditEntry::try_from).collect::<Result<_, _>>().map(Some)
}

/// When the oldest entry was written. Earlier events may have no entry, or a pruned one. Covers all businesses.
pub(crate) async fn begins_at(conn: &mut AsyncPgConnection) -> Result<Option<DateTime<Utc>>, StoreError> {
    Ok(audit_log::table.order(audit_log::id).select(audit_log::at).first(conn).await.optional()?)
}

/// Deletes at most `max` entries written before `before`, and returns how many. Covers all businesses.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, audit_log::id: String, audit_log::id.lt(AuditEntryId::first_of(before).to_string()))
}

impl TryFrom<EntryRow> for AuditEntry {
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
            address: row.address,
            target: target.map(|(kind, id)| AuditTarget { kind, id, label: row.target_label }),
            request_id: row.request_id,
            details: row.details,
        })
    }
}
