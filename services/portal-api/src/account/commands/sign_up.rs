//! A business signs up.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::{AccountId, BusinessId, Email, RequestId, UserId};
use identity::CallerAddress;
use identity::accounts::{LogInBy, NewAccount};
use identity::attempts::Admission;
use identity::passwords::{Password, PasswordError};
use postgres::StoreError;

use crate::account::commands::confirm_email::welcome;
use crate::account::commands::open_session::{OpenedSession, open_with_new_password};
use crate::account::commands::visitor::Browser;
use crate::account::commands::{attempt_limits, create_account};
use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::{Business, BusinessStatus, Subscription};
use crate::domain::{Membership, Role, UserAccount, limits};
use crate::state::State;
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
    if let Some(wait) = count(state, request.address.as_ref()).await? {
        return Err(SignUpError::TooMany { wait });
    }
    let requester =
        attempt_limits::requester(state, (&request.email, false), request.address.as_ref()).await?;
    let password_hash = state.passwords.hash(&request.password, requester).await?;
    let database = &state.unit.database;
    let signed_up =
        database.transaction(async |conn| create(conn, state, &request, &password_hash).await).await;
    let (owner, opened): (UserAccount, OpenedSession) = signed_up?;
    state.mailbox.wake_sender();
    tracing::info!(
        business_id = %owner.business,
        user_id = %owner.user,
        session_id = %opened.id,
        "business signed up"
    );
    Ok(opened)
}

/// Counts a new business. Returns how long to wait if its caller's address has created too many.
pub(crate) async fn count(
    state: &State,
    address: Option<&CallerAddress>,
) -> Result<Option<TimeDelta>, StoreError> {
    let Some(address) = address.filter(|_| state.limit_per_address) else { return Ok(None) };
    match attempt_limits::admit(state, &[limits::sign_up_from(address)]).await? {
        Admission::Granted(_) => Ok(None),
        Admission::RetryAfter(wait) => Ok(Some(wait)),
    }
}

/// Creates a business that waits for the operator's approval.
pub(crate) async fn insert_business(
    conn: &mut AsyncPgConnection,
    state: &State,
    name: &str,
) -> Result<Business, StoreError> {
    let business = Business {
        id: BusinessId::generate(&state.unit.clock, &state.unit.entropy),
        name: name.to_owned(),
        status: BusinessStatus::Inactive,
        live_access: false,
        subscription: Subscription::none(),
        created_at: state.unit.clock.now(),
    };
    businesses::insert(conn, &business).await?;
    go_live::insert(conn, business.id).await?;
    Ok(business)
}

/// A person's membership of a business that they have created.
pub(crate) fn ownership(business: Business, user: UserId) -> Membership {
    Membership {
        business: business.id,
        business_name: business.name,
        status: business.status,
        closing: false,
        closed: false,
        user,
        role: Role::Owner,
    }
}

async fn create(
    conn: &mut AsyncPgConnection,
    state: &State,
    request: &SignUp,
    password_hash: &str,
) -> Result<(UserAccount, OpenedSession), SignUpError> {
    let business = insert_business(conn, state, &request.business_name).await?;
    let account = NewAccount {
        id: AccountId::generate(&state.unit.clock, &state.unit.entropy),
        email: &request.email,
        email_verified_at: None,
        name: None,
        log_in: LogInBy::Password(password_hash),
        created_at: state.unit.clock.now(),
    };
    let owner = create_account::with_membership(conn, state, &account, (business.id, Role::Owner)).await?;
    let owner = owner.ok_or(SignUpError::EmailTaken)?;
    let author = Author::user(owner.user, &owner.email, request.request).at(request.address.clone());
    let target = Target::new(TargetKind::Business, business.id);
    let event = AuditEvent::new(Action::AccountCreated).on(target);
    write_audit(conn, state, business.id, &author, &event).await?;
    welcome(conn, state, &owner, &request.email).await?;
    let (by, user) = ((owner.account.into(), password_hash), Some((owner.business, owner.user)));
    let opened = open_with_new_password(conn, state, by, user, &request.browser).await?;
    Ok((owner, opened))
}
