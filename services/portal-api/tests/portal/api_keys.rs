//! API keys with options: who created them, and what the audit log says.

use chrono::TimeDelta;
use domain::{IpAllowList, KeyScope};
use internal_api::keys::{ApiKeyView, RevokedApiKey};
use serde_json::{Value, json};

use crate::answers::{self, KEY};
use crate::client::Client;
use crate::peers::{answer_of, at};
use crate::portal::{Owner, Portal};

const KEYS: &str = "/v1/portal/api-keys";
const SECRET: &str = "sk_test_waybill_secret";

/// A call of key-management about the keys of this business.
fn far(method: &str, owner: &Owner, path: &str) -> String {
    format!("{method} /key-management/internal/businesses/{}/{path}", owner.business)
}

fn created(view: ApiKeyView) -> Value {
    let mut answer = answer_of(&view);
    answer["key"] = SECRET.into();
    answer
}

fn restricted() -> ApiKeyView {
    ApiKeyView {
        expires_at: Some(at()),
        scopes: Some(vec![KeyScope::ReadOrders]),
        ip_allow_list: Some(IpAllowList::try_from(vec!["10.0.0.0/8".to_owned()]).unwrap()),
        ..answers::key()
    }
}

async fn user_id(client: &mut Client) -> String {
    client.get("/v1/portal/session").await.body["userId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_session_is_the_creator_whatever_the_body_says() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let user = user_id(&mut owner.client).await;
    portal.peers.answer(far("POST", &owner, "api-keys"), 201, created(answers::key()));
    let forged = "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for body in [
        json!({ "mode": "test", "name": "Shop", "createdBy": forged }),
        json!({ "mode": "test", "name": "Shop", "scopes": ["orders:read"] }),
        json!({ "mode": "test", "name": "Shop", "expiresAt": "" }),
    ] {
        let answer = owner.client.post(KEYS, body.clone()).await;
        assert_eq!(answer.status, 201, "{body}: {answer:?}");
        let asked = portal.peers.asked(&far("POST", &owner, "api-keys"));
        let last = asked.last().unwrap();
        assert_eq!((&last.body, &last.query), (&body, &format!("createdBy={user}")), "forwarded unchanged");
    }
    let rotate = far("POST", &owner, &format!("api-keys/{KEY}/rotate"));
    portal.peers.answer(rotate.clone(), 200, created(answers::key()));
    let rotated = owner.client.post(&format!("{KEYS}/{KEY}/rotate"), json!({ "graceSeconds": 900 })).await;
    assert_eq!(rotated.status, 200, "{rotated:?}");
    assert_eq!(
        portal.peers.asked(&rotate)[0].query,
        format!("createdBy={user}"),
        "the creator is who rotates"
    );
}

#[tokio::test]
async fn a_refused_option_reaches_the_caller() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let message = "expiresAt must be a time, such as 2026-01-31T09:30:00Z.";
    let refusal = json!({
        "code": "invalid_request", "message": message,
        "errors": [{ "field": "expiresAt", "code": "invalid_format", "message": message }],
    });
    portal.peers.answer(far("POST", &owner, "api-keys"), 422, refusal);
    let refused = owner.client.post(KEYS, json!({ "mode": "test", "name": "Shop", "expiresAt": "" })).await;
    assert_eq!((refused.status, refused.invalid_fields()), (422, vec!["expiresAt"]));
    let log = owner.client.get("/v1/portal/audit-log?action=api_key.created").await;
    assert_eq!(log.body["data"], json!([]));
}

#[tokio::test]
async fn the_audit_log_lists_the_options_of_new_keys() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.peers.answer(far("POST", &owner, "api-keys"), 201, created(restricted()));
    let rotate = far("POST", &owner, &format!("api-keys/{KEY}/rotate"));
    portal.peers.answer(rotate, 200, created(restricted()));
    let body = json!({ "mode": "test", "name": "Shop", "scopes": ["orders:read"] });
    assert_eq!(owner.client.post(KEYS, body).await.status, 201);
    let rotated = owner.client.post(&format!("{KEYS}/{KEY}/rotate"), json!({ "graceSeconds": 900 })).await;
    assert_eq!(rotated.status, 200, "{rotated:?}");
    for (action, replaces) in [("api_key.created", Value::Null), ("api_key.rotated", json!(KEY))] {
        let log = owner.client.get(&format!("/v1/portal/audit-log?action={action}")).await;
        let details = &log.body["data"][0]["details"];
        assert_eq!(details["expiresAt"], "2026-01-01T00:00:00Z", "{action}: {details}");
        assert_eq!(details["scopes"], json!(["orders:read"]), "{action}");
        assert_eq!(details["ipAllowList"], json!(["10.0.0.0/8"]), "{action}");
        assert_eq!(details["replaces"], replaces, "{action}");
        assert!(!log.body.to_string().contains(SECRET));
    }
}

