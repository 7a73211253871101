//! Who sends a call of the operator.

use actix_web::HttpRequest;
use chrono::{DateTime, Utc};
use domain::{BusinessId, SessionId};
use postgres::StoreError;
use web::{ApiError, bearer_token, same_secret};

use super::audited::request_id;
use super::caller::{address, is_attended, require_expected_user};
use super::errors;
use super::session_cookie::OPERATOR;
use crate::commands::operator_session::{self, ConsoleSession};
use crate::commands::staff_log_in::accepts_password;
use crate::commands::{Holder, operator_token};
use crate::domain::{
    Account, Author, CeremonyKey, CeremonyPurpose, OperatorActor, OperatorCaller, OperatorRole,
    OperatorSecret, SessionToken,
};
use crate::state::State;

/// Who sends a call, and what they have proved.
pub(super) struct OperatorCallerFound {
    pub(super) author: Author,
    pub(super) role: OperatorRole,
    /// `None` for tokens, which programs send. A session of the configured token has a time.
    pub(super) authenticated_at: Option<DateTime<Utc>>,
    pub(super) must_enrol: bool,
}

/// The caller, by the token or else by the cookie. `None` if neither is valid.
pub(super) async fn of_call(
    state: &State,
    request: &HttpRequest,
) -> Result<Option<OperatorCallerFound>, ApiError> {
    let Some(given) = bearer_token(request.headers())? else {
        return Ok(session_of_page(state, request).await?.map(|session| OperatorCallerFound {
            author: author(state, request, session.actor),
            role: session.role,
            authenticated_at: Some(session.authenticated_at),
            must_enrol: session.must_enrol,
        }));
    };
    Ok(of_token(state, given).await?.map(|(actor, role)| OperatorCallerFound {
        author: author(state, request, actor),
        role,
        authenticated_at: None,
        must_enrol: false,
    }))
}

/// Whose token it is: the configured one, or a named one.
pub(super) async fn of_token(
    state: &State,
    given: &str,
) -> Result<Option<(OperatorActor, OperatorRole)>, StoreError> {
    if same_secret(given, &state.operator_token) {
        return Ok(Some((OperatorActor::Configuration, OperatorRole::Administrator)));
    }
    match OperatorSecret::parse(given) {
        Some(secret) => operator_token::authenticate(state, &secret).await,
        None => Ok(None),
    }
}

/// The open console session of a request.
pub(super) async fn session(
    state: &State,
    request: &HttpRequest,
) -> Result<Option<ConsoleSession>, StoreError> {
    match OPERATOR.read(state, request) {
        Some(token) => operator_session::find(state, &token, is_attended(request)).await,
        None => Ok(None),
    }
}

/// As [`session`], for all that its person does.
///
/// # Errors
/// 409 if the page shows the console of another person.
pub(super) async fn session_of_page(
    state: &State,
    request: &HttpRequest,
) -> Result<Option<ConsoleSession>, ApiError> {
    let found = session(state, request).await?;
    if let Some(ConsoleSession { actor, .. }) = &found {
        // A session of the configured token has no id.
        require_expected_user(request, actor.id().as_deref().unwrap_or(actor.kind()))?;
    }
    Ok(found)
}

pub(super) fn author(state: &State, request: &HttpRequest, actor: OperatorActor) -> Author {
    Author::operator(OperatorCaller { actor, address: address(state, request) }, request_id(request))
}

/// The business of a call below `/businesses`.
pub(super) fn business_of(request: &HttpRequest) -> Option<BusinessId> {
    request.match_info().get("id")?.parse().ok()
}

/// The person whose console session sends a call.
pub(super) struct Person {
    pub(super) holder: Holder,
    pub(super) token: SessionToken,
    session: SessionId,
    pub(super) role: OperatorRole,
    /// Of the session.
    pub(super) expires_at: DateTime<Utc>,
    pub(super) author: Author,
    pub(super) authenticated_at: DateTime<Utc>,
    single_sign_on: bool,
}

impl Person {
    /// # Errors
    /// 403 for a session of the configured token.
    pub(super) fn of(
        state: &State,
        request: &HttpRequest,
        session: ConsoleSession,
    ) -> Result<Self, ApiError> {
        let token = OPERATOR.read(state, request).ok_or_else(errors::not_logged_in)?;
        let OperatorActor::Person { id, email } = &session.actor else {
            return Err(errors::account_required());
        };
        Ok(Self {
            holder: Holder { account: Account::Staff(*id), email: email.clone() },
            token,
            session: session.id,
            role: session.role,
            expires_at: session.expires_at,
            authenticated_at: session.authenticated_at,
            single_sign_on: session.single_sign_on,
            author: author(state, request, session.actor),
        })
    }

    /// The key of a passkey's challenge in this session.
    pub(super) fn ceremony(&self, purpose: CeremonyPurpose) -> CeremonyKey {
        CeremonyKey::new(purpose, self.session.to_string())
    }

    /// Who logged in with single sign-on, or is linked, proves nothing with a password: the provider decides about their access.
    ///
    /// # Errors
    /// 403 `password_log_in_off`.
    pub(super) async fn require_password(&self, state: &State) -> Result<(), ApiError> {
        let Account::Staff(id) = self.holder.account else { return Err(errors::account_required()) };
        if self.single_sign_on || !accepts_password(state, id).await? {
            return Err(errors::password_log_in_off());
        }
        Ok(())
    }
}
