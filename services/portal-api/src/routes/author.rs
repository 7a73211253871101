//! Who acts in a request, for the audit log; and the browser that it came from.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use domain::RequestId;
use web::ApiError;

use super::session_cookie;
use crate::app::App;
use crate::commands::Browser;
use crate::commands::write_audit::note_act;
use crate::domain::{Act, Author, Session};

/// In characters; browsers stay far below it.
const USER_AGENT_MAX: usize = 300;

/// The user who is logged in, as the author of what a call does.
pub(super) struct ByUser(pub(super) Author);

impl FromRequest for ByUser {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let author = request.extensions().get::<Session>().map(|session| Author::of(session, None));
        let request = request_id(request);
        ready(match author {
            Some(author) => Ok(Self(Author { request, ..author })),
            None => Err(ApiError::internal("an author without a session")),
        })
    }
}

/// The operator, as the author of what a call does.
pub(super) struct ByOperator(pub(super) Author);

impl FromRequest for ByOperator {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(Author::operator(request_id(request)))))
    }
}

/// The id that the edge gave the request.
pub(super) fn request_id(request: &HttpRequest) -> Option<RequestId> {
    request.extensions().get::<RequestId>().copied()
}

/// What the browser brings that is to hold a session.
pub(super) fn browser(app: &App, request: &HttpRequest) -> Browser {
    let named = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    let user_agent: Option<String> = named.map(|named| named.trim().chars().take(USER_AGENT_MAX).collect());
    Browser {
        replaces: session_cookie::PORTAL.read(app, request),
        user_agent: user_agent.filter(|named| !named.is_empty()),
    }
}

/// Has a call made that another service owns, and then writes down that it was made, whether or not somebody still waits
/// for the answer.
pub(super) async fn acted<T: Send + 'static>(
    app: &Data<App>,
    business: domain::BusinessId,
    author: Author,
    call: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    act: impl FnOnce(&T) -> Act + Send + 'static,
) -> Result<T, ApiError> {
    let later = app.clone();
    let work = async move {
        let outcome = call.await?;
        note_act(&later, business, &author, &act(&outcome)).await;
        Ok(outcome)
    };
    app.tasks.run(work).await?
}
