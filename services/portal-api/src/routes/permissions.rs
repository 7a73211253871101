//! The minimum role of each call that needs a session. Calls that are missing here are 404, so that a forgotten call is never
//! open.

use actix_web::http::Method;

use crate::domain::Role::{self, Developer, Owner, Viewer};

/// Method, path below `/v1/portal`, minimum role.
const MINIMUM_ROLES: &[(Method, &str, Role)] = &[
    // The user.
    (Method::PUT, "/password", Viewer),
    (Method::GET, "/sessions", Viewer),
    (Method::POST, "/sessions/revoke-others", Viewer),
    (Method::DELETE, "/sessions/{id}", Viewer),
    // The team.
    (Method::GET, "/users", Owner),
    (Method::PATCH, "/users/{id}", Owner),
    (Method::DELETE, "/users/{id}", Owner),
    (Method::GET, "/invitations", Owner),
    (Method::POST, "/invitations", Owner),
    (Method::DELETE, "/invitations/{id}", Owner),
    (Method::GET, "/audit-log", Developer),
    // The overview.
    (Method::GET, "/status", Viewer),
    (Method::GET, "/status/stream", Viewer),
    (Method::GET, "/packages", Viewer),
    (Method::GET, "/pickup-profile", Viewer),
    (Method::PUT, "/pickup-profile", Developer),
    (Method::GET, "/subscription", Viewer),
    (Method::PUT, "/subscription", Owner),
    // Keys.
    (Method::GET, "/api-keys", Viewer),
    (Method::POST, "/api-keys", Developer),
    (Method::POST, "/api-keys/{id}/revoke", Developer),
    (Method::POST, "/api-keys/{id}/rotate", Developer),
    // Orders.
    (Method::GET, "/events", Viewer),
    (Method::GET, "/orders", Viewer),
    (Method::GET, "/orders/stream", Viewer),
    (Method::GET, "/orders/{id}", Viewer),
    (Method::GET, "/orders/{id}/events", Viewer),
    (Method::GET, "/orders/{id}/request", Viewer),
    (Method::POST, "/orders/{id}/simulate", Developer),
    (Method::POST, "/orders/{id}/cancel", Developer),
    // Irreversible.
    (Method::POST, "/orders/{id}/erase-personal-data", Owner),
    (Method::GET, "/personal-data-erasure", Viewer),
    (Method::POST, "/personal-data-erasure", Owner),
    // Money.
    (Method::GET, "/wallet", Viewer),
    (Method::GET, "/wallet/entries", Viewer),
    (Method::GET, "/wallet/entries.csv", Viewer),
    (Method::GET, "/wallet/spend", Viewer),
    (Method::PUT, "/wallet/threshold", Owner),
    (Method::POST, "/wallet/top-ups", Owner),
    (Method::GET, "/wallet/top-ups/{id}", Viewer),
    (Method::GET, "/cod", Viewer),
    // Webhooks.
    (Method::GET, "/webhook-endpoints", Viewer),
    (Method::POST, "/webhook-endpoints", Developer),
    (Method::GET, "/webhook-endpoints/{id}", Viewer),
    (Method::PATCH, "/webhook-endpoints/{id}", Developer),
    (Method::DELETE, "/webhook-endpoints/{id}", Developer),
    (Method::POST, "/webhook-endpoints/{id}/test", Developer),
    (Method::POST, "/webhook-endpoints/{id}/parked/replay", Developer),
    (Method::POST, "/webhook-endpoints/{id}/parked/discard", Developer),
    (Method::POST, "/webhook-endpoints/{id}/secret/rotate", Developer),
    (Method::POST, "/webhook-endpoints/{id}/secret/activate", Developer),
    // The response contains a valid signature of the given body.
    (Method::POST, "/webhook-endpoints/{id}/verify-signature", Developer),
    (Method::GET, "/webhook-endpoints/{id}/deliveries", Viewer),
    (Method::POST, "/webhook-endpoints/{id}/recover", Developer),
    (Method::GET, "/webhook-endpoints/{id}/recoveries", Viewer),
    (Method::GET, "/webhook-endpoints/{id}/recoveries/{recovery}", Viewer),
    (Method::POST, "/webhook-endpoints/{id}/recoveries/{recovery}/cancel", Developer),
    (Method::GET, "/webhook-deliveries/{id}", Viewer),
    (Method::POST, "/webhook-deliveries/{id}/redeliver", Developer),
];

/// The minimum role for a call, by the pattern of its path.
pub(super) fn minimum_role(method: &Method, pattern: &str) -> Option<Role> {
    let path = pattern.strip_prefix("/v1/portal")?;
    let found = MINIMUM_ROLES.iter().find(|(known, at, _)| known == method && *at == path);
    found.map(|(_, _, role)| *role)
}

/// The supported methods of a path.
pub(super) fn methods_of(pattern: &str) -> Vec<&'static str> {
    let path = pattern.strip_prefix("/v1/portal");
    let known = MINIMUM_ROLES.iter().filter(|(_, at, _)| Some(*at) == path);
    known.map(|(method, ..)| method.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The functions of the URL table whose routes need a session.
    const WITH_SESSION: &[&str] = &["portal", "account", "webhooks", "webhook_tools"];
    const OTHERS: &[&str] = &["public", "internal", "without_session", "operator_calls"];

    /// Method and path of every route that needs a session, read from the source of the URL table.
    fn routes() -> BTreeSet<(String, String)> {
        let table = include_str!("mod.rs");
        let mut routes = BTreeSet::new();
        let (mut function, mut path) = ("", "");
        for line in table.lines() {
            let named = line.trim_start_matches("pub(crate) ").strip_prefix("fn ");
            if let Some(named) = named.and_then(|rest| rest.split('(').next()) {
                function = named;
                let known = WITH_SESSION.contains(&named) || OTHERS.contains(&named);
                assert!(known, "add {named} to WITH_SESSION or OTHERS");
            }
            if !WITH_SESSION.contains(&function) {
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

    #[test]
    fn every_route_with_a_session_has_a_minimum_role() {
        let routes = routes();
        assert!(routes.len() > 30, "cannot read the URL table: {routes:?}");
        for (method, path) in &routes {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let role = minimum_role(&method, &format!("/v1/portal{path}"));
            assert!(role.is_some(), "{method} {path} has no minimum role");
        }
    }

    #[test]
    fn every_minimum_role_belongs_to_a_route() {
        let routes = routes();
        for (method, path, _) in MINIMUM_ROLES {
            assert!(
                routes.contains(&(method.to_string(), (*path).to_owned())),
                "{method} {path} is not a route"
            );
        }
    }

    #[test]
    fn each_call_is_listed_once() {
        let mut seen = BTreeSet::new();
        for (method, path, _) in MINIMUM_ROLES {
            assert!(seen.insert((method.as_str(), *path)), "{method} {path}");
        }
    }

    #[test]
    fn only_owners_change_money_and_users_and_erase_data() {
        for (method, path, role) in MINIMUM_ROLES {
            let people = path.starts_with("/users") || path.starts_with("/invitations");
            let money = *method != Method::GET && (path.starts_with("/wallet") || *path == "/subscription");
            let erasure = *method != Method::GET && path.contains("personal-data");
            assert_eq!(*role == Owner, people || money || erasure, "{method} {path}");
        }
    }

    #[test]
    fn viewers_change_only_their_own_password_and_sessions() {
        for (method, path, role) in MINIMUM_ROLES {
            let own = path.starts_with("/sessions") || *path == "/password";
            assert!(*role > Viewer || own || *method == Method::GET, "{method} {path}");
        }
    }
}
