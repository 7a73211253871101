//! The operator's audit log. Entries are inserted, read, and pruned when old.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AuditEntryId, BusinessId, RequestId};
use identity::{CallerAddress, prune, stored};
use postgres::{Literal, StoreError, literal};
use serde_json::Value;

use crate::audit::domain::{Action, AuditEvent, AuditTarget, OperatorEntry, OperatorFilter, TargetKind};
use crate::domain::OperatorCaller;
use crate::store::schema::operator_audit_log;
use diesel::prelude::*;

/// An entry to write.
pub(crate) struct NewOperatorEntry<'a> {
    pub(crate) id: AuditEntryId,
    pub(crate) at: DateTime<Utc>,
    pub(crate) caller: &'a OperatorCaller,
    pub(crate) request: Option<RequestId>,
    pub(crate) business: Option<BusinessId>,
    pub(crate) event: &'a AuditEvent,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = operator_audit_log)]
struct EntryRow {
    id: String,
    at: DateTime<Utc>,
    action: String,
    actor_type: String,
    actor_id: Option<String>,
    actor_name: String,
    address: Option<String>,
    about_business: Option<String>,
    target_type: Option<String>,
    target_id: Option<String>,
    target_label: Option<String>,
    request_id: Option<String>,
    details: Value,
}

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    entry: &NewOperatorEntry<'_>,
) -> Result<(), StoreError> {
    let target = entry.event.target.as_ref();
    let actor = &entry.caller.actor;
    // The labels of a business's targets are addresses of its users.
    let label = target.filter(|_| entry.business.is_none()).and_then(|target| target.label.as_deref());
    diesel::insert_into(operator_audit_log::table)
        .values((
            operator_audit_log::id.eq(entry.id.to_string()),
            operator_audit_log::at.eq(entry.at),
            operator_audit_log::action.eq(<&str>::from(entry.event.action)),
            operator_audit_log::actor_type.eq(actor.kind()),
            operator_audit_log::actor_id.eq(actor.id()),
            operator_audit_log::actor_name.eq(actor.name()),
            operator_audit_log::address.eq(entry.caller.address.as_ref().map(CallerAddress::as_str)),
            operator_audit_log::about_business.eq(entry.business.map(|id| id.to_string())),
            operator_audit_log::target_type.eq(target.map(|target| <&str>::from(target.kind))),
            operator_audit_log::target_id.eq(target.map(|target| target.id.as_str())),
            operator_audit_log::target_label.eq(label),
            operator_audit_log::request_id.eq(entry.request.map(|id| id.to_string())),
            operator_audit_log::details.eq(entry.event.operator_details()),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Who of the staff gave access to whom since then: invited them, changed their role, reset their access, or got the secret of
/// a token. Of `token`, if it is one, since ever: who got its secret may still know it.
pub(crate) async fn access_given(
    conn: &mut AsyncPgConnection,
    since: DateTime<Utc>,
    token: &str,
) -> Result<Vec<(String, String)>, StoreError> {
    let actions = [
        Action::StaffInvited,
        Action::StaffRoleChanged,
        Action::StaffLinkIssued,
        Action::StaffIdentityUnlinked,
        Action::SecondFactorReset,
        Action::OperatorTokenCreated,
        Action::OperatorTokenRotated,
    ];
    let is_recent = operator_audit_log::id.ge(AuditEntryId::first_of(since).to_string());
    let is_of_token = operator_audit_log::target_type
        .eq(<&str>::from(TargetKind::OperatorToken))
        .and(operator_audit_log::target_id.eq(token));
    let kinds = [TargetKind::Staff, TargetKind::OperatorToken].map(<&str>::from);
    let pairs = operator_audit_log::table
        .filter(operator_audit_log::action.eq_any(actions.map(<&str>::from)))
        .filter(is_recent.or(is_of_token.assume_not_null()))
        .filter(operator_audit_log::actor_type.eq("person"))
        .filter(operator_audit_log::target_type.eq_any(kinds))
        .select((
            operator_audit_log::actor_id.assume_not_null(),
            operator_audit_log::target_id.assume_not_null(),
        ))
        .distinct()
        .load(conn)
        .await?;
    Ok(pairs)
}

/// Whether an entry since then differs from this one in its time and request only.
pub(crate) async fn has_since(
    conn: &mut AsyncPgConnection,
    entry: &NewOperatorEntry<'_>,
    since: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let (actor, target) = (&entry.caller.actor, entry.event.target.as_ref());
    let same = operator_audit_log::table
        .filter(operator_audit_log::id.ge(AuditEntryId::first_of(since).to_string()))
        .filter(operator_audit_log::actor_name.eq(actor.name()))
        .filter(operator_audit_log::actor_type.eq(actor.kind()))
        .filter(operator_audit_log::actor_id.is_not_distinct_from(actor.id()))
        .filter(operator_audit_log::action.eq(<&str>::from(entry.event.action)))
        .filter(
            operator_audit_log::address
                .is_not_distinct_from(entry.caller.address.as_ref().map(CallerAddress::as_str)),
        )
        .filter(
            operator_audit_log::about_business.is_not_distinct_from(entry.business.map(|id| id.to_string())),
        )
        .filter(operator_audit_log::target_id.is_not_distinct_from(target.map(|target| target.id.as_str())))
        .filter(operator_audit_log::details.eq(entry.event.operator_details()));
    Ok(diesel::select(diesel::dsl::exists(same)).get_result(conn).await?)
}

/// How many entries of this action the actor has since then.
pub(crate) async fn count_since(
    conn: &mut AsyncPgConnection,
    entry: &NewOperatorEntry<'_>,
    since: DateTime<Utc>,
) -> Result<i64, StoreError> {
    let actor = &entry.caller.actor;
    let found = operator_audit_log::table
        .filter(operator_audit_log::id.ge(AuditEntryId::first_of(since).to_string()))
        .filter(operator_audit_log::actor_name.eq(actor.name()))
        .filter(operator_audit_log::actor_type.eq(actor.kind()))
        .filter(operator_audit_log::actor_id.is_not_distinct_from(actor.id()))
        .filter(operator_audit_log::action.eq(<&str>::from(entry.event.action)));
    Ok(found.count().get_result(conn).await?)
}

/// False for the entry from before a change of another service once the entry about its outcome is there: one event is one
/// entry.
fn is_outcome() -> Literal<Bool> {
    literal(
        "NOT (operator_audit_log.action IN ('wallet.credit_requested', 'wallet.debit_requested',
                'remittance.requested', 'business.personal_data_erasure_attempted')
            AND EXISTS (SELECT FROM operator_audit_log AS outcome
                WHERE outcome.request_id = operator_audit_log.request_id
                    AND outcome.action IN ('wallet.credited', 'wallet.debited', 'remittance.recorded',
                        'remittance.refused', 'business.personal_data_erasure_requested', 'business.personal_data_erasure_failed')))",
    )
}

/// Newest first. Reads one more than `limit` to show that more follow. `None` if `after` is no entry.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    filter: &OperatorFilter,
    limit: usize,
    after: Option<AuditEntryId>,
) -> Result<Option<Vec<OperatorEntry>>, StoreError> {
    let mut query = operator_audit_log::table
        .filter(is_outcome())
        .order(operator_audit_log::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select(EntryRow::as_select())
        .into_boxed();
    if let Some(action) = filter.action {
        query = query.filter(operator_audit_log::action.eq(<&str>::from(action)));
    }
    if let Some(actor) = &filter.actor {
        query = query.filter(operator_audit_log::actor_name.eq(actor));
    }
    if let Some(address) = &filter.address {
        query = query.filter(operator_audit_log::address.eq(address.as_str()));
    }
    if let Some(business) = filter.business {
        query = query.filter(operator_audit_log::about_business.eq(business.to_string()));
    }
    if filter.without_reads {
        query = query.filter(operator_audit_log::action.not_like("%.read"));
    }
    if let Some(since) = filter.since {
        query = query.filter(operator_audit_log::id.ge(AuditEntryId::first_of(since).to_string()));
    }
    if let Some(until) = filter.until {
        query = query.filter(operator_audit_log::id.lt(AuditEntryId::first_of(until).to_string()));
    }
    if let Some(after) = after {
        let known = operator_audit_log::table.find(after.to_string());
        if !diesel::select(diesel::dsl::exists(known)).get_result::<bool>(conn).await? {
            return Ok(None);
        }
        query = query.filter(operator_audit_log::id.lt(after.to_string()));
    }
    let rows: Vec<EntryRow> = query.load(conn).await?;
    rows.into_iter().map(OperatorEntry::try_from).collect::<Result<_, _>>().map(Some)
}

/// The names of those who sent these requests, by request.
pub(crate) async fn actors_of(
    conn: &mut AsyncPgConnection,
    requests: &[String],
) -> Result<HashMap<String, String>, StoreError> {
    let found: Vec<(Option<String>, String)> = operator_audit_log::table
        .filter(operator_audit_log::request_id.eq_any(requests))
        .select((operator_audit_log::request_id, operator_audit_log::actor_name))
        .load(conn)
        .await?;
    Ok(found.into_iter().filter_map(|(request, name)| Some((request?, name))).collect())
}

/// Deletes at most `max` entries written before `before`, and returns how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    let old = operator_audit_log::id.lt(AuditEntryId::first_of(before).to_string());
    prune!(conn, max, operator_audit_log::id: String, old)
}

impl TryFrom<EntryRow> for OperatorEntry {
    type Error = StoreError;

    fn try_from(row: EntryRow) -> Result<Self, StoreError> {
        let target = row.target_type.zip(row.target_id);
        Ok(Self {
            id: stored("operator_audit_log.id", &row.id)?,
            at: row.at,
            action: row.action,
            actor_type: row.actor_type,
            actor_id: row.actor_id,
            actor_name: row.actor_name,
            address: row.address,
            business: row.about_business,
            target: target.map(|(kind, id)| AuditTarget { kind, id, label: row.target_label }),
            request_id: row.request_id,
            details: row.details,
        })
    }
}
