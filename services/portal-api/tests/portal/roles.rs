//! The roles of every call with a session.

use serde_json::json;

use crate::client::Client;
use crate::documented::DOCUMENT;
use crate::portal::Portal;

/// Well-formed ids that do not exist.
pub(crate) fn filled(path: &str) -> String {
    let id = if path.starts_with("/webhook-endpoints") {
        "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV"
    } else if path.starts_with("/webhook-deliveries") {
        "whd_01ARZ3NDEKTSV4RRFFQ69G5FAV"
    } else {
        "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV"
    };
    format!("/v1/portal{}", path.replace("{id}", id).replace("{recovery}", "whr_01ARZ3NDEKTSV4RRFFQ69G5FAV"))
}

const EVERYBODY: &[&str] = &["owner", "developer", "finance", "support", "viewer"];
const MONEY: &[&str] = &["owner", "developer", "finance", "viewer"];
const KEYS: &[&str] = &["owner", "developer", "viewer"];
const WEBHOOKS: &[&str] = &["owner", "developer", "support", "viewer"];
const HELPERS: &[&str] = &["owner", "developer", "support"];
const INTEGRATORS: &[&str] = &["owner", "developer"];
const PAYERS: &[&str] = &["owner", "finance"];
const CUSTOMERS: &[&str] = &["owner", "support"];
const OWNERS: &[&str] = &["owner"];

