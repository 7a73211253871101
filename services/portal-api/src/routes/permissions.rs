//! Who may do what: the least role for each call behind the log-in. A call that does not stand here does not exist for
//! anybody, so that none is open because it was forgotten.

use actix_web::http::Method;

use crate::domain::Role::{self, Developer, Owner, Viewer};

/// Method, path behind `/v1/portal`, least role.
const LEAST_ROLES: &[(Method, &str, Role)] = &[
    // Oneself.
    (Method::PUT, "/password", Viewer),
    (Method::GET, "/sessions", Viewer),
    (Method::POST, "/sessions/revoke-others", Viewer),
    (Method::DELETE, "/sessions/{id}", Viewer),
    // The business's people.
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
    (Method::GET, "/orders", Viewer),
    (Method::GET, "/orders/stream", Viewer),
    (Method::GET, "/orders/{id}", Viewer),
    (Method::GET, "/orders/{id}/events", Viewer),
    (Method::GET, "/orders/{id}/request", Viewer),
    (Method::POST, "/orders/{id}/simulate", Developer),
    (Method::POST, "/orders/{id}/cancel", Developer),
    // For good.
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
    // Its answer holds a good signature, which is worth the secret for what was sent in.
    (Method::POST, "/webhook-endpoints/{id}/verify-signature", Developer),
    (Method::GET, "/webhook-endpoints/{id}/deliveries", Viewer),
    (Method::POST, "/webhook-endpoints/{id}/recover", Developer),
    (Method::GET, "/webhook-endpoints/{id}/recoveries", Viewer),
    (Method::GET, "/webhook-endpoints/{id}/recoveries/{recovery}", Viewer),
    (Method::POST, "/webhook-endpoints/{id}/recoveries/{recovery}/cancel", Developer),
    (Method::GET, "/webhook-deliveries/{id}", Viewer),
    (Method::POST, "/webhook-deliveries/{id}/redeliver", Developer),
];

/// The least role for a call, by the pattern of its path.
pub(super) fn least_role(method: &Method, pattern: &str) -> Option<Role> {
    let path = pattern.strip_prefix("/v1/portal")?;
    let found = LEAST_ROLES.iter().find(|(known, at, _)| known == method && *at == path);
    found.map(|(_, _, role)| *role)
}

/// The methods that there are for a path.
pub(super) fn methods_of(pattern: &str) -> Vec<&'static str> {
    let path = pattern.strip_prefix("/v1/portal");
    let known = LEAST_ROLES.iter().filter(|(_, at, _)| Some(*at) == path);
    known.map(|(method, ..)| method.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The functions of the URL table whose routes stand behind the log-in; a new one must be named here.
    const BEHIND_THE_LOG_IN: &[&str] = &["portal", "account", "webhooks", "webhook_tools"];
    const OTHERS: &[&str] = &["public", "internal", "strangers", "operator_calls"];

    /// Method and path of every route behind the log-in, read from the URL table itself.
    fn routes() -> BTreeSet<(String, String)> {
        let table = include_str!("mod.rs");
        let mut routes = BTreeSet::new();
        let (mut function, mut path) = ("", "");
        for line in table.lines() {
            let named = line.trim_start_matches("pub(crate) ").strip_prefix("fn ");
            if let Some(named) = named.and_then(|rest| rest.split('(').next()) {
                function = named;
                let known = BEHIND_THE_LOG_IN.contains(&named) || OTHERS.contains(&named);
                assert!(known, "say in this test whether the routes of {named} stand behind the log-in");
            }
            if !BEHIND_THE_LOG_IN.contains(&function) {
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
    fn every_route_behind_the_log_in_has_a_least_role() {
        let routes = routes();
        assert!(routes.len() > 30, "the URL table is not read as it is written: {routes:?}");
        for (method, path) in &routes {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let role = least_role(&method, &format!("/v1/portal{path}"));
            assert!(role.is_some(), "{method} {path} has no least role");
        }
    }

    #[test]
    fn every_least_role_belongs_to_a_route() {
        let routes = routes();
        for (method, path, _) in LEAST_ROLES {
            assert!(
                routes.contains(&(method.to_string(), (*path).to_owned())),
                "{method} {path} is no route"
            );
        }
    }

    #[test]
    fn a_call_stands_in_the_table_once() {
        let mut seen = BTreeSet::new();
        for (method, path, _) in LEAST_ROLES {
            assert!(seen.insert((method.as_str(), *path)), "{method} {path}");
        }
    }

    #[test]
    fn only_owners_touch_money_and_people_and_erase_for_good() {
        for (method, path, role) in LEAST_ROLES {
            let people = path.starts_with("/users") || path.starts_with("/invitations");
            let money = *method != Method::GET && (path.starts_with("/wallet") || *path == "/subscription");
            let erasure = *method != Method::GET && path.contains("personal-data");
            assert_eq!(*role == Owner, people || money || erasure, "{method} {path}");
        }
    }

    #[test]
    fn viewers_change_nothing_but_what_is_their_own() {
        for (method, path, role) in LEAST_ROLES {
            let own = path.starts_with("/sessions") || *path == "/password";
            assert!(*role > Viewer || own || *method == Method::GET, "{method} {path}");
        }
    }
}
