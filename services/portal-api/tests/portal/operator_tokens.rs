//! Named tokens of the operator.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::client::Client;
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::SESSION;

const TOKENS: &str = "/v1/operator/tokens";
const BUSINESSES: &str = "/v1/operator/businesses";

/// The id and the secret of a new token.
async fn create(portal: &Portal, name: &str, role: &str) -> (String, String) {
    portal.clock.advance(TimeDelta::milliseconds(1));
    let created = portal.operator().post(TOKENS, json!({ "name": name, "role": role })).await;
    assert_eq!(created.status, 201, "{created:?}");
    let text = |name: &str| created.body[name].as_str().unwrap().to_owned();
    (text("id"), text("token"))
}

fn with(portal: &Portal, secret: &str) -> Client {
    portal.stranger().with_bearer(secret)
}

#[tokio::test]
async fn a_token_works_with_its_role_and_shows_its_last_use_but_never_its_secret() {
    let portal = Portal::start().await;
    let (id, secret) = create(&portal, "Invoices", "finance").await;
    assert!(secret.starts_with("wop_"), "{secret}");
    let listed = portal.operator().get(TOKENS).await;
    assert_eq!(listed.body["configuration"], json!({ "name": "configuration", "role": "administrator" }));
    let first = &listed.body["data"][0];
    assert_eq!(
        (&first["id"], &first["name"], &first["lastUsedAt"]),
        (&json!(id), &json!("Invoices"), &Value::Null)
    );
    assert!(!listed.body.to_string().contains(&secret));

    portal.clock.advance(TimeDelta::minutes(1));
    assert_eq!(with(&portal, &secret).get(BUSINESSES).await.status, 200);
    assert_eq!(with(&portal, &secret).get(TOKENS).await.code(), "permission_missing");
    let used = portal.operator().get(TOKENS).await.body["data"][0]["lastUsedAt"].clone();
    assert_eq!(used, "2027-01-15T08:01:00.001Z");
    for wrong in [&secret[1..], &format!("{secret}x"), &format!("wop_{}", "A".repeat(43))] {
        assert_eq!(with(&portal, wrong).get(BUSINESSES).await.status, 401, "{wrong}");
    }
}

#[tokio::test]
async fn all_wrong_fields_are_named_and_names_are_unique() {
    let portal = Portal::start().await;
    let mut operator = portal.operator();
    for (body, fields) in [
        (json!({}), &["name", "role"][..]),
        (json!({ "name": "", "role": "owner" }), &["name", "role"]),
        (json!({ "name": 7, "role": 7 }), &["name", "role"]),
        (json!({ "name": "Configuration", "role": "viewer" }), &["name"]),
        (json!({ "name": "asha@carrier.example", "role": "viewer" }), &["name"]),
        (json!({ "name": "x".repeat(121), "role": "viewer", "secret": "x" }), &["name", "secret"]),
    ] {
        let refused = operator.post(TOKENS, body.clone()).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, fields.to_vec()), "{body}");
    }
    let (id, _) = create(&portal, "Invoices", "finance").await;
    let taken = operator.post(TOKENS, json!({ "name": "INVOICES", "role": "viewer" })).await;
    assert_eq!((taken.status, taken.code()), (409, "name_taken"));
    for body in [
        json!({}),
        json!({ "graceSeconds": 1 }),
        json!({ "graceSeconds": "0" }),
        json!({ "graceSeconds": -1 }),
    ] {
        let refused = operator.post(&format!("{TOKENS}/{id}/rotate"), body.clone()).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["graceSeconds"]), "{body}");
    }
    for unknown in ["opt_01ARZ3NDEKTSV4RRFFQ69G5FAV", "configuration"] {
        let rotated =
            operator.post(&format!("{TOKENS}/{unknown}/rotate"), json!({ "graceSeconds": 0 })).await;
        assert_eq!((rotated.status, rotated.code()), (404, "token_not_found"), "{unknown}");
        assert_eq!(operator.press(&format!("{TOKENS}/{unknown}/disable")).await.code(), "token_not_found");
    }
    assert_eq!(operator.press(&format!("{TOKENS}/{id}/disable")).await.status, 204);
    create(&portal, "Invoices", "viewer").await;
}

#[tokio::test]
async fn the_old_secret_works_until_the_grace_ends() {
    let portal = Portal::start().await;
    let (id, first) = create(&portal, "Invoices", "viewer").await;
    let path = format!("{TOKENS}/{id}/rotate");
    let rotated = portal.operator().post(&path, json!({ "graceSeconds": 900 })).await;
    assert_eq!(rotated.status, 200, "{rotated:?}");
    let second = rotated.body["token"].as_str().unwrap().to_owned();
    portal.clock.advance(TimeDelta::minutes(15) - TimeDelta::seconds(1));
    for secret in [&first, &second] {
        assert_eq!(with(&portal, secret).get(BUSINESSES).await.status, 200);
    }
    portal.clock.advance(TimeDelta::seconds(1));
    assert_eq!(with(&portal, &first).get(BUSINESSES).await.status, 401);
    let rotated = portal.operator().post(&path, json!({ "graceSeconds": 0 })).await;
    assert_eq!(with(&portal, &second).get(BUSINESSES).await.status, 401, "at once");
    let third = rotated.body["token"].as_str().unwrap();
    assert_eq!(with(&portal, third).get(BUSINESSES).await.status, 200);
}

#[tokio::test]
async fn a_disabled_token_ends_at_once() {
    let portal = Portal::start().await;
    let (id, secret) = create(&portal, "Invoices", "viewer").await;
    assert_eq!(with(&portal, &secret).get(BUSINESSES).await.status, 200);
    let path = format!("{TOKENS}/{id}/disable");
    assert_eq!(portal.operator().press(&path).await.status, 204);
    assert_eq!(with(&portal, &secret).get(BUSINESSES).await.status, 401);
    let refused = portal.stranger().post(SESSION, json!({ "token": secret })).await;
    assert_eq!((refused.status, refused.code()), (401, "operator_token_invalid"));
    assert_eq!(portal.operator().press(&path).await.code(), "token_not_found");
    assert!(portal.operator().get(TOKENS).await.body["data"][0]["disabledAt"].is_string());
    assert_eq!(with(&portal, OPERATOR_TOKEN).get(BUSINESSES).await.status, 200);
}

/// What it opened or granted would outlive it.
#[tokio::test]
async fn a_token_opens_no_console_and_grants_no_access() {
    let portal = Portal::start().await;
    let (id, secret) = create(&portal, "Everything", "administrator").await;
    let refused = portal.stranger().post(SESSION, json!({ "token": secret })).await;
    assert_eq!((refused.status, refused.code()), (403, "named_token_not_allowed"), "{refused:?}");
    let mut robot = with(&portal, &secret);
    let person = json!({ "email": "eve@carrier.example", "name": "Eve", "role": "administrator" });
    for refused in [
        robot.post("/v1/operator/staff", person).await,
        robot.post(TOKENS, json!({ "name": "Next", "role": "viewer" })).await,
        robot.post(&format!("{TOKENS}/{id}/rotate"), json!({ "graceSeconds": 0 })).await,
    ] {
        assert_eq!((refused.status, refused.code()), (403, "permission_missing"), "{refused:?}");
        assert!(refused.body["message"].as_str().unwrap().contains("a named token"), "{refused:?}");
    }
}
