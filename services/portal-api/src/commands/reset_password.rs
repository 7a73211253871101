//! Somebody who cannot log in chooses a new password, with a link that they were mailed or that the operator gave them.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, RequestId};
use postgres::StoreError;

use super::counted::{self, Origin};
use super::write_audit;
use crate::app::App;
use crate::domain::{Act, Action, Author, Email, LinkToken, Password, Scope, Subject, Target, TargetKind};
use crate::mail::Letter;
use crate::passwords::PasswordError;
use crate::store::attempts::{self, Allowed};
use crate::store::password_resets::{self, Reset};
use crate::store::sessions;
use crate::store::users::{self, Credentials};
use crate::turns::Who;

/// How long the link is good.
const LASTS: TimeDelta = TimeDelta::hours(1);
/// Of one user; older ones are forgotten.
const OPEN_MAX: i64 = 10;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestResetError {
    #[error("too many resets were asked for")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ResetError {
    #[error("the link was used, has expired, or never was one")]
    Invalid,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for ResetError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Has a link mailed, if there is such an account. That is found out after the answer: neither it nor its time tells.
pub(crate) async fn request_reset(
    app: &App,
    email: Email,
    origin: &Origin,
    request: Option<RequestId>,
) -> Result<(), RequestResetError> {
    let now = app.clock.now();
    let subjects = counted::subjects(app, &counted::RESET, &email, origin).await?;
    let allowed = app.database.transaction(async |conn| attempts::begin(conn, &subjects, now).await).await?;
    if let Allowed::After(wait) = allowed {
        return Err(RequestResetError::TooMany { wait });
    }
    if app.mailbox.is_enabled() {
        let later = app.clone();
        app.do_later(async move {
            if let Err(error) = mail_link(&later, &email, request).await {
                tracing::error!(%error, "a link to reset a password was not mailed");
            }
        });
    }
    Ok(())
}

async fn mail_link(app: &App, email: &Email, request: Option<RequestId>) -> Result<(), StoreError> {
    let now = app.clock.now();
    let posted: Result<bool, StoreError> = app
        .database
        .transaction(async |conn| {
            let Some(account) = users::credentials(conn, email).await? else { return Ok(false) };
            let (token, expires_at) = new_link(conn, app, &account, now).await?;
            let act =
                Act::new(Action::PasswordResetRequested)
                    .on(Target::new(TargetKind::User, account.user).labelled(&account.email));
            write_audit(conn, app, account.business, &Author::system(request), &act).await?;
            let letter = Letter::PasswordReset { token: &token, expires_at };
            app.mailbox.post(conn, account.business, &account.email, &letter, now).await?;
            Ok(true)
        })
        .await;
    if posted? {
        app.mailbox.ring();
    }
    Ok(())
}

/// A link for the operator to hand over; `None` when the business has no such user.
pub(crate) async fn issue_link(
    app: &App,
    business: BusinessId,
    author: &Author,
    email: &Email,
) -> Result<Option<(LinkToken, DateTime<Utc>)>, StoreError> {
    let now = app.clock.now();
    let issued: Result<_, StoreError> = app
        .database
        .transaction(async |conn| {
            let account = users::credentials(conn, email).await?;
            let Some(account) = account.filter(|account| account.business == business) else {
                return Ok(None);
            };
            let link = new_link(conn, app, &account, now).await?;
            let act = Act::new(Action::PasswordResetIssued)
                .on(Target::new(TargetKind::User, account.user).labelled(&account.email));
            write_audit(conn, app, business, author, &act).await?;
            Ok(Some(link))
        })
        .await;
    let issued = issued?;
    tracing::info!(business_id = %business, found = issued.is_some(), "the operator asked for a link to reset a password");
    Ok(issued)
}

async fn new_link(
    conn: &mut AsyncPgConnection,
    app: &App,
    account: &Credentials,
    now: DateTime<Utc>,
) -> Result<(LinkToken, DateTime<Utc>), StoreError> {
    let (token, expires_at) = (LinkToken::generate(&app.entropy), now + LASTS);
    let reset = Reset { business: account.business, user: account.user };
    password_resets::insert(conn, reset, &token, (now, expires_at), OPEN_MAX).await?;
    Ok((token, expires_at))
}

/// Whether a link would work now.
pub(crate) async fn is_good(app: &App, token: &LinkToken) -> Result<bool, StoreError> {
    let now = app.clock.now();
    let found = app.database.read(async |conn| password_resets::find(conn, token, now).await).await?;
    Ok(found.is_some())
}

/// Uses up the link. Every session of the user ends, and their failed log-ins from this address are forgotten.
pub(crate) async fn reset_password(
    app: &App,
    token: &LinkToken,
    password: &Password,
    origin: &Origin,
    request: Option<RequestId>,
) -> Result<(), ResetError> {
    let now = app.clock.now();
    // Looked up first, so that nobody has passwords hashed without a good link.
    let found = app.database.read(async |conn| password_resets::find(conn, token, now).await).await?;
    let reset: Reset = found.ok_or(ResetError::Invalid)?;
    let who = Who { address: origin.address_text(), account: reset.user.to_string() };
    let hash = app.passwords.hash(password, who).await?;
    let changed: Result<(), ResetError> = app
        .database
        .transaction(async |conn| {
            if !password_resets::use_up(conn, reset, token).await? {
                return Err(ResetError::Invalid);
            }
            let (business, user) = (reset.business, reset.user);
            let account = users::credentials_of(conn, business, user).await?.ok_or(ResetError::Invalid)?;
            users::set_password(conn, business, user, None, &hash).await?;
            password_resets::forget(conn, reset).await?;
            sessions::revoke_all(conn, (business, user), None, now).await?;
            if let Some(email) = Email::parse(&account.email) {
                attempts::forget(conn, Subject::account(Scope::LogInAccount, &email)).await?;
                let here = Subject::account_at(Scope::LogInAccountAddress, &email, &origin.address_text());
                attempts::forget(conn, here).await?;
            }
            let act = Act::new(Action::PasswordReset)
                .on(Target::new(TargetKind::User, user).labelled(&account.email));
            let author = Author::user(user, &account.email, request);
            write_audit(conn, app, business, &author, &act).await?;
            let letter = Letter::PasswordChanged { at: now };
            Ok(app.mailbox.post(conn, business, &account.email, &letter, now).await?)
        })
        .await;
    changed?;
    app.mailbox.ring();
    tracing::info!(business_id = %reset.business, user_id = %reset.user, "a password was reset");
    Ok(())
}
