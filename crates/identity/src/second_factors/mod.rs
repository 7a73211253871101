//! Second factors and their recovery codes. The secret is sealed, and codes are stored by their digest.

mod answer;
mod challenge;
mod codes;
mod enrolment;
mod factor_secrets;
mod factors;
pub mod log_in_challenges;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

pub use answer::{CheckedAnswer, FactorAnswer, Proof};
pub use challenge::OpenedChallenge;
pub use codes::{FactorCode, FactorSecret, FactorStatus, RecoveryCode, is_recent};
pub use factor_secrets::FactorSecrets;
pub use factors::{FactorError, Factors};

use crate::accounts::Account;
use crate::schema::{recovery_codes, second_factors};

/// A factor with its sealed secret.
pub struct StoredFactor {
    pub sealed_secret: Vec<u8>,
    pub started_at: DateTime<Utc>,
    pub is_confirmed: bool,
}

type FactorRow = (Vec<u8>, DateTime<Utc>, Option<DateTime<Utc>>);

macro_rules! of_account {
    ($account:expr) => {
        second_factors::table.find($account.id()).filter(second_factors::realm.eq($account.realm().as_str()))
    };
}

/// Begins an enrolment, and replaces an unconfirmed one. False if the account has a confirmed factor.
pub async fn begin(
    conn: &mut AsyncPgConnection,
    account: Account,
    sealed_secret: &[u8],
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    diesel::delete(of_account!(account).filter(second_factors::confirmed_at.is_null())).execute(conn).await?;
    let inserted = diesel::insert_into(second_factors::table)
        .values((
            second_factors::account_id.eq(account.id()),
            second_factors::realm.eq(account.realm().as_str()),
            second_factors::sealed_secret.eq(sealed_secret),
            second_factors::started_at.eq(now),
        ))
        .on_conflict(second_factors::account_id)
        .do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

pub async fn find(
    conn: &mut AsyncPgConnection,
    account: Account,
) -> Result<Option<StoredFactor>, StoreError> {
    let row: Option<FactorRow> = of_account!(account)
        .select((second_factors::sealed_secret, second_factors::started_at, second_factors::confirmed_at))
        .first(conn)
        .await
        .optional()?;
    Ok(row.map(|(sealed_secret, started_at, confirmed_at)| StoredFactor {
        sealed_secret,
        started_at,
        is_confirmed: confirmed_at.is_some(),
    }))
}

/// Whether the account has a confirmed factor.
pub async fn is_enrolled(conn: &mut AsyncPgConnection, account: Account) -> Result<bool, StoreError> {
    Ok(find(conn, account).await?.is_some_and(|factor| factor.is_confirmed))
}

pub async fn status(conn: &mut AsyncPgConnection, account: Account) -> Result<FactorStatus, StoreError> {
    let confirmed_at = of_account!(account)
        .filter(second_factors::confirmed_at.is_not_null())
        .select(second_factors::confirmed_at.assume_not_null())
        .first(conn)
        .await
        .optional()?;
    let codes = recovery_codes::table.filter(recovery_codes::account_id.eq(account.id()));
    let recovery_codes_left = codes.count().get_result(conn).await?;
    Ok(FactorStatus { confirmed_at, recovery_codes_left })
}

/// Records the period of an accepted code of a confirmed factor, with the secret encrypted again. False if this or a later code
/// was accepted before: of two concurrent uses of a code, one succeeds.
pub async fn accept_step(
    conn: &mut AsyncPgConnection,
    account: Account,
    step: i64,
    sealed_secret: &[u8],
) -> Result<bool, StoreError> {
    let fresh = of_account!(account)
        .filter(second_factors::confirmed_at.is_not_null())
        .filter(second_factors::last_step.lt(step));
    let set = (second_factors::last_step.eq(step), second_factors::sealed_secret.eq(sealed_secret));
    Ok(diesel::update(fresh).set(set).execute(conn).await? == 1)
}

/// Completes the enrolment with the period of its first code. False if another one has replaced or completed it.
pub async fn confirm(
    conn: &mut AsyncPgConnection,
    account: Account,
    step: i64,
    sealed_secret: &[u8],
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let pending = of_account!(account)
        .filter(second_factors::confirmed_at.is_null())
        .filter(second_factors::sealed_secret.eq(sealed_secret.to_vec()));
    let set = (second_factors::last_step.eq(step), second_factors::confirmed_at.eq(now));
    Ok(diesel::update(pending).set(set).execute(conn).await? == 1)
}

/// Replaces all recovery codes. The caller has found the factor in the same transaction.
pub async fn replace_recovery_codes(
    conn: &mut AsyncPgConnection,
    account: Account,
    codes: &[RecoveryCode],
) -> Result<(), StoreError> {
    let own = recovery_codes::table.filter(recovery_codes::account_id.eq(account.id()));
    diesel::delete(own).execute(conn).await?;
    let rows: Vec<_> = codes
        .iter()
        .map(|code| {
            (
                recovery_codes::account_id.eq(account.id()),
                recovery_codes::code_hash.eq(code.digest(&account.id()).to_vec()),
            )
        })
        .collect();
    diesel::insert_into(recovery_codes::table).values(rows).execute(conn).await?;
    Ok(())
}

/// Consumes a recovery code. False if the account has no such code: of two concurrent uses, one succeeds.
pub async fn consume_recovery_code(
    conn: &mut AsyncPgConnection,
    account: Account,
    code: &RecoveryCode,
) -> Result<bool, StoreError> {
    let row = recovery_codes::table.find((account.id(), code.digest(&account.id()).to_vec()));
    Ok(diesel::delete(row).execute(conn).await? == 1)
}

/// Locks the factor until the transaction ends. False if the account has no confirmed factor.
pub async fn lock(conn: &mut AsyncPgConnection, account: Account) -> Result<bool, StoreError> {
    let locked: Option<String> = of_account!(account)
        .filter(second_factors::confirmed_at.is_not_null())
        .select(second_factors::account_id)
        .for_update()
        .first(conn)
        .await
        .optional()?;
    Ok(locked.is_some())
}

/// Deletes the factor with its recovery codes and challenges. False if the account has no confirmed factor.
pub async fn remove(conn: &mut AsyncPgConnection, account: Account) -> Result<bool, StoreError> {
    let confirmed = of_account!(account).filter(second_factors::confirmed_at.is_not_null());
    Ok(diesel::delete(confirmed).execute(conn).await? == 1)
}
