//! The permission of each call that needs a session, and whether its response contains orders with the data of customers.

use actix_web::http::Method;

use super::call_table::CallTable;
use crate::domain::Permission::{
    self, CancelOrders, ErasePersonalData, ManageBusiness, ManageIntegration, ManageMoney,
    ManageSingleSignOn, ManageUsers, ReadAuditLog, ReadBusiness, ReadKeys, ReadMoney, ReadOrders,
    ReadWebhooks, ResendWebhooks, UseAccount,
};

pub(super) const PORTAL_CALLS: CallTable<PortalCall> = CallTable { scope: "/v1/portal", calls: CALLS };

/// What a call needs.
pub(super) struct PortalCall {
    pub(super) permission: Permission,
    /// The guard masks the response for roles that do not see it all.
    pub(super) shows_customers: bool,
}

const fn needs(permission: Permission) -> PortalCall {
    PortalCall { permission, shows_customers: false }
}

const fn shows_customers(permission: Permission) -> PortalCall {
    PortalCall { permission, shows_customers: true }
}

const CALLS: &[(Method, &str, PortalCall)] = &[
    // The user.
    (Method::PUT, "/password", needs(UseAccount)),
    (Method::GET, "/email", needs(UseAccount)),
    (Method::PUT, "/email", needs(UseAccount)),
    (Method::POST, "/email-confirmations", needs(UseAccount)),
    (Method::POST, "/email-confirmations/confirm", needs(UseAccount)),
    (Method::PUT, "/name", needs(UseAccount)),
    (Method::GET, "/sessions", needs(UseAccount)),
    (Method::POST, "/sessions/revoke-others", needs(UseAccount)),
    (Method::DELETE, "/sessions/{id}", needs(UseAccount)),
    (Method::POST, "/session/confirm", needs(UseAccount)),
    (Method::POST, "/session/confirm/passkey-options", needs(UseAccount)),
    (Method::POST, "/session/business", needs(UseAccount)),
    (Method::POST, "/memberships", needs(UseAccount)),
    (Method::POST, "/businesses", needs(UseAccount)),
    (Method::GET, "/second-factor", needs(UseAccount)),
    (Method::POST, "/second-factor", needs(UseAccount)),
    (Method::DELETE, "/second-factor", needs(UseAccount)),
    (Method::POST, "/second-factor/confirm", needs(UseAccount)),
    (Method::POST, "/second-factor/recovery-codes", needs(UseAccount)),
    (Method::GET, "/second-factor/passkeys", needs(UseAccount)),
    (Method::POST, "/second-factor/passkeys", needs(UseAccount)),
    (Method::POST, "/second-factor/passkeys/options", needs(UseAccount)),
    (Method::DELETE, "/second-factor/passkeys/{id}", needs(UseAccount)),
    // The team.
    (Method::GET, "/users", needs(ManageUsers)),
    (Method::PATCH, "/users/{id}", needs(ManageUsers)),
    (Method::DELETE, "/users/{id}", needs(ManageUsers)),
    (Method::POST, "/users/{id}/link", needs(ManageUsers)),
    (Method::DELETE, "/users/{id}/second-factor", needs(ManageUsers)),
    (Method::DELETE, "/users/{id}/sessions", needs(ManageUsers)),
    (Method::GET, "/invitations", needs(ManageUsers)),
    (Method::POST, "/invitations", needs(ManageUsers)),
    (Method::DELETE, "/invitations/{id}", needs(ManageUsers)),
    (Method::GET, "/single-sign-on", needs(ManageSingleSignOn)),
    (Method::PUT, "/single-sign-on", needs(ManageSingleSignOn)),
    (Method::DELETE, "/single-sign-on", needs(ManageSingleSignOn)),
    (Method::POST, "/single-sign-on/test", needs(ManageSingleSignOn)),
    (Method::PUT, "/business", needs(ManageBusiness)),
    (Method::GET, "/audit-log", needs(ReadAuditLog)),
    (Method::GET, "/audit-log.csv", needs(ReadAuditLog)),
    (Method::GET, "/audit-log.jsonl", needs(ReadAuditLog)),
    // The overview.
    (Method::GET, "/status", needs(ReadBusiness)),
    (Method::GET, "/status/stream", needs(ReadBusiness)),
    (Method::GET, "/packages", needs(ReadBusiness)),
    (Method::GET, "/pickup-profile", needs(ReadBusiness)),
    (Method::PUT, "/pickup-profile", needs(ManageIntegration)),
    (Method::GET, "/subscription", needs(ReadBusiness)),
    (Method::PUT, "/subscription", needs(ManageMoney)),
    // Keys.
    (Method::GET, "/api-keys", needs(ReadKeys)),
    (Method::POST, "/api-keys", needs(ManageIntegration)),
    (Method::POST, "/api-keys/{id}/revoke", needs(ManageIntegration)),
    (Method::POST, "/api-keys/{id}/rotate", needs(ManageIntegration)),
    // Orders. The lists of events and the stream contain no personal data.
    (Method::GET, "/events", needs(ReadOrders)),
    (Method::GET, "/orders", shows_customers(ReadOrders)),
    (Method::GET, "/orders/stream", needs(ReadOrders)),
    (Method::GET, "/orders/{id}", shows_customers(ReadOrders)),
    (Method::GET, "/orders/{id}/events", shows_customers(ReadOrders)),
    (Method::GET, "/orders/{id}/request", shows_customers(ReadOrders)),
    (Method::POST, "/orders/{id}/simulate", shows_customers(ManageIntegration)),
    (Method::POST, "/orders/{id}/cancel", shows_customers(CancelOrders)),
    // Irreversible.
    (Method::POST, "/orders/{id}/erase-personal-data", shows_customers(ErasePersonalData)),
    (Method::GET, "/personal-data-erasure", needs(ReadBusiness)),
    (Method::POST, "/personal-data-erasure", needs(ErasePersonalData)),
    // Money.
    (Method::GET, "/wallet", needs(ReadMoney)),
    (Method::GET, "/wallet/entries", needs(ReadMoney)),
    (Method::GET, "/wallet/entries.csv", needs(ReadMoney)),
    (Method::GET, "/wallet/spend", needs(ReadMoney)),
    (Method::PUT, "/wallet/threshold", needs(ManageMoney)),
    (Method::GET, "/wallet/top-ups", needs(ReadMoney)),
    (Method::POST, "/wallet/top-ups", needs(ManageMoney)),
    (Method::GET, "/wallet/top-ups/{id}", needs(ReadMoney)),
    (Method::GET, "/cod", needs(ReadMoney)),
    // Webhooks. Bodies can name the driver and the reason of a failure; the log contains none.
    (Method::GET, "/webhook-endpoints", needs(ReadWebhooks)),
    (Method::POST, "/webhook-endpoints", needs(ManageIntegration)),
    (Method::GET, "/webhook-endpoints/{id}", needs(ReadWebhooks)),
    (Method::PATCH, "/webhook-endpoints/{id}", needs(ManageIntegration)),
    (Method::DELETE, "/webhook-endpoints/{id}", needs(ManageIntegration)),
    (Method::POST, "/webhook-endpoints/{id}/test", needs(ManageIntegration)),
    (Method::POST, "/webhook-endpoints/{id}/parked/replay", needs(ManageIntegration)),
    (Method::POST, "/webhook-endpoints/{id}/parked/discard", needs(ManageIntegration)),
    (Method::POST, "/webhook-endpoints/{id}/secret/rotate", needs(ManageIntegration)),
    (Method::POST, "/webhook-endpoints/{id}/secret/activate", needs(ManageIntegration)),
    // The response contains a valid signature of the given body.
    (Method::POST, "/webhook-endpoints/{id}/verify-signature", needs(ManageIntegration)),
    (Method::GET, "/webhook-endpoints/{id}/deliveries", needs(ReadWebhooks)),
    (Method::POST, "/webhook-endpoints/{id}/recover", needs(ResendWebhooks)),
    (Method::GET, "/webhook-endpoints/{id}/recoveries", needs(ReadWebhooks)),
    (Method::GET, "/webhook-endpoints/{id}/recoveries/{recovery}", needs(ReadWebhooks)),
    (Method::POST, "/webhook-endpoints/{id}/recoveries/{recovery}/cancel", needs(ResendWebhooks)),
    (Method::GET, "/webhook-deliveries/{id}", shows_customers(ReadWebhooks)),
    (Method::POST, "/webhook-deliveries/{id}/redeliver", needs(ResendWebhooks)),
];