#[tokio::test]
async fn the_list_names_the_creator_for_developers_and_owners() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut developer = portal.member(&mut owner, "dev@shop.example", "developer").await;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    let stranger = user_id(&mut portal.owner("owner@other.example").await.client).await;
    let creator = user_id(&mut developer).await;
    let of = |user: &str| ApiKeyView { created_by: Some(user.parse().unwrap()), ..answers::key() };
    let keys = json!({
        "data": [of(&creator), of("usr_01ARZ3NDEKTSV4RRFFQ69G5FAV"), of(&stranger), answers::key()],
        "hasMore": false,
    });
    portal.peers.answer(far("GET", &owner, "api-keys"), 200, keys);
    for client in [&mut owner.client, &mut developer] {
        let listed = client.get(KEYS).await.body["data"].clone();
        assert_eq!(listed[0]["createdBy"], creator);
        assert_eq!(listed[0]["createdByEmail"], "dev@shop.example");
        for other in 1..4 {
            assert_eq!(listed[other].get("createdByEmail"), None, "{}", listed[other]);
        }
        assert_eq!(listed[3].get("createdBy"), None);
    }
    let path = format!("{KEYS}?createdBy={creator}&limit=5");
    assert_eq!(owner.client.get(&path).await.status, 200);
    let asked = portal.peers.asked(&far("GET", &owner, "api-keys"));
    let mut query: Vec<_> = asked.last().unwrap().query.split('&').collect();
    query.sort_unstable();
    assert_eq!(query, [format!("createdBy={creator}"), "limit=5".to_owned()]);
    let refused = owner.client.get(&format!("{KEYS}?createdBy=someone&limit=0")).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["createdBy", "limit"]));
    let listed = viewer.get(KEYS).await;
    assert_eq!((listed.status, listed.body["data"].as_array().map(Vec::len)), (200, Some(4)));
    assert!(!listed.body.to_string().contains("@shop.example"), "viewers do not see the team");
}

/// A key of the list, by its last four characters.
fn with_end(last_four: &str, change: impl FnOnce(&mut ApiKeyView)) -> ApiKeyView {
    let mut key = ApiKeyView { last_four: last_four.to_owned(), ..answers::key() };
    change(&mut key);
    key
}

#[tokio::test]
async fn each_key_that_a_revocation_ends_has_an_entry_of_the_audit_log() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let old = ApiKeyView { id: "key_01ARZ3NDEKTSV4RRFFQ69G5FAW".parse().unwrap(), ..answers::key() };
    let revoked = RevokedApiKey { view: answers::key(), also_revoked: vec![old.clone()] };
    let call = far("POST", &owner, &format!("api-keys/{}/revoke", answers::KEY));
    portal.peers.answer(&call, 200, answer_of(&revoked));
    let path = format!("{KEYS}/{}/revoke", answers::KEY);
    for _ in 0..2 {
        let answer = owner.client.post(&path, json!({ "keepPredecessor": false })).await;
        assert_eq!((answer.status, &answer.body), (200, &answer_of(&revoked)));
    }
    assert_eq!(portal.peers.asked(&call)[0].body, json!({ "keepPredecessor": false }));
    let log = owner.client.get("/v1/portal/audit-log?action=api_key.revoked").await.body;
    let entries = log["data"].as_array().unwrap().iter();
    let entries: Vec<_> = entries
        .map(|entry| (entry["target"]["id"].clone(), entry["details"]["revokedWith"].clone()))
        .collect();
    // The clock stands still, so that entries have no order.
    let expected = [(json!(old.id), json!(answers::KEY)), (json!(answers::KEY), Value::Null)];
    assert!(entries.len() == 2 && expected.iter().all(|one| entries.contains(one)), "{entries:?}");
}

#[tokio::test]
async fn a_removal_names_the_working_keys_of_the_user() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.member(&mut owner, "dev@shop.example", "developer").await;
    let id = owner.client.get("/v1/portal/users").await.body["data"][1]["id"].as_str().unwrap().to_owned();
    let (past, future) = (portal.clock.now(), portal.clock.now() + TimeDelta::hours(1));
    let keys = json!({ "data": [
        with_end("plain", |_| {}),
        with_end("revoked", |key| key.revoked_at = Some(past)),
        with_end("expired", |key| key.expires_at = Some(past)),
        with_end("grace", |key| {
            key.expires_at = Some(future);
            key.in_grace_period = Some(true);
        }),
    ], "hasMore": false });
    portal.peers.answer(far("GET", &owner, "api-keys"), 200, keys);
    let removed = owner.client.delete(&format!("/v1/portal/users/{id}")).await;
    assert_eq!((removed.status, &removed.body["id"]), (200, &json!(id)), "{removed:?}");
    let named: Vec<_> =
        removed.body["keys"].as_array().unwrap().iter().map(|key| key["lastFour"].clone()).collect();
    assert_eq!(named, ["plain", "grace"]);
    let asked = portal.peers.asked(&far("GET", &owner, "api-keys"));
    assert!(asked[0].query.contains(&format!("createdBy={id}")), "{asked:?}");
}

/// Keys that ended come first, and the list has an end.
#[tokio::test]
async fn a_removal_reads_a_bounded_number_of_keys() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.member(&mut owner, "dev@shop.example", "developer").await;
    let id = owner.client.get("/v1/portal/users").await.body["data"][1]["id"].as_str().unwrap().to_owned();
    let endless = json!({ "data": [answers::key()], "hasMore": true });
    portal.peers.answer(far("GET", &owner, "api-keys"), 200, endless);
    let removed = owner.client.delete(&format!("/v1/portal/users/{id}")).await;
    assert_eq!(removed.body["keys"].as_array().map(Vec::len), Some(10));
    let asked = portal.peers.asked(&far("GET", &owner, "api-keys"));
    assert!(asked[1].query.contains(&format!("startingAfter={KEY}")), "{asked:?}");
}

#[tokio::test]
async fn a_user_is_removed_although_key_management_does_not_answer() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut developer = portal.member(&mut owner, "dev@shop.example", "developer").await;
    let id = user_id(&mut developer).await;
    portal.peers.answer(
        far("GET", &owner, "api-keys"),
        500,
        json!({ "code": "internal_error", "message": "no" }),
    );
    let removed = owner.client.delete(&format!("/v1/portal/users/{id}")).await;
    assert_eq!((removed.status, &removed.body), (200, &json!({ "id": id, "keys": null })));
    assert_eq!(developer.get(KEYS).await.status, 401);
}
