//! Links that confirm e-mail addresses, stored by the digest of their token.

use chrono::{DateTime, Utc};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AccountId, Email, SessionId};
use identity::{LinkToken, prune, stored};
use postgres::StoreError;

use crate::domain::{EmailConfirmation, UserKey};
use crate::store::schema::{email_confirmations, sessions};
use diesel::prelude::*;

/// Requested changes of an account's address, by who may have requested them.
pub(crate) enum Changes<'a> {
    All,
    /// To any other address.
    ExceptTo(&'a Email),
    InSession(SessionId),
    ExceptInSession(SessionId),
    /// In the sessions of one membership.
    OfUser(UserKey),
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = email_confirmations)]
struct ConfirmationRow {
    account_id: String,
    email: String,
    session_id: Option<String>,
    used_at: Option<DateTime<Utc>>,
}

/// Inserts a link. The caller has locked the account.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    link: &EmailConfirmation,
    token: &LinkToken,
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    diesel::insert_into(email_confirmations::table)
        .values((
            email_confirmations::token_hash.eq(token.digest().to_vec()),
            email_confirmations::account_id.eq(link.account.to_string()),
            email_confirmations::email.eq(link.email.as_str()),
            email_confirmations::is_change.eq(link.change_by.is_some()),
            email_confirmations::session_id.eq(link.change_by.map(|session| session.to_string())),
            email_confirmations::created_at.eq(now),
            email_confirmations::expires_at.eq(expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// The link, unless it has expired.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &LinkToken,
    now: DateTime<Utc>,
) -> Result<Option<EmailConfirmation>, StoreError> {
    let row = email_confirmations::table
        .find(token.digest().to_vec())
        .filter(email_confirmations::expires_at.gt(now))
        .select(ConfirmationRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(EmailConfirmation::try_from).transpose()
}

pub(crate) async fn set_used(
    conn: &mut AsyncPgConnection,
    token: &LinkToken,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let link = email_confirmations::table.find(token.digest().to_vec());
    diesel::update(link).set(email_confirmations::used_at.eq(now)).execute(conn).await?;
    Ok(())
}

/// The address that the account changes to, with the end of its latest link.
pub(crate) async fn pending_change(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    now: DateTime<Utc>,
) -> Result<Option<(String, DateTime<Utc>)>, StoreError> {
    let open = email_confirmations::table
        .filter(email_confirmations::account_id.eq(account.to_string()))
        .filter(email_confirmations::is_change)
        .filter(email_confirmations::used_at.is_null())
        .filter(email_confirmations::expires_at.gt(now))
        .order(email_confirmations::created_at.desc())
        .select((email_confirmations::email, email_confirmations::expires_at));
    Ok(open.first(conn).await.optional()?)
}

/// Ends requested changes of the account's address, for instance because a thief may have requested them.
pub(crate) async fn remove_changes(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    which: Changes<'_>,
) -> Result<(), StoreError> {
    let all = diesel::delete(email_confirmations::table)
        .filter(email_confirmations::account_id.eq(account.to_string()))
        .filter(email_confirmations::is_change)
        .into_boxed();
    let removed = match which {
        Changes::All => all,
        Changes::ExceptTo(kept) => all.filter(email_confirmations::email.ne(kept.as_str())),
        Changes::InSession(ended) => all.filter(email_confirmations::session_id.eq(ended.to_string())),
        Changes::ExceptInSession(kept) => all.filter(email_confirmations::session_id.ne(kept.to_string())),
        Changes::OfUser((business, user)) => {
            let own = sessions::table
                .filter(sessions::user_id.eq(user.to_string()))
                .filter(sessions::business_id.eq(business.to_string()))
                .select(sessions::id.nullable());
            all.filter(email_confirmations::session_id.eq_any(own))
        }
    };
    removed.execute(conn).await?;
    Ok(())
}

/// Ends the changes that were requested in these sessions of any accounts.
pub(crate) async fn remove_changes_in(
    conn: &mut AsyncPgConnection,
    ended: &[String],
) -> Result<(), StoreError> {
    let requested = email_confirmations::table
        .filter(email_confirmations::is_change)
        .filter(email_confirmations::session_id.eq_any(ended));
    diesel::delete(requested).execute(conn).await?;
    Ok(())
}

/// Keeps the changes that were requested in a session which another one replaces.
pub(crate) async fn move_changes(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    (from, to): (SessionId, SessionId),
) -> Result<(), StoreError> {
    let requested = email_confirmations::table
        .filter(email_confirmations::account_id.eq(account.to_string()))
        .filter(email_confirmations::session_id.eq(from.to_string()));
    diesel::update(requested).set(email_confirmations::session_id.eq(to.to_string())).execute(conn).await?;
    Ok(())
}

/// Deletes the account's links, except for the one that is used now.
pub(crate) async fn remove_all(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    used: Option<&LinkToken>,
) -> Result<(), StoreError> {
    let used = used.map(|token| token.digest().to_vec()).unwrap_or_default();
    let others = email_confirmations::table
        .filter(email_confirmations::account_id.eq(account.to_string()))
        .filter(email_confirmations::token_hash.ne(used));
    diesel::delete(others).execute(conn).await?;
    Ok(())
}

/// Deletes at most `max` expired links, and returns how many. Covers all businesses.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, email_confirmations::token_hash: Vec<u8>, email_confirmations::expires_at.le(now))
}

impl TryFrom<ConfirmationRow> for EmailConfirmation {
    type Error = StoreError;

    fn try_from(row: ConfirmationRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::Corrupt("email_confirmations.email has an unexpected value".into());
        let session = |id: String| stored::<SessionId>("email_confirmations.session_id", &id);
        Ok(Self {
            account: stored("email_confirmations.account_id", &row.account_id)?,
            email: Email::parse(&row.email).ok_or_else(corrupt)?,
            change_by: row.session_id.map(session).transpose()?,
            is_used: row.used_at.is_some(),
        })
    }
}
