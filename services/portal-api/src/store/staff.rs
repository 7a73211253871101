//! The operator's staff.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::dsl::sql;
use diesel::sql_types::{Array, BigInt, Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::StaffId;
use identity::{Account, LinkToken, Realm, password_links, stored};
use postgres::StoreError;

use crate::console::domain::{NewStaff, Staff, StaffIdentity};
use crate::domain::OperatorRole;
use crate::store::schema::{accounts, staff_roles};
use diesel::prelude::*;

/// Key of the advisory lock for changes of the staff.
const LOCK: i64 = 0x0073_7461_6666;
/// `last_seen_at` is written in steps of at least this length, so that most requests write nothing.
const SEEN_STEP: TimeDelta = TimeDelta::minutes(5);

#[derive(Queryable)]
struct StaffRow {
    id: String,
    name: Option<String>,
    email: String,
    role: String,
    password_hash: Option<String>,
    created_at: DateTime<Utc>,
    last_seen_at: Option<DateTime<Utc>>,
    has_second_factor: bool,
    issuers: Vec<String>,
    issuers_without_role: Vec<String>,
}

const HAS_SECOND_FACTOR: &str = "EXISTS (SELECT FROM second_factors AS factor
    WHERE factor.account_id = accounts.id AND factor.confirmed_at IS NOT NULL)";
const ISSUERS: &str = "ARRAY(SELECT issuer FROM identities AS identity
    WHERE identity.account_id = accounts.id AND role_lost_at IS NULL)";
const ISSUERS_WITHOUT_ROLE: &str = "ARRAY(SELECT issuer FROM identities AS identity
    WHERE identity.account_id = accounts.id AND role_lost_at IS NOT NULL)";

/// Persons with their roles.
macro_rules! persons {
    () => {
        staff_roles::table.inner_join(accounts::table)
    };
}

macro_rules! columns {
    () => {
        (
            accounts::id,
            accounts::name,
            accounts::email,
            staff_roles::role,
            accounts::password_hash,
            accounts::created_at,
            staff_roles::last_seen_at,
            sql::<Bool>(HAS_SECOND_FACTOR),
            sql::<Array<Text>>(ISSUERS),
            sql::<Array<Text>>(ISSUERS_WITHOUT_ROLE),
        )
    };
}

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
    let inserted = diesel::insert_into(accounts::table)
        .values((
            accounts::id.eq(id.to_string()),
            accounts::realm.eq(Realm::Staff.as_str()),
            accounts::name.eq(&new.name),
            accounts::email.eq(new.email.as_str()),
            accounts::email_key.eq(new.email.key()),
            accounts::created_at.eq(created_at),
        ))
        .on_conflict((accounts::realm, accounts::email_key))
        .do_nothing()
        .execute(conn)
        .await?;
    if inserted == 0 {
        return Ok(false);
    }
    let role = (staff_roles::account_id.eq(id.to_string()), staff_roles::role.eq(new.role.as_str()));
    diesel::insert_into(staff_roles::table).values(role).execute(conn).await?;
    Ok(true)
}

pub(crate) async fn find(conn: &mut AsyncPgConnection, id: StaffId) -> Result<Option<Staff>, StoreError> {
    let person = persons!().filter(accounts::id.eq(id.to_string())).select(columns!());
    let row: Option<StaffRow> = person.first(conn).await.optional()?;
    row.map(Staff::try_from).transpose()
}

/// The person whose password the link sets, unless it has expired.
pub(crate) async fn of_link(
    conn: &mut AsyncPgConnection,
    token: &LinkToken,
    now: DateTime<Utc>,
) -> Result<Option<Staff>, StoreError> {
    match password_links::find(conn, token, now).await? {
        Some(Account::Staff(id)) => find(conn, id).await,
        Some(Account::User(_)) | None => Ok(None),
    }
}

/// Oldest first. Reads one more than `limit` to show that more follow. `None` if `after` is not among them.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    limit: usize,
    after: Option<StaffId>,
) -> Result<Option<Vec<Staff>>, StoreError> {
    let mut query = persons!()
        .order(accounts::id)
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select(columns!())
        .into_boxed();
    if let Some(after) = after {
        if find(conn, after).await?.is_none() {
            return Ok(None);
        }
        query = query.filter(accounts::id.gt(after.to_string()));
    }
    let rows: Vec<StaffRow> = query.load(conn).await?;
    rows.into_iter().map(Staff::try_from).collect::<Result<_, _>>().map(Some)
}

pub(crate) async fn count(conn: &mut AsyncPgConnection) -> Result<i64, StoreError> {
    Ok(staff_roles::table.count().get_result(conn).await?)
}

/// The administrators, also those who cannot log in. Exact while the staff is locked.
pub(crate) async fn administrators(conn: &mut AsyncPgConnection) -> Result<Vec<Staff>, StoreError> {
    let rows: Vec<StaffRow> = persons!()
        .filter(staff_roles::role.eq(OperatorRole::Administrator.as_str()))
        .select(columns!())
        .load(conn)
        .await?;
    rows.into_iter().map(Staff::try_from).collect()
}

pub(crate) async fn set_role(
    conn: &mut AsyncPgConnection,
    id: StaffId,
    role: OperatorRole,
) -> Result<(), StoreError> {
    diesel::update(staff_roles::table.find(id.to_string()))
        .set(staff_roles::role.eq(role.as_str()))
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn mark_seen(
    conn: &mut AsyncPgConnection,
    id: StaffId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let stale = staff_roles::table
        .find(id.to_string())
        .filter(staff_roles::last_seen_at.is_null().or(staff_roles::last_seen_at.lt(now - SEEN_STEP)));
    diesel::update(stale).set(staff_roles::last_seen_at.eq(now)).execute(conn).await?;
    Ok(())
}

/// Deletes the person with their sessions, their link, and the links that they created. False if there is no such person.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, id: StaffId) -> Result<bool, StoreError> {
    let account = accounts::table.find(id.to_string()).filter(accounts::realm.eq(Realm::Staff.as_str()));
    Ok(diesel::delete(account).execute(conn).await? == 1)
}

impl TryFrom<StaffRow> for Staff {
    type Error = StoreError;

    fn try_from(row: StaffRow) -> Result<Self, StoreError> {
        let identity = |has_role| move |issuer| StaffIdentity { issuer, has_role };
        let with_role = row.issuers.into_iter().map(identity(true));
        let identities = with_role.chain(row.issuers_without_role.into_iter().map(identity(false)));
        Ok(Self {
            identities: identities.collect(),
            id: stored("accounts.id", &row.id)?,
            name: row.name.unwrap_or_default(),
            email: row.email,
            role: stored("staff_roles.role", &row.role)?,
            has_password: row.password_hash.is_some(),
            created_at: row.created_at,
            last_seen_at: row.last_seen_at,
            has_second_factor: row.has_second_factor,
        })
    }
}
