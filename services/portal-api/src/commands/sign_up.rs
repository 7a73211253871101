//! A business signs up.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, RequestId, UserId};
use postgres::StoreError;

use super::attempt_limits;
use super::audit::write_audit;
use super::confirm_email::welcome;
use super::open_session::{Browser, OpenedSession, open_session};
use crate::domain::{
    Action, AuditEvent, Author, Business, BusinessStatus, CallerAddress, Credentials, Email, Password, Role,
    Subject, Subscription, Target, TargetKind,
};
use crate::passwords::{PasswordError, Requester};
use crate::state::State;
use crate::store::attempts::Admission;
use crate::store::users::{self, NewCredential, NewUser};
use crate::store::{businesses, go_live};

pub(crate) struct SignUp {
    pub(crate) business_name: String,
    pub(crate) email: Email,
    pub(crate) password: Password,
    pub(crate) address: Option<CallerAddress>,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SignUpError {
    #[error("the e-mail address already has an account")]
    EmailTaken,
    #[error("too many sign-ups from this address")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates the business (inactive until the operator approves it), its owner, and a session for the owner.
pub(crate) async fn sign_up(state: &State, request: SignUp) -> Result<OpenedSession, SignUpError> {
    if let Some(address) = request.address.as_ref().filter(|_| state.limit_per_address)
        && let Admission::RetryAfter(wait) =
            attempt_limits::admit(state, &[Subject::sign_up_from(address)]).await?
    {
        return Err(SignUpError::TooMany { wait });
    }
    let address = request.address.as_ref().map(CallerAddress::as_str).unwrap_or_default();
    let requester = Requester { address: address.to_owned(), account: request.email.key() };
    let password_hash = state.passwords.hash(&request.password, requester).await?;
    let database = &state.unit.database;
    let opened =
        database.transaction(async |conn| create(conn, state, &request, &password_hash).await).await?;
    state.mailbox.wake_sender();
    tracing::info!(
        business_id = %opened.session.business,
        user_id = %opened.session.user,
        session_id = %opened.session.id,
        "business signed up"
    );
    Ok(opened)
}

async fn create(
    conn: &mut AsyncPgConnection,
    state: &State,
    request: &SignUp,
    password_hash: &str,
) -> Result<OpenedSession, SignUpError> {
    let now = state.unit.clock.now();
    let business = Business {
        id: BusinessId::generate(&state.unit.clock, &state.unit.entropy),
        name: request.business_name.clone(),
        status: BusinessStatus::Inactive,
        live_access: false,
        subscription: Subscription::none(),
        created_at: now,
    };
    let user = NewUser {
        id: UserId::generate(&state.unit.clock, &state.unit.entropy),
        business: business.id,
        email: &request.email,
        email_verified_at: None,
        credential: NewCredential::Password { hash: password_hash },
        role: Role::Owner,
        created_at: now,
    };
    businesses::insert(conn, &business).await?;
    go_live::insert(conn, business.id).await?;
    if !users::insert(conn, &user).await? {
        return Err(SignUpError::EmailTaken);
    }
    let owner = Credentials {
        user: user.id,
        email: request.email.as_str().to_owned(),
        email_verified: false,
        name: None,
        role: Role::Owner,
        business: business.id,
        business_name: business.name,
        password_hash: password_hash.to_owned(),
    };
    let author = Author::user(user.id, &owner.email, request.request).at(request.address.clone());
    let target = Target::new(TargetKind::Business, business.id);
    let event = AuditEvent::new(Action::AccountCreated).on(target);
    write_audit(conn, state, business.id, &author, &event).await?;
    welcome(conn, state, business.id, user.id, &request.email).await?;
    Ok(open_session(conn, state, owner, &request.browser).await?)
}