/// Calls and the roles that may call them, written down a second time. Streams never end, so they are not among them.
pub(crate) const CALLS: &[(&str, &[&str])] = &[
    ("PUT /password", EVERYBODY),
    ("GET /email", EVERYBODY),
    ("PUT /email", EVERYBODY),
    ("POST /email-confirmations", EVERYBODY),
    ("POST /email-confirmations/confirm", EVERYBODY),
    ("PUT /name", EVERYBODY),
    ("GET /sessions", EVERYBODY),
    ("POST /sessions/revoke-others", EVERYBODY),
    ("DELETE /sessions/{id}", EVERYBODY),
    ("POST /session/confirm", EVERYBODY),
    ("POST /session/confirm/passkey-options", EVERYBODY),
    ("POST /session/business", EVERYBODY),
    ("POST /memberships", EVERYBODY),
    ("POST /businesses", EVERYBODY),
    ("GET /second-factor", EVERYBODY),
    ("POST /second-factor", EVERYBODY),
    ("DELETE /second-factor", EVERYBODY),
    ("POST /second-factor/confirm", EVERYBODY),
    ("POST /second-factor/recovery-codes", EVERYBODY),
    ("GET /second-factor/passkeys", EVERYBODY),
    ("POST /second-factor/passkeys", EVERYBODY),
    ("POST /second-factor/passkeys/options", EVERYBODY),
    ("DELETE /second-factor/passkeys/{id}", EVERYBODY),
    ("GET /home", EVERYBODY),
    ("GET /status", EVERYBODY),
    ("GET /packages", EVERYBODY),
    ("GET /pickup-profile", EVERYBODY),
    ("GET /business/contact", EVERYBODY),
    ("GET /business/closing", EVERYBODY),
    ("GET /business/refusal", EVERYBODY),
    ("GET /subscription", EVERYBODY),
    ("GET /events", EVERYBODY),
    ("GET /orders", EVERYBODY),
    ("GET /orders/{id}", EVERYBODY),
    ("GET /exceptions", EVERYBODY),
    ("GET /orders/{id}/events", EVERYBODY),
    ("GET /orders/{id}/evidence", EVERYBODY),
    ("GET /orders/{id}/request", EVERYBODY),
    ("GET /personal-data-erasure", EVERYBODY),
    ("POST /orders/exports", EVERYBODY),
    ("GET /exports", EVERYBODY),
    ("GET /exports/{id}", EVERYBODY),
    ("DELETE /exports/{id}", EVERYBODY),
    ("GET /exports/{id}/file", EVERYBODY),
    ("POST /cod/exports", MONEY),
    ("GET /wallet", MONEY),
    ("GET /wallet/entries", MONEY),
    ("GET /wallet/entries.csv", MONEY),
    ("GET /wallet/entries.xlsx", MONEY),
    ("GET /wallet/entries/totals", MONEY),
    ("GET /wallet/spend", MONEY),
    ("GET /wallet/top-ups", MONEY),
    ("GET /wallet/top-ups/{id}", MONEY),
    ("GET /cod", MONEY),
    ("GET /cod/months", MONEY),
    ("GET /remittances", MONEY),
    ("GET /remittances/{id}", MONEY),
    ("GET /remittances/{id}/orders.csv", MONEY),
    ("GET /api-keys", KEYS),
    ("GET /webhook-endpoints", WEBHOOKS),
    ("GET /webhook-endpoints/{id}", WEBHOOKS),
    ("GET /webhook-endpoints/{id}/deliveries", WEBHOOKS),
    ("GET /webhook-endpoints/{id}/recoveries", WEBHOOKS),
    ("GET /webhook-endpoints/{id}/recoveries/{recovery}", WEBHOOKS),
    ("GET /webhook-deliveries/{id}", WEBHOOKS),
    ("POST /webhook-endpoints/{id}/recover", HELPERS),
    ("POST /webhook-endpoints/{id}/recoveries/{recovery}/cancel", HELPERS),
    ("POST /webhook-deliveries/{id}/redeliver", HELPERS),
    ("POST /orders/{id}/cancel", HELPERS),
    ("POST /orders/{id}/reattempt", HELPERS),
    ("POST /orders/{id}/return", HELPERS),
    ("POST /orders/{id}/delivery-code", CUSTOMERS),
    ("POST /orders/{id}/delivery-details", CUSTOMERS),
    ("GET /audit-log", INTEGRATORS),
    ("GET /audit-log.csv", INTEGRATORS),
    ("GET /audit-log.jsonl", INTEGRATORS),
    ("PUT /pickup-profile", INTEGRATORS),
    ("POST /api-keys", INTEGRATORS),
    ("POST /api-keys/{id}/revoke", INTEGRATORS),
    ("POST /api-keys/{id}/rotate", INTEGRATORS),
    ("POST /orders/{id}/simulate", INTEGRATORS),
    ("POST /webhook-endpoints", INTEGRATORS),
    ("PATCH /webhook-endpoints/{id}", INTEGRATORS),
    ("DELETE /webhook-endpoints/{id}", INTEGRATORS),
    ("POST /webhook-endpoints/{id}/test", INTEGRATORS),
    ("POST /webhook-endpoints/{id}/parked/replay", INTEGRATORS),
    ("POST /webhook-endpoints/{id}/parked/discard", INTEGRATORS),
    ("POST /webhook-endpoints/{id}/secret/rotate", INTEGRATORS),
    ("POST /webhook-endpoints/{id}/secret/activate", INTEGRATORS),
    ("POST /webhook-endpoints/{id}/verify-signature", INTEGRATORS),
    ("PUT /subscription", PAYERS),
    ("PUT /wallet/threshold", PAYERS),
    ("POST /wallet/top-ups", PAYERS),
    ("GET /single-sign-on", OWNERS),
    ("PUT /single-sign-on", OWNERS),
    ("POST /single-sign-on/test", OWNERS),
    ("DELETE /single-sign-on", OWNERS),
    ("PUT /business", OWNERS),
    ("PUT /business/contact", OWNERS),
    ("POST /business/refusal/ask-again", OWNERS),
    ("POST /business/closing", OWNERS),
    ("DELETE /business/closing", OWNERS),
    ("GET /users", OWNERS),
    ("PATCH /users/{id}", OWNERS),
    ("DELETE /users/{id}", OWNERS),
    ("POST /users/{id}/link", OWNERS),
    ("DELETE /users/{id}/second-factor", OWNERS),
    ("DELETE /users/{id}/sessions", OWNERS),
    ("GET /invitations", OWNERS),
    ("POST /invitations", OWNERS),
    ("DELETE /invitations/{id}", OWNERS),
    ("POST /orders/{id}/erase-personal-data", OWNERS),
    ("POST /personal-data-erasure", OWNERS),
];

