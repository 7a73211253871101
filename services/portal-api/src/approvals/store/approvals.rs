//! Requests of the operator for the approval of a second person.

use chrono::{DateTime, Utc};
use diesel::sql_types::BigInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{ApprovalId, BusinessId};
use identity::{prune, stored};
use postgres::StoreError;
use serde_json::{Value, json};

use crate::approvals::domain::{
    Approval, ApprovalFilter, ApprovalKind, ApprovalState, Decision, ProtectedAction,
};
use crate::domain::OperatorActor;
use crate::store::schema::operator_approvals;
use diesel::prelude::*;

/// Key of the advisory lock for new requests.
const LOCK: i64 = 0x6170_7072_6f76_6573;

#[derive(Queryable, Selectable)]
#[diesel(table_name = operator_approvals)]
struct ApprovalRow {
    id: String,
    kind: String,
    about_business: Option<String>,
    parameters: Value,
    state: String,
    requester_type: String,
    requester_id: Option<String>,
    requester_name: String,
    requested_at: DateTime<Utc>,
    expires_at: Option<DateTime<Utc>>,
    decider_id: Option<String>,
    decider_email: Option<String>,
    decided_at: Option<DateTime<Utc>>,
    reason: Option<String>,
    ended_at: Option<DateTime<Utc>>,
    outcome: Option<String>,
    booked_at: Option<DateTime<Utc>>,
}

/// Serializes new requests until the transaction ends, so that their number stays within its limits.
pub(crate) async fn lock(conn: &mut AsyncPgConnection) -> Result<(), StoreError> {
    diesel::sql_query("SELECT pg_advisory_xact_lock($1)").bind::<BigInt, _>(LOCK).execute(conn).await?;
    Ok(())
}

