//! The queue of mails. Mails are inserted in the transaction of the change that causes them, and removed once sent.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, StaffId};
use identity::prune;
use postgres::{StoreError, statement};

use crate::store::schema::mails;
use diesel::prelude::*;

/// Whose queue a mail is in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MailOwner {
    Business(BusinessId),
    Staff(StaffId),
}

impl From<BusinessId> for MailOwner {
    fn from(business: BusinessId) -> Self {
        Self::Business(business)
    }
}

impl From<StaffId> for MailOwner {
    fn from(person: StaffId) -> Self {
        Self::Staff(person)
    }
}

pub(crate) struct NewMail<'a> {
    pub(crate) owner: MailOwner,
    pub(crate) kind: &'static str,
    pub(crate) recipient: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) text: &'a str,
    pub(crate) html: &'a str,
    /// The encrypted token of the link. The texts contain a placeholder for it.
    pub(crate) sealed_token: Option<Vec<u8>>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
}

/// A mail that this instance is sending.
#[derive(QueryableByName)]
pub(crate) struct ClaimedMail {
    #[diesel(sql_type = BigInt)]
    pub(crate) id: i64,
    /// `None` for a mail to the operator's staff.
    #[diesel(sql_type = Nullable<Text>)]
    pub(crate) business_id: Option<String>,
    #[diesel(sql_type = Text)]
    pub(crate) kind: String,
    #[diesel(sql_type = Text)]
    pub(crate) recipient: String,
    #[diesel(sql_type = Text)]
    pub(crate) subject: String,
    #[diesel(sql_type = Text)]
    pub(crate) text_body: String,
    #[diesel(sql_type = Text)]
    pub(crate) html_body: String,
    #[diesel(sql_type = Nullable<Binary>)]
    pub(crate) sealed_token: Option<Vec<u8>>,
    /// Including the current one.
    #[diesel(sql_type = Integer)]
    pub(crate) attempts: i32,
    #[diesel(sql_type = Bool)]
    pub(crate) is_expired: bool,
}

/// False if the owner already has `max` queued mails.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    mail: &NewMail<'_>,
    max: i64,
) -> Result<bool, StoreError> {
    let (business, staff) = match mail.owner {
        MailOwner::Business(id) => (Some(id.to_string()), None),
        MailOwner::Staff(id) => (None, Some(id.to_string())),
    };
    // NULL equals nothing.
    let own = mails::table.filter(mails::business_id.eq(&business).or(mails::staff_id.eq(&staff)));
    let queued: i64 = own.count().get_result(conn).await?;
    if queued >= max {
        return Ok(false);
    }
    diesel::insert_into(mails::table)
        .values((
            mails::business_id.eq(&business),
            mails::staff_id.eq(&staff),
            mails::kind.eq(mail.kind),
            mails::recipient.eq(mail.recipient),
            mails::subject.eq(mail.subject),
            mails::text_body.eq(mail.text),
            mails::html_body.eq(mail.html),
            mails::created_at.eq(mail.created_at),
            mails::due_at.eq(mail.created_at),
            mails::sealed_token.eq(&mail.sealed_token),
            mails::expires_at.eq(mail.expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(true)
}

/// Other instances skip these mails until the lease expires. If this instance crashes, another one sends them again.
const CLAIM: &str = "
UPDATE mails SET due_at = $2, attempts = attempts + 1
WHERE id = ANY (ARRAY(SELECT id FROM mails WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
RETURNING id, business_id, kind, recipient, subject, text_body, html_body, sealed_token, attempts,
    expires_at <= $1 AS is_expired";

/// Claims up to `max` due mails, including expired ones, which then count as failed. Covers all businesses.
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
    diesel::delete(mails::table.find(id)).execute(conn).await?;
    Ok(())
}

/// Schedules the next attempt.
pub(crate) async fn reschedule(
    conn: &mut AsyncPgConnection,
    id: i64,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    diesel::update(mails::table.find(id)).set(mails::due_at.eq(at)).execute(conn).await?;
    Ok(())
}

/// Deletes at most `max` mails that expired before `expired_before`, and returns how many. Covers all businesses.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    expired_before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, mails::id: i64, mails::expires_at.le(expired_before))
}