/// The least of these roles, for callers that know no list of roles.
fn least_role(roles: &[&str]) -> &'static str {
    ["viewer", "developer", "owner"].into_iter().find(|role| roles.contains(role)).unwrap()
}

async fn check(client: &mut Client, role: &str) {
    for (call, roles) in CALLS {
        let (method, path) = call.split_once(' ').unwrap();
        let answer = client.call(method, &filled(path)).await;
        if roles.contains(&role) {
            assert_ne!(answer.code(), "role_insufficient", "{role}: {call}");
            let nothing_there = answer.status == 405 || answer.code() == "not_found";
            assert!(!nothing_there, "{call} is no call: {answer:?}");
        } else {
            assert_eq!((answer.status, answer.code()), (403, "role_insufficient"), "{role}: {call}");
            assert_eq!(answer.body["allowedRoles"], json!(roles), "{role}: {call}");
            assert_eq!(answer.body["requiredRole"], least_role(roles), "{role}: {call}");
        }
    }
}

#[tokio::test]
async fn each_role_may_do_what_it_is_for() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    for role in ["developer", "finance", "support", "viewer"] {
        let mut member = portal.member(&mut owner, &format!("{role}@shop.example"), role).await;
        check(&mut member, role).await;
        let session = member.get("/v1/portal/session").await.body;
        assert_eq!(session["role"], role);
        let told = session["permissions"].as_array().unwrap().clone();
        for (permission, roles) in [
            ("read_customers", &["owner", "support"][..]),
            ("read_money", MONEY),
            ("manage_users", OWNERS),
            ("manage_business", OWNERS),
            ("manage_single_sign_on", OWNERS),
        ] {
            assert_eq!(told.contains(&json!(permission)), roles.contains(&role), "{role}: {permission}");
        }
    }
    check(&mut owner.client, "owner").await;
    let asked = portal.peers.asked(&format!("POST /wallet/internal/wallets/{}/top-ups", owner.business));
    assert_eq!(asked.len(), 2, "who may not, reaches nobody");
}

/// A call that is added must be added here too.
#[test]
fn the_table_contains_every_call_with_a_session() {
    let mut described = Vec::new();
    for (path, methods) in DOCUMENT["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let is_guarded =
                operation["security"][0].get("session").is_some() && operation["operationId"] != "whoAmI";
            let call = format!("{} {}", method.to_uppercase(), path.trim_start_matches("/v1/portal"));
            if is_guarded && !path.ends_with("/stream") {
                described.push(call);
            }
        }
    }
    let mut known: Vec<_> = CALLS.iter().map(|(call, _)| (*call).to_owned()).collect();
    described.sort_unstable();
    known.sort_unstable();
    assert_eq!(known, described);
}

#[tokio::test]
async fn encoded_paths_need_the_same_role() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    for path in ["/v1/portal/wallet/top%2Dups", "/v1/portal/w%61llet/top-ups", "/v1/p%6Frtal/wallet/top-ups"]
    {
        let refused = viewer.post(path, json!({ "amountPaise": 1 })).await;
        assert_eq!((refused.status, refused.code()), (403, "role_insufficient"), "{path}");
    }
    for path in ["/v1/portal/wallet/top-ups/", "/v1/portal//wallet/top-ups", "/v1/portal/wallet%2Ftop-ups"] {
        assert_eq!(viewer.post(path, json!({ "amountPaise": 1 })).await.status, 404, "{path}");
    }
    let unknown = owner.client.delete("/v1/portal/wallet").await;
    assert_eq!((unknown.status, unknown.header("allow")), (405, "GET, HEAD"));
    assert_eq!(owner.client.get("/v1/portal/nothing-here").await.code(), "not_found");
}
