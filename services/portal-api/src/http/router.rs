//! Builds the router from the table of calls.

use std::collections::BTreeMap;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{Data, ServiceConfig, method, resource, to};
use actix_web::{Error, HttpRequest, HttpResponse, Resource, Route};
use web::{ApiError, BODY_MAX_BYTES, BodyLimit, no_query};

use crate::domain::{Part, Site};
use crate::http::call::{Call, Rule, Who};
use crate::http::calls::CALLS;
use crate::http::{errors, guard, operator_guard};
use crate::state::State;

/// The path of the scope with all calls.
pub(crate) const SCOPE: &str = "/v1";

/// Registers the calls of the parts of a site.
pub(crate) fn register(config: &mut ServiceConfig, site: &Site) {
    let mut by_path: BTreeMap<&str, Vec<&'static Call>> = BTreeMap::new();
    for call in CALLS.iter().filter(|call| site.parts.iter().any(|part| call.is_of(*part))) {
        by_path.entry(call.path.trim_start_matches(SCOPE)).or_default().push(call);
    }
    // Variables come after fixed segments: `{` sorts after all letters.
    for (path, calls) in by_path {
        let has_long_body = calls.iter().any(|call| call.has(Rule::LongBody));
        let of_path = calls.into_iter().map(checked).fold(resource(path), Resource::route);
        config.service(if has_long_body { of_path.app_data(BodyLimit(BODY_MAX_BYTES)) } else { of_path });
    }
    for part in site.parts {
        let (path, nothing) = match part {
            Part::Portal => ("/portal/{path:.*}", to(nothing_for_users)),
            Part::Console => ("/operator/{path:.*}", to(nothing_for_operators)),
        };
        config.service(resource(path).route(nothing));
    }
}

fn checked(call: &'static Call) -> Route {
    let route = (call.handler)(method(call.method.clone()));
    route.wrap(from_fn(move |request, next| check(call, request, next)))
}

async fn check(
    call: &'static Call,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse, Error> {
    if !call.has(Rule::Query) {
        no_query(request.request())?;
    }
    match call.who {
        Who::Anybody(_) => next.call(request).await,
        Who::User(permission) => guard::of_user(call, permission, request, next).await,
        Who::Person | Who::Console => operator_guard::of_console(call, request, next).await,
        Who::Operator(permission) => operator_guard::of_operator(call, permission, request, next).await,
    }
}

/// Paths without a call answer strangers as calls do.
async fn nothing_for_users(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    guard::active_session(&state, &request).await?.ok_or_else(errors::not_logged_in)?;
    Err(ApiError::from_status(StatusCode::NOT_FOUND))
}

async fn nothing_for_operators(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    operator_guard::authenticated(&state, &request).await?;
    Err(ApiError::from_status(StatusCode::NOT_FOUND))
}
