//! Somebody logs in. Neither the answer nor its time tells whether the account exists.

use chrono::TimeDelta;
use domain::RequestId;
use postgres::StoreError;

use super::counted::{self, Origin};
use super::start_session::{Browser, Holder, Opened, start_session};
use super::write_audit::note_act;
use super::{again_after_deadlock, write_audit};
use crate::app::App;
use crate::domain::{Act, Action, Author, Email, Password, Scope, Subject, Target, TargetKind};
use crate::passwords::PasswordError;
use crate::store::attempts::{self, Allowed, Attempt};
use crate::store::users::{self, Credentials};
use crate::turns::Who;

pub(crate) struct LogIn {
    pub(crate) email: Email,
    pub(crate) password: Password,
    pub(crate) origin: Origin,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

impl LogIn {
    fn who(&self) -> Who {
        Who { address: self.origin.address_text(), account: self.email.key() }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LogInError {
    #[error("the e-mail or the password is wrong")]
    InvalidCredentials,
    #[error("too many log-ins")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for LogInError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Counts the attempt, checks the password, and opens a session. Those that succeed are counted apart, and more of them
/// allowed.
pub(crate) async fn log_in(app: &App, request: LogIn) -> Result<Opened, LogInError> {
    let now = app.clock.now();
    let subjects = counted::subjects(app, &counted::LOG_IN, &request.email, &request.origin).await?;
    let successes = Subject::account(Scope::LogInSuccess, &request.email);
    let allowed: Result<Allowed, StoreError> = app
        .database
        .transaction(async |conn| match attempts::wait(conn, &successes, now).await? {
            Some(wait) => Ok(Allowed::After(wait)),
            None => attempts::begin(conn, &subjects, now).await,
        })
        .await;
    let allowed = allowed?;
    let counted = match allowed {
        Allowed::After(wait) => return Err(LogInError::TooMany { wait }),
        Allowed::Yes(counted) => counted,
    };
    let opened = match check(app, &request).await {
        Ok(credentials) => {
            let is_deadlock =
                |error: &LogInError| matches!(error, LogInError::Store(error) if error.is_deadlock());
            again_after_deadlock(
                async || open(app, &request, &credentials, (&subjects, &counted)).await,
                is_deadlock,
            )
            .await
        }
        Err(error) => Err(error),
    };
    match opened {
        Ok(opened) => Ok(opened),
        Err(LogInError::InvalidCredentials) => Err(LogInError::InvalidCredentials),
        Err(ours) => {
            // A fault of ours is no failed attempt of theirs.
            let taken_back =
                app.database.transaction(async |conn| attempts::take_back(conn, &counted).await).await;
            if let Err(error) = taken_back {
                tracing::warn!(%error, "an attempt to log in stays counted");
            }
            Err(ours)
        }
    }
}

async fn check(app: &App, request: &LogIn) -> Result<Credentials, LogInError> {
    let read = app.database.read(async |conn| users::credentials(conn, &request.email).await).await;
    let credentials: Option<Credentials> = read?;
    let kept = credentials.as_ref().map(|credentials| credentials.password_hash.as_str());
    let good = app.passwords.verify(&request.password, kept, request.who()).await?;
    if let Some(tried) = credentials.as_ref().filter(|_| !good) {
        note_failure(app, tried, request.request);
    }
    credentials.filter(|_| good).ok_or(LogInError::InvalidCredentials)
}

/// Later: an answer that took the time of another write would tell that there is an account. The limit on attempts bounds
/// how many lines there can be.
fn note_failure(app: &App, tried: &Credentials, request: Option<RequestId>) {
    let act =
        Act::new(Action::SessionFailed).on(Target::new(TargetKind::User, tried.user).labelled(&tried.email));
    let (later, business) = (app.clone(), tried.business);
    app.do_later(async move { note_act(&later, business, &Author::system(request), &act).await });
}

async fn open(
    app: &App,
    request: &LogIn,
    credentials: &Credentials,
    (subjects, counted): (&[Subject], &[Attempt]),
) -> Result<Opened, LogInError> {
    let opened: Result<Opened, LogInError> = app
        .database
        .transaction(async |conn| {
            // The password was changed after it was checked: the old one must not open a session.
            if !users::lock_unchanged(conn, credentials).await? {
                return Err(LogInError::InvalidCredentials);
            }
            attempts::take_back(conn, counted).await?;
            for subject in subjects.iter().filter(|subject| subject.scope != Scope::LogInAddress) {
                attempts::forget(conn, *subject).await?;
            }
            attempts::note(conn, Subject::account(Scope::LogInSuccess, &request.email), app.clock.now())
                .await?;
            let holder = Holder {
                user: credentials.user,
                email: credentials.email.clone(),
                role: credentials.role,
                business: credentials.business,
                business_name: credentials.business_name.clone(),
                password_hash: credentials.password_hash.clone(),
            };
            let author = Author::user(holder.user, &holder.email, request.request);
            let opened = start_session(conn, app, holder, &request.browser).await?;
            let act = Act::new(Action::SessionOpened).on(Target::new(TargetKind::Session, opened.session.id));
            write_audit(conn, app, opened.session.business, &author, &act).await?;
            Ok(opened)
        })
        .await;
    let opened = opened?;
    tracing::info!(
        business_id = %opened.session.business,
        user_id = %opened.session.user,
        session_id = %opened.session.id,
        "a user logged in"
    );
    Ok(opened)
}
