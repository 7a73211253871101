//! The minimum role of each call that needs a session.

use actix_web::http::Method;

use super::call_table::CallTable;
use crate::domain::Role::{self, Developer, Owner, Viewer};

pub(super) const MINIMUM_ROLES: CallTable<Role> = CallTable { scope: "/v1/portal", calls: CALLS };

const CALLS: &[(Method, &str, Role)] = &[
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

#[cfg(test)]
mod tests {
    use super::super::call_table::tests::{WITH_SESSION, check};
    use super::*;

    #[test]
    fn every_route_with_a_session_has_a_minimum_role() {
        check(&MINIMUM_ROLES, WITH_SESSION, 30);
    }

    #[test]
    fn only_owners_change_money_and_users_and_erase_data() {
        for (method, path, role) in CALLS {
            let people = path.starts_with("/users") || path.starts_with("/invitations");
            let money = *method != Method::GET && (path.starts_with("/wallet") || *path == "/subscription");
            let erasure = *method != Method::GET && path.contains("personal-data");
            assert_eq!(*role == Owner, people || money || erasure, "{method} {path}");
        }
    }

    #[test]
    fn viewers_change_only_their_own_password_and_sessions() {
        for (method, path, role) in CALLS {
            let own = path.starts_with("/sessions") || *path == "/password";
            assert!(*role > Viewer || own || *method == Method::GET, "{method} {path}");
        }
    }
}
