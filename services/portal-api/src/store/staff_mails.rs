//! The queue of mails to the operator's staff, next to the queue of the businesses. Its mails contain no tokens.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::StaffId;
use postgres::{StoreError, statement};

use super::mails::ClaimedMail;
use super::schema::staff_mails;

pub(crate) struct NewStaffMail<'a> {
    pub(crate) person: StaffId,
    pub(crate) kind: &'static str,
    pub(crate) recipient: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) text: &'a str,
    pub(crate) html: &'a str,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
}

/// False if the person already has `max` queued mails.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    mail: &NewStaffMail<'_>,
    max: i64,
) -> Result<bool, StoreError> {
    let own = staff_mails::table.filter(staff_mails::staff_id.eq(mail.person.to_string()));
    if own.count().get_result::<i64>(conn).await? >= max {
        return Ok(false);
    }
    diesel::insert_into(staff_mails::table)
        .values((
            staff_mails::staff_id.eq(mail.person.to_string()),
            staff_mails::kind.eq(mail.kind),
            staff_mails::recipient.eq(mail.recipient),
            staff_mails::subject.eq(mail.subject),
            staff_mails::text_body.eq(mail.text),
            staff_mails::html_body.eq(mail.html),
            staff_mails::created_at.eq(mail.created_at),
            staff_mails::due_at.eq(mail.created_at),
            staff_mails::expires_at.eq(mail.expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(true)
}

/// Other instances skip these mails until the lease expires.
const CLAIM: &str = "
UPDATE staff_mails SET due_at = $2, attempts = attempts + 1
WHERE id = ANY (ARRAY(SELECT id FROM staff_mails WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
RETURNING id, NULL::text AS business_id, kind, recipient, subject, text_body, html_body, NULL::bytea AS sealed_token,
    attempts, expires_at <= $1 AS is_expired";

/// Claims up to `max` due mails, including expired ones, which then count as failed.
pub(crate) async fn claim(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    lease: TimeDelta,
    max: i64,
) -> Result<Vec<ClaimedMail>, StoreError> {
    Ok(statement(CLAIM)
        .bind::<Timestamptz, _>(now)
        .bind::<Timestamptz, _>(now + lease)
        .bind::<BigInt, _>(max)
        .load(conn)
        .await?)
}

/// Deletes a mail that was sent or has failed for good.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, id: i64) -> Result<(), StoreError> {
    diesel::delete(staff_mails::table.find(id)).execute(conn).await?;
    Ok(())
}

/// Schedules the next attempt.
pub(crate) async fn reschedule(
    conn: &mut AsyncPgConnection,
    id: i64,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    diesel::update(staff_mails::table.find(id)).set(staff_mails::due_at.eq(at)).execute(conn).await?;
    Ok(())
}

/// Deletes at most `max` mails that expired before `expired_before`, and returns how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    expired_before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, staff_mails::id: i64, staff_mails::expires_at.le(expired_before))
}
