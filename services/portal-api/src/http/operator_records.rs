//! Entries of the operator's log about reads of personal data and refused calls: ids only, neither paths nor the text of searches.

use std::str::FromStr;

use actix_web::dev::ServiceResponse;
use actix_web::{HttpMessage, HttpRequest};
use domain::{ApprovalId, BusinessId, ExportId, OperatorTokenId, OrderId, StaffId, UserId};
use postgres::StoreError;
use serde_json::Value;
use web::ApiError;

use crate::audit::commands::audit::{record_operator_read, record_operator_refusal};
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::domain::search_digest;
use crate::http::operator_caller::business_of;
use crate::state::State;

/// The ids that may be in paths of the operator's calls.
const IDS: [fn(&str) -> bool; 7] = [
    is::<BusinessId>,
    is::<UserId>,
    is::<OrderId>,
    is::<StaffId>,
    is::<OperatorTokenId>,
    is::<ApprovalId>,
    is::<ExportId>,
];

/// What a list shows. Its handler adds this to the request; a handler that asks another service to search does so before.
pub(crate) struct Sent {
    /// The rows, as the entry names them.
    rows: &'static str,
    ids: Vec<String>,
    search: Option<String>,
}

impl Sent {
    pub(crate) fn new<I: ToString>(rows: &'static str, ids: impl IntoIterator<Item = I>) -> Self {
        Self { rows, ids: ids.into_iter().map(|id| id.to_string()).collect(), search: None }
    }

    /// Another search is another entry, also if it finds nothing.
    #[must_use]
    pub(crate) fn found_by(self, state: &State, search: Option<&str>) -> Self {
        let search = search.map(|text| search_digest(state.operator_tokens.current.expose(), text));
        Self { search, ..self }
    }

    pub(crate) fn record(self, request: &HttpRequest) {
        request.extensions_mut().insert(self);
    }
}

/// Writes the entry of a successful read of personal data, or of a failed search.
pub(crate) async fn record_read<B>(
    state: &State,
    author: &Author,
    action: Action,
    response: &ServiceResponse<B>,
) -> Result<(), StoreError> {
    let (request, failed) = (response.request(), !response.status().is_success());
    let is_search = request.extensions().get::<Sent>().is_some_and(|sent| sent.search.is_some());
    if failed && !is_search {
        return Ok(());
    }
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
    if let Some(sent) = request.extensions().get::<Sent>() {
        event = event.with(sent.rows, sent.ids.clone());
        if let Some(search) = &sent.search {
            event = event.with("search", search.as_str());
        }
    }
    if failed {
        event = event.with("failed", true);
    }
    record_operator_read(state, business, author, &event).await
}

/// Why a call was refused.
pub(crate) enum Refused {
    /// This permission is missing.
    Permission(String),
    /// The code of an attempt to approve alone.
    FourEyes(String),
}

/// Writes the entry of a refused call. `pattern` is that of the path.
pub(crate) async fn record_refusal(
    state: &State,
    author: &Author,
    refused: Refused,
    (request, pattern): (&HttpRequest, &str),
) -> Result<(), StoreError> {
    let event = AuditEvent::new(Action::AccessRefused);
    let mut event = match refused {
        Refused::Permission(permission) => event.with("permission", permission),
        Refused::FourEyes(code) => event.with("reason", code),
    }
    .with("call", format!("{} {pattern}", request.method()));
    let ids = ids_of(request.match_info().as_str(), pattern);
    if !ids.is_empty() {
        event = event.with("ids", ids);
    }
    record_operator_refusal(state, business_of(request), author, &event).await
}

/// Why a handler has refused the call. The permission for an approval depends on the requested action.
pub(crate) fn refused_in<B>(response: &ServiceResponse<B>) -> Option<Refused> {
    let error: &ApiError = response.response().error()?.as_error()?;
    match error.code() {
        "permission_missing" => {
            Some(Refused::Permission(error.body("")["requiredPermission"].as_str()?.to_owned()))
        }
        code @ ("own_request" | "related_account") => Some(Refused::FourEyes(code.to_owned())),
        _ => None,
    }
}

/// The ids in a path. Other text is left out, because it may be anything.
fn ids_of(path: &str, pattern: &str) -> Vec<Value> {
    let variables = pattern.split('/').zip(path.split('/')).filter(|(name, _)| name.starts_with('{'));
    let ids = variables.map(|(_, value)| value).filter(|value| IDS.iter().any(|is_id| is_id(value)));
    ids.map(Value::from).collect()
}

fn is<I: FromStr>(text: &str) -> bool {
    text.parse::<I>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_a_path_are_named() {
        let (business, user) = ("biz_01ARZ3NDEKTSV4RRFFQ69G5FAV", "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV");
        let pattern = "/v1/operator/businesses/{id}/users/{user}/second-factor";
        for (id, other, expected) in [
            (business, user, vec![business, user]),
            (business, "asha@home.example", vec![business]),
            ("+919876543210", "biz_", vec![]),
            (" biz_01ARZ3NDEKTSV4RRFFQ69G5FAV", &user.to_lowercase(), vec![]),
        ] {
            let path = format!("/v1/operator/businesses/{id}/users/{other}/second-factor");
            assert_eq!(ids_of(&path, pattern), expected, "{path}");
        }
    }
}
