//! Tables of calls: what each call of a scope needs, by method and path. Calls that are missing in their table are 404, so
//! that a forgotten call is never open.

use actix_web::dev::ServiceRequest;
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use web::ApiError;

/// A scope's calls.
pub(super) struct CallTable<T: 'static> {
    /// The path of the scope.
    pub(super) scope: &'static str,
    /// Method, path below the scope, what the call needs.
    pub(super) calls: &'static [(Method, &'static str, T)],
}

impl<T> CallTable<T> {
    /// The row of a call. Matches the decoded path, as the router does. Otherwise an encoded path could be checked as one
    /// call and served as another.
    ///
    /// # Errors
    /// 404 for an unknown path, 405 for an unknown method.
    pub(super) fn row(&self, request: &ServiceRequest) -> Result<&'static T, ApiError> {
        let not_found = || ApiError::from_status(StatusCode::NOT_FOUND);
        let pattern = pattern(request).ok_or_else(not_found)?;
        if let Some(row) = self.find(request.method(), &pattern) {
            return Ok(row);
        }
        let methods = self.methods_of(&pattern).join(", ");
        Err(match HeaderValue::try_from(methods).ok().filter(|methods| !methods.is_empty()) {
            Some(methods) => {
                ApiError::from_status(StatusCode::METHOD_NOT_ALLOWED).with_header(header::ALLOW, methods)
            }
            None => not_found(),
        })
    }

    /// Whether the table contains the call.
    pub(super) fn contains(&self, request: &ServiceRequest) -> bool {
        let pattern = request.resource_map().match_pattern(request.match_info().as_str());
        pattern.is_some_and(|pattern| self.find(request.method(), &pattern).is_some())
    }

    /// The row of a call by the pattern of its path.
    pub(super) fn find(&self, method: &Method, pattern: &str) -> Option<&'static T> {
        let path = pattern.strip_prefix(self.scope)?;
        let found = self.calls.iter().find(|(known, at, _)| known == method && *at == path);
        found.map(|(_, _, row)| row)
    }

    fn methods_of(&self, pattern: &str) -> Vec<&'static str> {
        let path = pattern.strip_prefix(self.scope);
        let known = self.calls.iter().filter(|(_, at, _)| Some(*at) == path);
        known.map(|(method, ..)| method.as_str()).collect()
    }
}

/// The path of a call with the names of its variables.
pub(super) fn pattern(request: &ServiceRequest) -> Option<String> {
    request.resource_map().match_pattern(request.match_info().as_str())
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The functions of the URL table, by the scope of their routes.
    pub(in super::super) const WITH_SESSION: &[&str] =
        &["portal", "account", "account_passkeys", "webhooks", "webhook_tools"];
    pub(in super::super) const OF_OPERATOR: &[&str] =
        &["operator_calls", "operator_access", "operator_approvals"];
    const OTHERS: &[&str] =
        &["of_site", "of_businesses", "of_staff", "without_session", "second_steps", "console_sessions"];

    /// Method and path of every route in these functions, read from the sources of the URL tables.
    fn routes(functions: &[&str]) -> BTreeSet<(String, String)> {
        let tables = [include_str!("mod.rs"), include_str!("webhook_calls.rs")];
        let mut routes = BTreeSet::new();
        let (mut function, mut path) = ("", "");
        for line in tables.into_iter().flat_map(str::lines) {
            let named =
                line.trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ").strip_prefix("fn ");
            if let Some(named) = named.and_then(|rest| rest.split('(').next()) {
                function = named;
                let known = [WITH_SESSION, OF_OPERATOR, OTHERS].concat().contains(&named);
                assert!(known, "add {named} to WITH_SESSION, OF_OPERATOR or OTHERS");
            }
            if !functions.contains(&function) {
                continue;
            }
            if let Some((_, rest)) = line.split_once("resource(\"") {
                path = rest.split('"').next().unwrap();
            }
            for routed in line.split(".route(").skip(1) {
                let method = routed.split('(').next().unwrap().to_uppercase();
                routes.insert((method, path.to_owned()));
            }
        }
        routes
    }

    /// Every route is in the table once, and the table contains nothing else.
    pub(in super::super) fn check<T>(table: &CallTable<T>, functions: &[&str], least: usize) {
        let routes = routes(functions);
        assert!(routes.len() >= least, "cannot read the URL table: {routes:?}");
        for (method, path) in &routes {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let row = table.find(&method, &format!("{}{path}", table.scope));
            assert!(row.is_some(), "{method} {path} is missing in the table");
        }
        let mut seen = BTreeSet::new();
        for (method, path, _) in table.calls {
            let call = (method.to_string(), (*path).to_owned());
            assert!(routes.contains(&call), "{method} {path} is not a route");
            assert!(seen.insert(call), "{method} {path} is listed twice");
        }
    }
}
