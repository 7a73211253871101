//! The operator's staff.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::StaffId;
use postgres::StoreError;

use super::schema::staff;
use super::stored;
use crate::domain::{Email, NewStaff, OperatorRole, Staff, StaffCredentials, StaffIdentity};

/// Key of the advisory lock for changes of the staff.
const LOCK: i64 = 0x0073_7461_6666;
/// `last_seen_at` is written in steps of at least this length, so that most requests write nothing.
const SEEN_STEP: TimeDelta = TimeDelta::minutes(5);

#[derive(Queryable, Selectable)]
#[diesel(table_name = staff)]
pub(super) struct StaffRow {
    id: String,
    name: String,
    email: String,
    role: String,
    password_hash: Option<String>,
    created_at: DateTime<Utc>,
    last_seen_at: Option<DateTime<Utc>>,
    #[diesel(select_expression = sql::<Bool>(HAS_SECOND_FACTOR), select_expression_type = SqlLiteral<Bool>)]
    has_second_factor: bool,
    #[diesel(select_expression = sql::<Array<Text>>(ISSUERS), select_expression_type = SqlLiteral<Array<Text>>)]
    issuers: Vec<String>,
    #[diesel(select_expression = sql::<Array<Text>>(ISSUERS_WITHOUT_ROLE), select_expression_type = SqlLiteral<Array<Text>>)]
    issuers_without_role: Vec<String>,
}

const HAS_SECOND_FACTOR: &str = "EXISTS (SELECT FROM second_factors AS factor
    WHERE factor.staff_id = staff.id AND factor.confirmed_at IS NOT NULL)";
const ISSUERS: &str = "ARRAY(SELECT issuer FROM staff_identities AS identity
    WHERE identity.staff_id = staff.id AND role_lost_at IS NULL)";
const ISSUERS_WITHOUT_ROLE: &str = "ARRAY(SELECT issuer FROM staff_identities AS identity
    WHERE identity.staff_id = staff.id AND role_lost_at IS NOT NULL)";

/// Serializes changes of the staff until the transaction ends: of two administrators who demote each other, one succeeds.
pub(crate) async fn lock(conn: &mut AsyncPgConnection) -> Result<(), StoreError> {
    diesel::sql_query("SELECT pg_advisory_xact_lock($1)").bind::<BigInt, _>(LOCK).execute(conn).await?;
    Ok(())
}

/// False if the e-mail address already has an account. The transaction remains usable.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    id: StaffId,
    new: &NewStaff,
    created_at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let inserted = diesel::insert_into(staff::table)
        .values((
            staff::id.eq(id.to_string()),
            staff::name.eq(&new.name),
            staff::email.eq(new.email.as_str()),
            staff::email_key.eq(new.email.key()),
            staff::role.eq(new.role.as_str()),
            staff::created_at.eq(created_at),
        ))
        .on_conflict(staff::email_key)
        .do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

pub(crate) async fn find(conn: &mut AsyncPgConnection, id: StaffId) -> Result<Option<Staff>, StoreError> {
    let row = staff::table.find(id.to_string()).select(StaffRow::as_select()).first(conn).await.optional()?;
    row.map(Staff::try_from).transpose()
}

/// Oldest first. Reads one more than `limit` to show that more follow. `None` if `after` is not among them.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    limit: usize,
    after: Option<StaffId>,
) -> Result<Option<Vec<Staff>>, StoreError> {
    let mut query = staff::table
        .order(staff::id)
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select(StaffRow::as_select())
        .into_boxed();
    if let Some(after) = after {
        if find(conn, after).await?.is_none() {
            return Ok(None);
        }
        query = query.filter(staff::id.gt(after.to_string()));
    }
    let rows: Vec<StaffRow> = query.load(conn).await?;
    rows.into_iter().map(Staff::try_from).collect::<Result<_, _>>().map(Some)
}

