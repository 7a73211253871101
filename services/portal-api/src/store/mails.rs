//! Mails that are to be sent: put in with the change that causes them, taken out by whoever sends them.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::{StoreError, statement};

use super::schema::mails;

/// A mail before it is kept.
pub(crate) struct NewMail<'a> {
    pub(crate) business: BusinessId,
    pub(crate) kind: &'static str,
    pub(crate) recipient: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) text: &'a str,
    pub(crate) html: &'a str,
    /// The secret of its link, which the texts hold a mark for.
    pub(crate) sealed_token: Option<Vec<u8>>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
}

/// A mail that is about to be sent.
#[derive(QueryableByName)]
pub(crate) struct Claimed {
    #[diesel(sql_type = BigInt)]
    pub(crate) id: i64,
    #[diesel(sql_type = Text)]
    pub(crate) business_id: String,
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
    /// This one included.
    #[diesel(sql_type = Integer)]
    pub(crate) attempts: i32,
    /// Nobody needs it any more.
    #[diesel(sql_type = Bool)]
    pub(crate) is_expired: bool,
}

/// False when the business has `max` waiting already.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    mail: &NewMail<'_>,
    max: i64,
) -> Result<bool, StoreError> {
    let own = mails::table.filter(mails::business_id.eq(mail.business.to_string()));
    let waiting: i64 = own.count().get_result(conn).await?;
    if waiting >= max {
        return Ok(false);
    }
    // A sealed one is never due for the release before, which does not know the seal.
    let (due_at, ready_at) = match mail.sealed_token {
        Some(_) => (mail.expires_at, Some(mail.created_at)),
        None => (mail.created_at, None),
    };
    diesel::insert_into(mails::table)
        .values((
            mails::business_id.eq(mail.business.to_string()),
            mails::kind.eq(mail.kind),
            mails::recipient.eq(mail.recipient),
            mails::subject.eq(mail.subject),
            mails::text_body.eq(mail.text),
            mails::html_body.eq(mail.html),
            mails::created_at.eq(mail.created_at),
            mails::due_at.eq(due_at),
            mails::ready_at.eq(ready_at),
            mails::sealed_token.eq(&mail.sealed_token),
            mails::expires_at.eq(mail.expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(true)
}

/// Nobody else takes them before the lease ends; whoever dies meanwhile has them sent again.
const CLAIM: &str = "
UPDATE mails SET
    due_at = CASE WHEN ready_at IS NULL THEN $2 ELSE due_at END,
    ready_at = CASE WHEN ready_at IS NULL THEN NULL ELSE $2 END,
    attempts = attempts + 1
WHERE id = ANY (ARRAY(
    SELECT id FROM mails WHERE due_at <= $1 OR ready_at <= $1
    ORDER BY coalesce(ready_at, due_at) LIMIT $3 FOR UPDATE SKIP LOCKED
))
RETURNING id, business_id, kind, recipient, subject, text_body, html_body, sealed_token, attempts,
    expires_at <= $1 AS is_expired";

/// Takes up to `max` that are due, expired ones too: they are counted as given up. Serves all businesses.
pub(crate) async fn claim(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    lease: TimeDelta,
    max: i64,
) -> Result<Vec<Claimed>, StoreError> {
    Ok(statement(CLAIM)
        .bind::<Timestamptz, _>(now)
        .bind::<Timestamptz, _>(now + lease)
        .bind::<BigInt, _>(max)
        .load(conn)
        .await?)
}

/// Forgets a mail that was sent, or given up.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, id: i64) -> Result<(), StoreError> {
    diesel::delete(mails::table.find(id)).execute(conn).await?;
    Ok(())
}

/// Has it tried again.
pub(crate) async fn put_off(
    conn: &mut AsyncPgConnection,
    mail: &Claimed,
    until: DateTime<Utc>,
) -> Result<(), StoreError> {
    let row = mails::table.find(mail.id);
    match mail.sealed_token {
        Some(_) => diesel::update(row).set(mails::ready_at.eq(until)).execute(conn).await?,
        None => diesel::update(row).set(mails::due_at.eq(until)).execute(conn).await?,
    };
    Ok(())
}

/// Removes at most `max` that expired before `expired_before`, which nobody sends any more; tells how many. Serves all
/// businesses.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    expired_before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, mails::id: i64, mails::expires_at.le(expired_before))
}
