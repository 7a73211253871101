//! Who sends a call of the operator, and the log of what they read.

use actix_web::{HttpMessage, HttpRequest};
use chrono::{DateTime, Utc};
use domain::{ApprovalId, BusinessId, OrderId};
use postgres::StoreError;
use serde_json::Value;
use web::{ApiError, bearer_token, same_secret};

use super::audited::request_id;
use super::caller::{address, is_attended};
use super::operator_permissions::{OperatorCall, Recorded};
use super::session_cookie::OPERATOR;
use crate::commands::audit::record_operator_read;
use crate::commands::operator_session::{self, ConsoleSession};
use crate::commands::operator_token;
use crate::domain::{
    Action, AuditEvent, Author, OperatorActor, OperatorCaller, OperatorPermission, OperatorRole,
    OperatorSecret, Target, TargetKind,
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
        return Ok(session(state, request).await?.map(|session| OperatorCallerFound {
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

pub(super) fn author(state: &State, request: &HttpRequest, actor: OperatorActor) -> Author {
    Author::operator(OperatorCaller { actor, address: address(state, request) }, request_id(request))
}

/// Handlers add it to the request: the orders in their response.
pub(super) struct SentOrders(pub(super) Vec<OrderId>);

/// Writes the entry of a successful read of personal data.
pub(super) async fn record_read(
    state: &State,
    author: &Author,
    call: &OperatorCall,
    request: &HttpRequest,
) -> Result<(), StoreError> {
    let Recorded::Read(action) = call.recorded else { return Ok(()) };
    let id = request.match_info().get("id");
    let business: Option<BusinessId> = id.and_then(|id| id.parse().ok());
    let order: Option<OrderId> = id.and_then(|id| id.parse().ok());
    let mut event = AuditEvent::new(action);
    if let Some(order) = order {
        event = event.on(Target::new(TargetKind::Order, order));
    }
    if let Some(approval) = id.and_then(|id| id.parse::<ApprovalId>().ok()) {
        event = event.on(Target::new(TargetKind::Approval, approval));
    }
    if let Some(SentOrders(orders)) = request.extensions().get::<SentOrders>() {
        let orders: Vec<Value> = orders.iter().map(|order| Value::from(order.to_string())).collect();
        event = event.with("orders", orders);
    }
    record_operator_read(state, business, author, &event).await
}

/// Writes the entry of a call without the permission. `path` is the pattern, because the path may contain anything.
pub(super) async fn record_refusal(
    state: &State,
    author: &Author,
    permission: OperatorPermission,
    (request, path): (&HttpRequest, &str),
) -> Result<(), StoreError> {
    let event = AuditEvent::new(Action::AccessRefused)
        .with("permission", permission.as_str())
        .with("call", format!("{} {path}", request.method()));
    record_operator_read(state, business_of(request), author, &event).await
}

/// The business of a call below `/businesses`. Read from the path, because the router sets variables only after the guard.
pub(super) fn business_of(request: &HttpRequest) -> Option<BusinessId> {
    let below = request.match_info().as_str().strip_prefix("/v1/operator/businesses/")?;
    below.split('/').next()?.parse().ok()
}