#[cfg(test)]
mod tests {
    use super::super::call_table::tests::{WITH_SESSION, check};
    use super::*;

    #[test]
    fn every_route_with_a_session_has_a_permission() {
        check(&PORTAL_CALLS, WITH_SESSION, 30);
    }

    #[test]
    fn permissions_to_read_are_for_calls_that_change_nothing() {
        for (method, path, call) in CALLS {
            let own = call.permission == UseAccount;
            let reads = call.permission.to_string().starts_with("read_");
            let manages_users = [ManageUsers, ManageSingleSignOn].contains(&call.permission);
            assert!(own || manages_users || reads == (*method == Method::GET), "{method} {path}");
        }
    }

    #[test]
    fn money_users_and_erasures_have_permissions_of_their_own() {
        for (method, path, call) in CALLS {
            let people = path.starts_with("/users") || path.starts_with("/invitations");
            let money = *method != Method::GET && (path.starts_with("/wallet") || *path == "/subscription");
            let erasure = *method != Method::GET && path.contains("personal-data");
            assert_eq!(call.permission == ManageUsers, people, "{method} {path}");
            assert_eq!(call.permission == ManageMoney, money, "{method} {path}");
            assert_eq!(call.permission == ErasePersonalData, erasure, "{method} {path}");
        }
    }
}
