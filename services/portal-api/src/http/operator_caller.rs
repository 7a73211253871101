//! Who sends a call of the operator.

use actix_web::HttpRequest;
use chrono::{DateTime, Utc};
use domain::BusinessId;
use postgres::StoreError;
use web::{ApiError, accepted_token, bearer_token};

use crate::account::commands::console_session::{self, ConsoleSession};
use crate::audit::domain::Author;
use crate::console::commands::operator_token;
use crate::console::domain::OperatorSecret;
use crate::domain::{OperatorActor, OperatorCaller, OperatorRole};
use crate::http::audited::request_id;
use crate::http::caller::{address, is_attended, require_expected_user};
use crate::http::session_cookie::OPERATOR;
use crate::state::State;

/// Who sends a call, and what they have proved.
pub(crate) struct OperatorCallerFound {
    pub(crate) author: Author,
    pub(crate) role: OperatorRole,
    /// `None` for tokens, which programs send. A session of the configured token has a time.
    pub(crate) authenticated_at: Option<DateTime<Utc>>,
    pub(crate) must_enrol: bool,
}

/// The caller, by the token or else by the cookie. `None` if neither is valid.
pub(crate) async fn of_call(
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
pub(crate) async fn of_token(
    state: &State,
    given: &str,
) -> Result<Option<(OperatorActor, OperatorRole)>, StoreError> {
    if accepted_token(given, &state.operator_tokens).is_some() {
        return Ok(Some((OperatorActor::Configuration, OperatorRole::Administrator)));
    }
    match OperatorSecret::parse(given) {
        Some(secret) => operator_token::authenticate(state, &secret).await,
        None => Ok(None),
    }
}

/// The open console session of a request.
pub(crate) async fn session(
    state: &State,
    request: &HttpRequest,
) -> Result<Option<ConsoleSession>, StoreError> {
    match OPERATOR.read(state, request) {
        Some(token) => console_session::find(state, &token, is_attended(request)).await,
        None => Ok(None),
    }
}

/// As [`session`], for all that its person does.
///
/// # Errors
/// 409 if the page shows the console of another person.
pub(crate) async fn session_of_page(
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

pub(crate) fn author(state: &State, request: &HttpRequest, actor: OperatorActor) -> Author {
    Author::operator(OperatorCaller { actor, address: address(state, request) }, request_id(request))
}

/// The business of a call below `/businesses`.
pub(crate) fn business_of(request: &HttpRequest) -> Option<BusinessId> {
    request.match_info().get("id")?.parse().ok()
}
