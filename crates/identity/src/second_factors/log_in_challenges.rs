//! Log-ins with a right password that wait for the second factor, stored by the digest of the cookie.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use crate::accounts::{self, Account};
use crate::schema::log_in_challenges;
use crate::secrets::SecretToken;

/// A challenge that may still be answered.
pub struct Challenge {
    pub account: Account,
    pub password_digest: Vec<u8>,
}

type ChallengeRow = (String, String, Vec<u8>);

const COLUMNS: (log_in_challenges::account_id, log_in_challenges::realm, log_in_challenges::password_digest) =
    (log_in_challenges::account_id, log_in_challenges::realm, log_in_challenges::password_digest);

/// One that has not ended, with tries left.
macro_rules! open {
    ($token:expr, $tries_max:expr, $now:expr) => {
        log_in_challenges::table
            .find($token.digest().to_vec())
            .filter(log_in_challenges::expires_at.gt($now))
            .filter(log_in_challenges::tries.lt($tries_max))
    };
}

pub async fn insert(
    conn: &mut AsyncPgConnection,
    account: Account,
    token: &SecretToken,
    password_digest: [u8; 32],
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    diesel::insert_into(log_in_challenges::table)
        .values((
            log_in_challenges::token_hash.eq(token.digest().to_vec()),
            log_in_challenges::account_id.eq(account.id()),
            log_in_challenges::realm.eq(account.realm().as_str()),
            log_in_challenges::password_digest.eq(password_digest.to_vec()),
            log_in_challenges::created_at.eq(now),
            log_in_challenges::expires_at.eq(expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// A challenge with tries left. Counts none.
pub async fn find(
    conn: &mut AsyncPgConnection,
    token: &SecretToken,
    tries_max: i32,
    now: DateTime<Utc>,
) -> Result<Option<Challenge>, StoreError> {
    let row = open!(token, tries_max, now).select(COLUMNS).first(conn).await.optional()?;
    row.map(challenge).transpose()
}

/// Counts a try, and returns the challenge. `None` if it has ended or has no tries left. Counted in one statement, before the
/// code is checked, so that simultaneous guesses count too.
pub async fn take_try(
    conn: &mut AsyncPgConnection,
    token: &SecretToken,
    tries_max: i32,
    now: DateTime<Utc>,
) -> Result<Option<Challenge>, StoreError> {
    let row: Option<ChallengeRow> = diesel::update(open!(token, tries_max, now))
        .set(log_in_challenges::tries.eq(log_in_challenges::tries + 1))
        .returning(COLUMNS)
        .get_result(conn)
        .await
        .optional()?;
    row.map(challenge).transpose()
}

fn challenge((id, realm, password_digest): ChallengeRow) -> Result<Challenge, StoreError> {
    Ok(Challenge { account: accounts::read(&realm, &id)?, password_digest })
}

/// Ends a challenge. False if it has ended already.
pub async fn remove(conn: &mut AsyncPgConnection, token: &SecretToken) -> Result<bool, StoreError> {
    let challenge = log_in_challenges::table.find(token.digest().to_vec());
    Ok(diesel::delete(challenge).execute(conn).await? == 1)
}

/// Deletes at most `max` challenges that have expired, and returns how many. Covers all businesses.
pub async fn prune(conn: &mut AsyncPgConnection, now: DateTime<Utc>, max: i64) -> Result<usize, StoreError> {
    prune!(conn, max, log_in_challenges::token_hash: Vec<u8>, log_in_challenges::expires_at.le(now))
}