pub(crate) async fn count(conn: &mut AsyncPgConnection) -> Result<i64, StoreError> {
    Ok(staff::table.count().get_result(conn).await?)
}

pub(crate) async fn credentials(
    conn: &mut AsyncPgConnection,
    email: &Email,
) -> Result<Option<StaffCredentials>, StoreError> {
    let row: Option<(String, String, Option<String>)> = staff::table
        .filter(staff::email_key.eq(email.key()))
        .select((staff::id, staff::email, staff::password_hash))
        .first(conn)
        .await
        .optional()?;
    row.map(|(id, email, password_hash)| {
        Ok(StaffCredentials { id: stored("staff.id", &id)?, email, password_hash })
    })
    .transpose()
}

/// Locks the person until the transaction ends. False if the password has changed since it was checked, or the person was
/// removed.
pub(crate) async fn lock_unchanged(
    conn: &mut AsyncPgConnection,
    checked: &StaffCredentials,
) -> Result<bool, StoreError> {
    let locked: Option<String> = staff::table
        .find(checked.id.to_string())
        .filter(staff::password_hash.eq(&checked.password_hash))
        .select(staff::id)
        .for_no_key_update()
        .first(conn)
        .await
        .optional()?;
    Ok(locked.is_some())
}

/// The administrators, also those who cannot log in. Exact while the staff is locked.
pub(crate) async fn administrators(conn: &mut AsyncPgConnection) -> Result<Vec<Staff>, StoreError> {
    let rows: Vec<StaffRow> = staff::table
        .filter(staff::role.eq(OperatorRole::Administrator.as_str()))
        .select(StaffRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(Staff::try_from).collect()
}

pub(crate) async fn set_role(
    conn: &mut AsyncPgConnection,
    id: StaffId,
    role: OperatorRole,
) -> Result<(), StoreError> {
    diesel::update(staff::table.find(id.to_string()))
        .set(staff::role.eq(role.as_str()))
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn set_name(
    conn: &mut AsyncPgConnection,
    id: StaffId,
    name: &str,
) -> Result<(), StoreError> {
    diesel::update(staff::table.find(id.to_string())).set(staff::name.eq(name)).execute(conn).await?;
    Ok(())
}

/// False if there is no such person.
pub(crate) async fn set_password(
    conn: &mut AsyncPgConnection,
    id: StaffId,
    hash: &str,
) -> Result<bool, StoreError> {
    let person = staff::table.find(id.to_string());
    Ok(diesel::update(person).set(staff::password_hash.eq(hash)).execute(conn).await? == 1)
}

pub(crate) async fn mark_seen(
    conn: &mut AsyncPgConnection,
    id: StaffId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let stale = staff::table
        .find(id.to_string())
        .filter(staff::last_seen_at.is_null().or(staff::last_seen_at.lt(now - SEEN_STEP)));
    diesel::update(stale).set(staff::last_seen_at.eq(now)).execute(conn).await?;
    Ok(())
}

/// Deletes the person with their sessions, their link, and the links that they created. False if there is no such person.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, id: StaffId) -> Result<bool, StoreError> {
    Ok(diesel::delete(staff::table.find(id.to_string())).execute(conn).await? == 1)
}

impl TryFrom<StaffRow> for Staff {
    type Error = StoreError;

    fn try_from(row: StaffRow) -> Result<Self, StoreError> {
        let identity = |has_role| move |issuer| StaffIdentity { issuer, has_role };
        let with_role = row.issuers.into_iter().map(identity(true));
        let identities = with_role.chain(row.issuers_without_role.into_iter().map(identity(false)));
        Ok(Self {
            identities: identities.collect(),
            id: stored("staff.id", &row.id)?,
            name: row.name,
            email: row.email,
            role: stored("staff.role", &row.role)?,
            has_password: row.password_hash.is_some(),
            created_at: row.created_at,
            last_seen_at: row.last_seen_at,
            has_second_factor: row.has_second_factor,
        })
    }
}
