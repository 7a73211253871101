//! The author of a request, for the audit log, and calls to other services that are audited.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use domain::RequestId;
use identity::Realm;
use web::ApiError;

use crate::account::commands::{Browser, Visitor};
use crate::audit::commands::audit::try_write_audit;
use crate::audit::domain::{AuditEvent, Author};
use crate::domain::Session;
use crate::http::caller::{address, caller};
use crate::http::session_cookie;
use crate::state::State;

/// In characters. Browsers send far less.
const USER_AGENT_MAX: usize = 300;

/// The logged-in user as the author.
pub(crate) struct UserAuthor(pub(crate) Author);

impl FromRequest for UserAuthor {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let author = request.extensions().get::<Session>().map(|session| Author::of(session, None));
        let address = request.app_data::<Data<State>>().and_then(|state| address(state, request));
        let request = request_id(request);
        ready(match author {
            Some(author) => Ok(Self(Author { request, address, ..author })),
            None => Err(ApiError::internal("no session: the route is not behind the guard")),
        })
    }
}

/// The author of a call of the operator.
pub(crate) struct OperatorAuthor(pub(crate) Author);

impl FromRequest for OperatorAuthor {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let author = request.extensions().get::<Author>().cloned();
        ready(match author {
            Some(author) => Ok(Self(author)),
            None => Err(ApiError::internal("no author: the route is not behind the guard")),
        })
    }
}

/// The id that the edge assigned to the request.
pub(crate) fn request_id(request: &HttpRequest) -> Option<RequestId> {
    request.extensions().get::<RequestId>().copied()
}

/// The browser that will hold a session.
pub(crate) fn browser(state: &State, request: &HttpRequest, realm: Realm) -> Browser {
    let header = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    let user_agent: Option<String> = header.map(|value| value.trim().chars().take(USER_AGENT_MAX).collect());
    Browser {
        replaces: session_cookie::of(realm).read(state, request),
        user_agent: user_agent.filter(|value| !value.is_empty()),
        address: address(state, request),
    }
}

/// Who sends a call without a session.
pub(crate) fn visitor(state: &State, request: &HttpRequest, realm: Realm) -> Visitor {
    Visitor {
        realm,
        caller: caller(state, request, realm),
        browser: browser(state, request, realm),
        request: request_id(request),
    }
}

/// Calls another service, then writes the audit entry. Continues when the client disconnects.
pub(crate) async fn audited<T: Send + 'static>(
    state: &Data<State>,
    business: domain::BusinessId,
    author: Author,
    call: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    event: impl FnOnce(&T) -> AuditEvent + Send + 'static,
) -> Result<T, ApiError> {
    audited_each(state, business, author, call, |outcome| vec![event(outcome)]).await
}

/// As [`audited`], with an entry for each event.
pub(crate) async fn audited_each<T: Send + 'static>(
    state: &Data<State>,
    business: domain::BusinessId,
    author: Author,
    call: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    events: impl FnOnce(&T) -> Vec<AuditEvent> + Send + 'static,
) -> Result<T, ApiError> {
    let shared = state.clone();
    let work = async move {
        let outcome = call.await?;
        for event in events(&outcome) {
            try_write_audit(&shared, business, &author, &event).await;
        }
        Ok(outcome)
    };
    state.tasks.run(work).await?
}
