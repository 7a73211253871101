//! Visits to the identity provider that have not returned, stored by the digest of the cookie.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use super::{SsoPurpose, SsoSubject};
use crate::schema::sso_log_ins;
use crate::secrets::{SecretToken, SessionToken};
use crate::stored;

/// A visit that has returned.
pub struct SsoVisit {
    pub purpose: SsoPurpose,
    /// Of the session that the visit is for, except to log in.
    pub session_digest: Option<Vec<u8>>,
    pub started_at: DateTime<Utc>,
}

pub async fn insert(
    conn: &mut AsyncPgConnection,
    token: &SecretToken,
    (subject, issuer): (SsoSubject, &str),
    (purpose, session): (SsoPurpose, Option<&SessionToken>),
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    diesel::insert_into(sso_log_ins::table)
        .values((
            sso_log_ins::token_hash.eq(token.digest().to_vec()),
            sso_log_ins::business_id.eq(subject.business().map(|business| business.to_string())),
            sso_log_ins::issuer.eq(issuer),
            sso_log_ins::purpose.eq(purpose.as_str()),
            sso_log_ins::session_hash.eq(session.map(|session| session.digest().to_vec())),
            sso_log_ins::created_at.eq(now),
            sso_log_ins::expires_at.eq(expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Ends the visit, and returns it. `None` if it has expired, has returned before, or is one to another provider. In one
/// statement, so that of simultaneous returns one succeeds.
pub async fn take(
    conn: &mut AsyncPgConnection,
    token: &SecretToken,
    (subject, issuer): (SsoSubject, &str),
    now: DateTime<Utc>,
) -> Result<Option<SsoVisit>, StoreError> {
    let open = sso_log_ins::table
        .filter(sso_log_ins::token_hash.eq(token.digest().to_vec()))
        .filter(
            sso_log_ins::business_id
                .is_not_distinct_from(subject.business().map(|business| business.to_string())),
        )
        .filter(sso_log_ins::issuer.eq(issuer))
        .filter(sso_log_ins::expires_at.gt(now));
    let row: Option<(String, Option<Vec<u8>>, DateTime<Utc>)> = diesel::delete(open)
        .returning((sso_log_ins::purpose, sso_log_ins::session_hash, sso_log_ins::created_at))
        .get_result(conn)
        .await
        .optional()?;
    row.map(|(purpose, session_digest, started_at)| {
        let purpose = stored("sso_log_ins.purpose", &purpose)?;
        Ok(SsoVisit { purpose, session_digest, started_at })
    })
    .transpose()
}

/// Deletes at most `max` visits that have expired, and returns how many.
pub async fn prune(conn: &mut AsyncPgConnection, now: DateTime<Utc>, max: i64) -> Result<usize, StoreError> {
    prune!(conn, max, sso_log_ins::token_hash: Vec<u8>, sso_log_ins::expires_at.le(now))
}