pub(crate) async fn insert(conn: &mut AsyncPgConnection, new: &Approval) -> Result<(), StoreError> {
    diesel::insert_into(operator_approvals::table)
        .values((
            operator_approvals::id.eq(new.id.to_string()),
            operator_approvals::kind.eq(<&str>::from(new.kind())),
            operator_approvals::about_business.eq(new.business.map(|id| id.to_string())),
            operator_approvals::parameters.eq(parameters(&new.action)?),
            operator_approvals::state.eq(new.stored.as_str()),
            operator_approvals::requester_type.eq(new.requester.kind()),
            operator_approvals::requester_id.eq(new.requester.id()),
            operator_approvals::requester_name.eq(new.requester.name()),
            operator_approvals::requested_at.eq(new.requested_at),
            operator_approvals::expires_at.eq(new.expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// The open requests of a caller, or of all. Exact while new requests are locked.
pub(crate) async fn count_open(
    conn: &mut AsyncPgConnection,
    of: Option<&OperatorActor>,
    now: DateTime<Utc>,
) -> Result<i64, StoreError> {
    let mut open = operator_approvals::table
        .filter(operator_approvals::ended_at.is_null())
        .filter(operator_approvals::expires_at.is_null().or(operator_approvals::expires_at.gt(now)))
        .into_boxed();
    if let Some(requester) = of {
        open = open
            .filter(operator_approvals::requester_type.eq(requester.kind()))
            .filter(operator_approvals::requester_id.is_not_distinct_from(requester.id()));
    }
    Ok(open.count().get_result(conn).await?)
}

/// The open request of this caller for the same action.
pub(crate) async fn find_same(
    conn: &mut AsyncPgConnection,
    new: &Approval,
) -> Result<Option<Approval>, StoreError> {
    let row = operator_approvals::table
        .filter(operator_approvals::ended_at.is_null())
        .filter(operator_approvals::expires_at.gt(new.requested_at))
        .filter(
            operator_approvals::about_business.is_not_distinct_from(new.business.map(|id| id.to_string())),
        )
        .filter(operator_approvals::kind.eq(<&str>::from(new.kind())))
        .filter(operator_approvals::parameters.eq(parameters(&new.action)?))
        .filter(operator_approvals::requester_type.eq(new.requester.kind()))
        .filter(operator_approvals::requester_id.is_not_distinct_from(new.requester.id()))
        .select(ApprovalRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Approval::try_from).transpose()
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    id: ApprovalId,
) -> Result<Option<Approval>, StoreError> {
    let row = operator_approvals::table
        .find(id.to_string())
        .select(ApprovalRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Approval::try_from).transpose()
}

/// Locks the request until the transaction ends.
pub(crate) async fn find_for_update(
    conn: &mut AsyncPgConnection,
    id: ApprovalId,
) -> Result<Option<Approval>, StoreError> {
    let row = operator_approvals::table
        .find(id.to_string())
        .select(ApprovalRow::as_select())
        .for_no_key_update()
        .first(conn)
        .await
        .optional()?;
    row.map(Approval::try_from).transpose()
}

/// Locks the waiting requests to lift a suspension of the business, except one. Skips those that somebody is deciding now:
/// their suspension is compared then.
pub(crate) async fn waiting_lifts(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    except: Option<ApprovalId>,
) -> Result<Vec<Approval>, StoreError> {
    let except = except.map(|id| id.to_string()).unwrap_or_default();
    let rows: Vec<ApprovalRow> = operator_approvals::table
        .filter(operator_approvals::ended_at.is_null())
        .filter(operator_approvals::about_business.eq(business.to_string()))
        .filter(operator_approvals::kind.eq(<&str>::from(ApprovalKind::LiftSuspension)))
        .filter(operator_approvals::id.ne(except))
        .order(operator_approvals::id)
        .select(ApprovalRow::as_select())
        .for_no_key_update()
        .skip_locked()
        .load(conn)
        .await?;
    rows.into_iter().map(Approval::try_from).collect()
}

/// Writes what steps change.
pub(crate) async fn update(conn: &mut AsyncPgConnection, after: &Approval) -> Result<(), StoreError> {
    let decision = after.decision.as_ref();
    let updated = diesel::update(operator_approvals::table.find(after.id.to_string()))
        .set((
            operator_approvals::state.eq(after.stored.as_str()),
            operator_approvals::expires_at.eq(after.expires_at),
            operator_approvals::decider_id.eq(decision.map(|decision| decision.by.to_string())),
            operator_approvals::decider_email.eq(decision.map(|decision| decision.email.as_str())),
            operator_approvals::decided_at.eq(decision.map(|decision| decision.at)),
            operator_approvals::reason.eq(decision.and_then(|decision| decision.reason.as_deref())),
            operator_approvals::ended_at.eq(after.ended_at),
            operator_approvals::outcome.eq(after.outcome.as_deref()),
            operator_approvals::booked_at.eq(after.booked_at),
        ))
        .execute(conn)
        .await?;
    if updated == 1 { Ok(()) } else { Err(StoreError::Corrupt("a locked approval disappeared".to_owned())) }
}

/// Newest first. Reads one more than `limit` to show that more follow. `None` if `after` is no request.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    filter: &ApprovalFilter,
    limit: usize,
    after: Option<ApprovalId>,
    now: DateTime<Utc>,
) -> Result<Option<Vec<Approval>>, StoreError> {
    let kinds = filter.kinds.iter().map(|kind| <&str>::from(*kind));
    let mut query = operator_approvals::table
        .filter(operator_approvals::kind.eq_any(kinds))
        .order(operator_approvals::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select(ApprovalRow::as_select())
        .into_boxed();
    query = match filter.state {
        None => query,
        Some(ApprovalState::Expired) => query.filter(operator_approvals::expires_at.le(now)),
        Some(state) => query
            .filter(operator_approvals::state.eq(state.as_str()))
            .filter(operator_approvals::expires_at.is_null().or(operator_approvals::expires_at.gt(now))),
    };
    if let Some(business) = filter.business {
        query = query.filter(operator_approvals::about_business.eq(business.to_string()));
    }
    if let Some(after) = after {
        if find(conn, after).await?.is_none() {
            return Ok(None);
        }
        query = query.filter(operator_approvals::id.lt(after.to_string()));
    }
    let rows: Vec<ApprovalRow> = query.load(conn).await?;
    rows.into_iter().map(Approval::try_from).collect::<Result<_, _>>().map(Some)
}

/// Deletes at most `max` requests made before `before`, and returns how many. Credits without an outcome stay.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    let old = operator_approvals::id.lt(ApprovalId::first_of(before).to_string());
    let is_over = operator_approvals::ended_at.is_not_null().or(operator_approvals::expires_at.is_not_null());
    prune!(conn, max, operator_approvals::id: String, old.and(is_over))
}

fn parameters(action: &ProtectedAction) -> Result<Value, StoreError> {
    let stored = serde_json::to_value(action).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    Ok(stored["parameters"].clone())
}

impl TryFrom<ApprovalRow> for Approval {
    type Error = StoreError;

    fn try_from(row: ApprovalRow) -> Result<Self, StoreError> {
        let damaged = |column: &str| {
            StoreError::Corrupt(format!("operator_approvals.{column} has an unexpected value"))
        };
        let action = json!({ "kind": row.kind, "parameters": row.parameters });
        let requester =
            OperatorActor::stored(&row.requester_type, row.requester_id.as_deref(), row.requester_name);
        let decision = match (row.decider_id, row.decider_email, row.decided_at) {
            (Some(by), Some(email), Some(at)) => Some(Decision {
                by: stored("operator_approvals.decider_id", &by)?,
                email,
                at,
                reason: row.reason,
            }),
            _ => None,
        };
        Ok(Self {
            id: stored("operator_approvals.id", &row.id)?,
            business: row
                .about_business
                .map(|id| stored("operator_approvals.about_business", &id))
                .transpose()?,
            action: serde_json::from_value(action).map_err(|_| damaged("parameters"))?,
            stored: stored("operator_approvals.state", &row.state)?,
            requester: requester.ok_or_else(|| damaged("requester"))?,
            requested_at: row.requested_at,
            expires_at: row.expires_at,
            decision,
            ended_at: row.ended_at,
            outcome: row.outcome,
            booked_at: row.booked_at,
        })
    }
}
