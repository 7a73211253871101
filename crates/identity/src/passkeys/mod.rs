//! Passkeys of accounts. They refer to the second factor, and end with it.

mod own_passkeys;
mod passkey;
pub mod passkey_ceremonies;
mod web_authn;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::PasskeyId;
use postgres::StoreError;
use serde_json::Value;

pub use passkey::{CEREMONY_LASTS, CeremonyKey, CeremonyPurpose, PASSKEYS_MAX, Passkey, is_later_use};
pub use web_authn::{Assertion, Attestation, PasskeyError, Passkeys, VerifiedPasskey, VerifiedUse};

use crate::accounts::Account;
use crate::schema::passkeys;
use crate::stored;

/// A passkey to be added.
pub struct NewPasskey<'a> {
    pub id: PasskeyId,
    pub name: &'a str,
    pub credential_id: &'a [u8],
    /// As the library serialises it.
    pub credential: &'a Value,
}

type PasskeyRow = (String, String, DateTime<Utc>, Option<DateTime<Utc>>);

macro_rules! of_account {
    ($account:expr) => {
        passkeys::table
            .filter(passkeys::account_id.eq($account.id()))
            .filter(passkeys::realm.eq($account.realm().as_str()))
    };
}

/// The oldest first.
pub async fn list(conn: &mut AsyncPgConnection, account: Account) -> Result<Vec<Passkey>, StoreError> {
    let rows: Vec<PasskeyRow> = of_account!(account)
        .order((passkeys::created_at, passkeys::id))
        .select((passkeys::id, passkeys::name, passkeys::created_at, passkeys::last_used_at))
        .load(conn)
        .await?;
    rows.into_iter()
        .map(|(id, name, created_at, last_used_at)| {
            Ok(Passkey { id: stored("passkeys.id", &id)?, name, created_at, last_used_at })
        })
        .collect()
}

pub async fn count(conn: &mut AsyncPgConnection, account: Account) -> Result<i64, StoreError> {
    Ok(of_account!(account).count().get_result(conn).await?)
}

/// As the library serialises them.
pub async fn credentials(conn: &mut AsyncPgConnection, account: Account) -> Result<Vec<Value>, StoreError> {
    Ok(of_account!(account).order(passkeys::id).select(passkeys::credential).load(conn).await?)
}

/// False if an account has the credential already. The caller has locked the second factor.
pub async fn insert(
    conn: &mut AsyncPgConnection,
    account: Account,
    new: &NewPasskey<'_>,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let inserted = diesel::insert_into(passkeys::table)
        .values((
            passkeys::id.eq(new.id.to_string()),
            passkeys::account_id.eq(account.id()),
            passkeys::realm.eq(account.realm().as_str()),
            passkeys::credential_id.eq(new.credential_id),
            passkeys::credential.eq(new.credential),
            passkeys::name.eq(new.name),
            passkeys::created_at.eq(now),
        ))
        .on_conflict(passkeys::credential_id)
        .do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

/// Returns the name. `None` if the account has no such passkey.
pub async fn remove(
    conn: &mut AsyncPgConnection,
    account: Account,
    id: PasskeyId,
) -> Result<Option<String>, StoreError> {
    let one = of_account!(account).filter(passkeys::id.eq(id.to_string()));
    Ok(diesel::delete(one).returning(passkeys::name).get_result(conn).await.optional()?)
}

/// Locks a passkey of the account until the transaction ends, and returns its credential and highest signed number.
pub async fn lock(
    conn: &mut AsyncPgConnection,
    account: Account,
    credential_id: &[u8],
) -> Result<Option<(Value, i64)>, StoreError> {
    let one = of_account!(account).filter(passkeys::credential_id.eq(credential_id.to_vec()));
    let columns = one.select((passkeys::credential, passkeys::sign_count));
    Ok(columns.for_update().first(conn).await.optional()?)
}

/// Records an accepted signature. The caller has locked the passkey.
pub async fn record_use(
    conn: &mut AsyncPgConnection,
    (account, credential_id): (Account, &[u8]),
    (credential, sign_count): (&Value, i64),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let one = of_account!(account).filter(passkeys::credential_id.eq(credential_id.to_vec()));
    diesel::update(one)
        .set((
            passkeys::credential.eq(credential),
            passkeys::sign_count.eq(sign_count),
            passkeys::last_used_at.eq(now),
        ))
        .execute(conn)
        .await?;
    Ok(())
}
