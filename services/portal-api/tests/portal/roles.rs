//! The minimum role of every call with a session.

use serde_json::json;

use crate::client::Client;
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

/// Calls with the least role for each, written down a second time.
pub(crate) const CALLS: &[(&str, &[&str])] = &[
    (
        "viewer",
        &[
            "PUT /password",
            "GET /sessions",
            "POST /sessions/revoke-others",
            "DELETE /sessions/{id}",
            "GET /status",
            "GET /packages",
            "GET /pickup-profile",
            "GET /subscription",
            "GET /api-keys",
            "GET /events",
            "GET /orders",
            "GET /orders/{id}",
            "GET /orders/{id}/events",
            "GET /orders/{id}/request",
            "GET /personal-data-erasure",
            "GET /wallet",
            "GET /wallet/entries",
            "GET /wallet/entries.csv",
            "GET /wallet/spend",
            "GET /wallet/top-ups/{id}",
            "GET /cod",
            "GET /webhook-endpoints",
            "GET /webhook-endpoints/{id}",
            "GET /webhook-endpoints/{id}/deliveries",
            "GET /webhook-endpoints/{id}/recoveries",
            "GET /webhook-endpoints/{id}/recoveries/{recovery}",
            "GET /webhook-deliveries/{id}",
        ],
    ),
    (
        "developer",
        &[
            "GET /audit-log",
            "PUT /pickup-profile",
            "POST /api-keys",
            "POST /api-keys/{id}/revoke",
            "POST /api-keys/{id}/rotate",
            "POST /orders/{id}/simulate",
            "POST /orders/{id}/cancel",
            "POST /webhook-endpoints",
            "PATCH /webhook-endpoints/{id}",
            "DELETE /webhook-endpoints/{id}",
            "POST /webhook-endpoints/{id}/test",
            "POST /webhook-endpoints/{id}/parked/replay",
            "POST /webhook-endpoints/{id}/parked/discard",
            "POST /webhook-endpoints/{id}/secret/rotate",
            "POST /webhook-endpoints/{id}/secret/activate",
            "POST /webhook-endpoints/{id}/verify-signature",
            "POST /webhook-endpoints/{id}/recover",
            "POST /webhook-endpoints/{id}/recoveries/{recovery}/cancel",
            "POST /webhook-deliveries/{id}/redeliver",
        ],
    ),
    (
        "owner",
        &[
            "GET /users",
            "PATCH /users/{id}",
            "DELETE /users/{id}",
            "GET /invitations",
            "POST /invitations",
            "DELETE /invitations/{id}",
            "POST /orders/{id}/erase-personal-data",
            "POST /personal-data-erasure",
            "PUT /subscription",
            "PUT /wallet/threshold",
            "POST /wallet/top-ups",
        ],
    ),
];
const ROLES: [&str; 3] = ["viewer", "developer", "owner"];

fn rank(role: &str) -> usize {
    ROLES.iter().position(|known| *known == role).unwrap()
}

async fn check(client: &mut Client, role: &str) {
    for (least, calls) in CALLS {
        for call in *calls {
            let (method, path) = call.split_once(' ').unwrap();
            let answer = client.call(method, &filled(path)).await;
            if rank(role) < rank(least) {
                assert_eq!((answer.status, answer.code()), (403, "role_insufficient"), "{role}: {call}");
                assert_eq!(answer.body["requiredRole"], *least, "{role}: {call}");
            } else {
                assert_ne!(answer.code(), "role_insufficient", "{role}: {call}");
                let nothing_there = answer.status == 405 || answer.code() == "not_found";
                assert!(!nothing_there, "{call} is no call: {answer:?}");
            }
        }
    }
}

#[tokio::test]
async fn each_role_may_do_what_it_is_for() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    let mut developer = portal.member(&mut owner, "developer@shop.example", "developer").await;
    check(&mut viewer, "viewer").await;
    check(&mut developer, "developer").await;
    check(&mut owner.client, "owner").await;
    let asked = portal.peers.asked(&format!("POST /wallet/internal/wallets/{}/top-ups", owner.business));
    assert_eq!(asked.len(), 1, "who may not, reaches nobody");
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
