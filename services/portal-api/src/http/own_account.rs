//! The own account of who sends a call. Handlers that take one of these serve the calls of both realms.

use std::future::{Ready, ready};
use std::rc::Rc;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use identity::Realm;
use identity::sessions::SessionHolder;
use web::ApiError;

use crate::account::commands::console_session::ConsoleSession;
use crate::account::commands::{Holder, OwnAccount, OwnSession};
use crate::audit::domain::Author;
use crate::domain::Session;
use crate::http::audited::request_id;
use crate::http::caller::{address, caller};
use crate::http::{errors, operator_caller, session_cookie};
use crate::state::State;

impl FromRequest for OwnSession {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(state_of(request).and_then(|state| match sender(request)? {
            Sender::User(session) => Ok(of_user(state, request, &session)),
            Sender::Console(session) => Ok(of_console(state, request, &session)),
        }))
    }
}

impl FromRequest for OwnAccount {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(own_account(request))
    }
}

/// Whom the guard has let in.
enum Sender {
    User(Box<Session>),
    Console(Rc<ConsoleSession>),
}

fn sender(request: &HttpRequest) -> Result<Sender, ApiError> {
    let extensions = request.extensions();
    let user = extensions.get::<Session>().map(|session| Sender::User(Box::new(session.clone())));
    let sender = user.or_else(|| extensions.get::<Rc<ConsoleSession>>().cloned().map(Sender::Console));
    sender.ok_or_else(|| ApiError::internal("no session: the route is not behind a guard"))
}

fn state_of(request: &HttpRequest) -> Result<&State, ApiError> {
    let state: Option<&Data<State>> = request.app_data();
    state.map(|state| &***state).ok_or_else(|| ApiError::internal("a handler runs without the state"))
}

fn of_user(state: &State, request: &HttpRequest, session: &Session) -> OwnSession {
    OwnSession {
        id: session.id,
        holder: session.account.into(),
        user: Some((session.business, session.user)),
        author: Author::of(session, request_id(request)).at(address(state, request)),
    }
}

fn of_console(state: &State, request: &HttpRequest, session: &ConsoleSession) -> OwnSession {
    OwnSession {
        id: session.id,
        holder: session.holder,
        user: None,
        author: operator_caller::author(state, request, session.actor.clone()),
    }
}

fn own_account(request: &HttpRequest) -> Result<OwnAccount, ApiError> {
    let state = state_of(request)?;
    let with_token = |realm| session_cookie::of(realm).read(state, request).ok_or_else(errors::not_logged_in);
    match sender(request)? {
        Sender::User(session) => Ok(OwnAccount {
            session: of_user(state, request, &session),
            caller: caller(state, request, Realm::User),
            token: with_token(Realm::User)?,
            expires_at: session.expires_at,
            authenticated_at: session.authenticated_at,
            requires_factor: state.factor_policy.requires_user(session.role),
            has_proved_email: session.email_verified || !state.mailbox.is_enabled,
            holder: Holder { account: session.account.into(), email: session.email },
        }),
        Sender::Console(session) => {
            let SessionHolder::Account(account) = session.holder else {
                return Err(errors::account_required());
            };
            Ok(OwnAccount {
                session: of_console(state, request, &session),
                caller: caller(state, request, Realm::Staff),
                token: with_token(Realm::Staff)?,
                expires_at: session.expires_at,
                authenticated_at: session.authenticated_at,
                requires_factor: state.factor_policy.requires_staff(session.role),
                has_proved_email: true,
                holder: Holder { account, email: session.actor.name().to_owned() },
            })
        }
    }
}
