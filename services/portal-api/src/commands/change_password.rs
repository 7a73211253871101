//! Somebody who is logged in changes their password. All their sessions end; the browser at hand gets a new one.

use chrono::TimeDelta;
use postgres::StoreError;

use super::counted::{self, Origin};
use super::start_session::{Browser, Holder, Opened, start_session};
use super::write_audit;
use crate::app::App;
use crate::domain::{Act, Action, Author, Email, Password, Session, Target, TargetKind};
use crate::mail::Letter;
use crate::passwords::PasswordError;
use crate::store::attempts::{self, Allowed, Attempt};
use crate::store::password_resets::{self, Reset};
use crate::store::sessions;
use crate::store::users::{self, Credentials};
use crate::turns::Who;

pub(crate) struct ChangePassword {
    pub(crate) current: Password,
    pub(crate) new: Password,
    pub(crate) origin: Origin,
    pub(crate) browser: Browser,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangePasswordError {
    #[error("the current password is wrong")]
    Wrong,
    #[error("too many passwords were wrong")]
    TooMany { wait: TimeDelta },
    #[error("the user is gone")]
    UnknownUser,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for ChangePasswordError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// A wrong current password counts like a log-in that failed: who finds an open page must not guess more than a stranger.
pub(crate) async fn change_password(
    app: &App,
    session: &Session,
    author: &Author,
    request: ChangePassword,
) -> Result<Opened, ChangePasswordError> {
    let counted = count(app, session, &request.origin).await?;
    let outcome = check_and_change(app, session, author, &request, &counted).await;
    match outcome {
        Ok(opened) => {
            app.mailbox.ring();
            tracing::info!(business_id = %session.business, user_id = %session.user, "a password was changed");
            Ok(opened)
        }
        Err(ChangePasswordError::Wrong) => Err(ChangePasswordError::Wrong),
        Err(ours) => {
            // A fault of ours is no failed attempt of theirs.
            let taken_back =
                app.database.transaction(async |conn| attempts::take_back(conn, &counted).await).await;
            if let Err(error) = taken_back {
                tracing::warn!(%error, "an attempt to change a password stays counted");
            }
            Err(ours)
        }
    }
}

async fn count(app: &App, session: &Session, origin: &Origin) -> Result<Vec<Attempt>, ChangePasswordError> {
    let now = app.clock.now();
    let email = Email::parse(&session.email).ok_or(ChangePasswordError::UnknownUser)?;
    let subjects = counted::subjects(app, &counted::LOG_IN, &email, origin).await?;
    let allowed = app.database.transaction(async |conn| attempts::begin(conn, &subjects, now).await).await?;
    match allowed {
        Allowed::Yes(counted) => Ok(counted),
        Allowed::After(wait) => Err(ChangePasswordError::TooMany { wait }),
    }
}

async fn check_and_change(
    app: &App,
    session: &Session,
    author: &Author,
    request: &ChangePassword,
    counted: &[Attempt],
) -> Result<Opened, ChangePasswordError> {
    let (business, user) = (session.business, session.user);
    let read = app.database.read(async |conn| users::credentials_of(conn, business, user).await).await;
    let credentials: Option<Credentials> = read?;
    let credentials = credentials.ok_or(ChangePasswordError::UnknownUser)?;
    let who = || Who { address: request.origin.address_text(), account: session.email.clone() };
    if !app.passwords.verify(&request.current, Some(&credentials.password_hash), who()).await? {
        return Err(ChangePasswordError::Wrong);
    }
    let hash = app.passwords.hash(&request.new, who()).await?;
    app.database
        .transaction(async |conn| {
            let now = app.clock.now();
            let old = Some(credentials.password_hash.as_str());
            if !users::set_password(conn, business, user, old, &hash).await? {
                // Changed by somebody else meanwhile: what was typed is the current one no more.
                return Err(ChangePasswordError::Wrong);
            }
            attempts::take_back(conn, counted).await?;
            sessions::revoke_all(conn, (business, user), None, now).await?;
            let act = Act::new(Action::PasswordChanged)
                .on(Target::new(TargetKind::User, user).labelled(&credentials.email));
            write_audit(conn, app, business, author, &act).await?;
            password_resets::forget(conn, Reset { business, user }).await?;
            let letter = Letter::PasswordChanged { at: now };
            app.mailbox.post(conn, business, &credentials.email, &letter, now).await?;
            let holder = Holder {
                user,
                email: credentials.email.clone(),
                role: credentials.role,
                business,
                business_name: credentials.business_name.clone(),
                password_hash: hash.clone(),
            };
            Ok(start_session(conn, app, holder, &request.browser).await?)
        })
        .await
}
