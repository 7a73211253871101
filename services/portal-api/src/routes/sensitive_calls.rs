//! Calls that need a recent authentication, and calls that are open to people who must still set up a second factor.
//! Live keys and Live endpoints also need a recent authentication: their handlers check it, because it depends on the mode.

use actix_web::http::Method;
use chrono::{DateTime, Utc};
use web::ApiError;

use super::call_table::CallTable;
use super::errors;
use crate::domain::is_recent;
use crate::state::State;

/// Roles, second factors, the address that resets the password, other sessions, and exports and erasures of personal data.
pub(super) const RECENT_CALLS: CallTable<()> = CallTable {
    scope: "/v1/portal",
    calls: &[
        (Method::PATCH, "/users/{id}", ()),
        (Method::DELETE, "/users/{id}", ()),
        (Method::POST, "/users/{id}/link", ()),
        (Method::POST, "/invitations", ()),
        (Method::PUT, "/email", ()),
        (Method::DELETE, "/sessions/{id}", ()),
        (Method::POST, "/sessions/revoke-others", ()),
        (Method::POST, "/second-factor", ()),
        (Method::DELETE, "/second-factor", ()),
        (Method::POST, "/second-factor/recovery-codes", ()),
        (Method::POST, "/second-factor/passkeys", ()),
        (Method::POST, "/second-factor/passkeys/options", ()),
        (Method::DELETE, "/second-factor/passkeys/{id}", ()),
        (Method::DELETE, "/users/{id}/second-factor", ()),
        (Method::PUT, "/single-sign-on", ()),
        (Method::DELETE, "/single-sign-on", ()),
        (Method::POST, "/personal-data-erasure", ()),
        (Method::GET, "/audit-log.csv", ()),
        (Method::GET, "/audit-log.jsonl", ()),
    ],
};

/// Calls that change or show the account beyond this business, and changes of the provider's settings. They are refused in sessions
/// that the identity provider of a business opened. The owner who chose the provider must not take over accounts, and a change of
/// the provider must not end the only way in.
pub(super) const ACCOUNT_CALLS: CallTable<()> = CallTable {
    scope: "/v1/portal",
    calls: &[
        (Method::PUT, "/password", ()),
        (Method::GET, "/email", ()),
        (Method::PUT, "/email", ()),
        (Method::PUT, "/name", ()),
        (Method::GET, "/sessions", ()),
        (Method::POST, "/sessions/revoke-others", ()),
        (Method::DELETE, "/sessions/{id}", ()),
        (Method::POST, "/session/confirm", ()),
        (Method::POST, "/session/confirm/passkey-options", ()),
        (Method::POST, "/session/business", ()),
        (Method::POST, "/memberships", ()),
        (Method::POST, "/businesses", ()),
        (Method::GET, "/second-factor", ()),
        (Method::POST, "/second-factor", ()),
        (Method::DELETE, "/second-factor", ()),
        (Method::POST, "/second-factor/confirm", ()),
        (Method::POST, "/second-factor/recovery-codes", ()),
        (Method::GET, "/second-factor/passkeys", ()),
        (Method::POST, "/second-factor/passkeys", ()),
        (Method::POST, "/second-factor/passkeys/options", ()),
        (Method::DELETE, "/second-factor/passkeys/{id}", ()),
        (Method::DELETE, "/users/{id}/second-factor", ()),
        (Method::PUT, "/single-sign-on", ()),
        (Method::DELETE, "/single-sign-on", ()),
    ],
};

/// Roles, tokens, second factors, links that set passwords, money, the status and live access of businesses, and exports and erasures of
/// personal data. Sent with a token, they need no recent authentication; in a console session of the configured token, a recent log-in.
pub(super) const RECENT_OPERATOR_CALLS: CallTable<()> = CallTable {
    scope: "/v1/operator",
    calls: &[
        (Method::POST, "/staff", ()),
        (Method::PATCH, "/staff/{id}", ()),
        (Method::DELETE, "/staff/{id}", ()),
        (Method::POST, "/staff/{id}/password-link", ()),
        (Method::DELETE, "/staff/{id}/second-factor", ()),
        (Method::DELETE, "/staff/{id}/identity", ()),
        (Method::POST, "/tokens", ()),
        (Method::POST, "/tokens/{id}/rotate", ()),
        (Method::PATCH, "/businesses/{id}", ()),
        (Method::POST, "/businesses/{id}/wallet/credits", ()),
        (Method::POST, "/businesses/{id}/wallet/debits", ()),
        (Method::PUT, "/approval-limit", ()),
        (Method::POST, "/businesses/{id}/password-resets", ()),
        (Method::POST, "/businesses/{id}/personal-data-erasure", ()),
        (Method::POST, "/approvals/{id}/approve", ()),
        (Method::POST, "/approvals/{id}/reset-link", ()),
        (Method::DELETE, "/businesses/{id}/users/{user}/second-factor", ()),
        (Method::GET, "/audit-log.csv", ()),
        (Method::GET, "/audit-log.jsonl", ()),
    ],
};

/// The calls of the page that sets up the second factor, and the way to a business that does not require one.
pub(super) const WHILE_ENROLLING: CallTable<()> = CallTable {
    scope: "/v1/portal",
    calls: &[
        (Method::GET, "/second-factor", ()),
        (Method::POST, "/second-factor", ()),
        (Method::POST, "/second-factor/confirm", ()),
        (Method::POST, "/session/confirm", ()),
        (Method::POST, "/session/business", ()),
        // The address is confirmed first.
        (Method::POST, "/email-confirmations", ()),
        (Method::POST, "/email-confirmations/confirm", ()),
    ],
};

/// 403 if the last authentication was too long ago. `None` for tokens, which programs send.
pub(super) fn require_recent(state: &State, at: Option<DateTime<Utc>>) -> Result<(), ApiError> {
    let (within, now) = (state.second_factors.recent_within, state.unit.clock.now());
    let is_allowed = at.is_none_or(|at| is_recent(at, within, now));
    is_allowed.then_some(()).ok_or_else(errors::recent_authentication_required)
}

#[cfg(test)]
mod tests {
    use super::super::operator_permissions::OPERATOR_CALLS;
    use super::super::permissions::PORTAL_CALLS;
    use super::*;

    #[test]
    fn every_listed_call_is_a_call() {
        let of_users = [RECENT_CALLS.calls, WHILE_ENROLLING.calls, ACCOUNT_CALLS.calls];
        for (method, path, ()) in of_users.into_iter().flatten() {
            assert!(PORTAL_CALLS.find(method, &format!("/v1/portal{path}")).is_some(), "{method} {path}");
        }
        for (method, path, ()) in RECENT_OPERATOR_CALLS.calls {
            assert!(OPERATOR_CALLS.find(method, &format!("/v1/operator{path}")).is_some(), "{method} {path}");
        }
    }

    #[test]
    fn a_session_of_a_provider_does_nothing_with_the_account_but_confirm_the_address() {
        for (method, path, call) in PORTAL_CALLS.calls {
            let is_of_account = call.permission == crate::domain::Permission::UseAccount;
            let is_refused = ACCOUNT_CALLS.find(method, &format!("/v1/portal{path}")).is_some();
            let is_other =
                ["/single-sign-on", "/email-confirmations"].iter().any(|own| path.starts_with(own))
                    || *path == "/users/{id}/second-factor";
            assert!(is_other || is_refused == is_of_account, "{method} {path}");
        }
    }
}
