//! The owner sets up single sign-on: who may, what is refused, and what is never shown.

use serde_json::{Value, json};

use crate::business_sso::{ENABLED, SECRET, SETTINGS, Scene, changed, set_up, settings};
use crate::identity_provider::{IdentityProvider, Key};
use crate::portal::Portal;

const TEST: &str = "/v1/portal/single-sign-on/test";

#[tokio::test]
async fn the_settings_are_the_businesss_own_and_never_show_the_secret() {
    let mut scene = Scene::new().await;
    let business = scene.owner.business.clone();
    let read = scene.owner.client.get(SETTINGS).await;
    let provider = &read.body["provider"];
    assert_eq!(provider["issuer"], json!(scene.provider.issuer()));
    assert_eq!((&provider["scopes"], &provider["groupsClaim"]), (&json!("email profile"), &json!("groups")));
    assert_eq!(provider["groupRoles"][0], json!({ "group": "chiefs", "role": "owner" }), "in their order");
    assert_eq!((&provider["defaultRole"], &provider["required"]), (&Value::Null, &json!(false)));
    assert_eq!(read.body["logInUrl"], json!(format!("http://portal.test/log-in/{business}")));
    assert_eq!(read.body["redirectUrl"], json!(format!("http://portal.test/log-in/{business}/return")));

    let mut other = scene.portal.owner("owner@other.example").await;
    scene.portal.approve(&other.business).await;
    assert_eq!(other.client.get(SETTINGS).await.body["provider"], Value::Null);
    assert_eq!(other.client.post(TEST, json!({})).await.code(), "sso_off");
    assert_eq!(other.client.delete(SETTINGS).await.status, 204);
    assert_eq!(scene.owner.client.get(SETTINGS).await.body, read.body, "unchanged");

    let entry = scene.entries("single_sign_on.changed").await.remove(0);
    assert_eq!(entry["details"]["roles"][0], "chiefs: owner");
    let put = set_up(&mut scene.owner, &settings(&scene.provider)).await;
    let log = scene.owner.client.get("/v1/portal/audit-log").await.body;
    for shown in [read.body, put, log, entry] {
        assert!(!shown.to_string().contains(SECRET), "{shown}");
    }
    for role in ["developer", "viewer", "finance", "support"] {
        let email = format!("{role}@shop.example");
        let mut member = scene.portal.member(&mut scene.owner, &email, role).await;
        for method in ["GET", "PUT", "DELETE"] {
            let refused = member.call(method, SETTINGS).await;
            assert_eq!((refused.status, refused.code()), (403, "role_insufficient"), "{role} {method}");
        }
        assert_eq!(member.post(TEST, json!({})).await.status, 403, "{role}");
    }
}

#[tokio::test]
async fn changes_need_a_recent_authentication() {
    let mut scene = Scene::with(&[("WAYBILL_MFA__RECENT_MINUTES", "15")]).await;
    scene.portal.clock.advance(chrono::TimeDelta::minutes(16));
    let put = scene.owner.client.put(SETTINGS, settings(&scene.provider)).await;
    assert_eq!((put.status, put.code()), (403, "recent_authentication_required"), "{put:?}");
    assert_eq!(scene.owner.client.delete(SETTINGS).await.code(), "recent_authentication_required");
    assert_eq!(scene.owner.client.get(SETTINGS).await.status, 200);
}

#[tokio::test]
async fn bad_settings_are_refused_with_all_errors() {
    let mut scene = Scene::new().await;
    let group = |group: &str, role: &str| json!({ "group": group, "role": role });
    for (more, fields) in [
        (
            json!({ "issuer": "ldap://id.example.com", "clientId": "", "x": 1 }),
            vec!["clientId", "issuer", "x"],
        ),
        (json!({ "issuer": "https://id.example.com/?tenant=1" }), vec!["issuer"]),
        (json!({ "issuer": "https://user@id.example.com" }), vec!["issuer"]),
        (json!({ "issuer": "https://id.example.com/#x" }), vec!["issuer"]),
        (json!({ "defaultRole": "owner" }), vec!["defaultRole"]),
        (json!({ "defaultRole": "chief", "required": "yes" }), vec!["defaultRole", "required"]),
        (json!({ "groupRoles": [] }), vec!["groupRoles"]),
        (json!({ "defaultRole": "viewer", "allowedDomains": ["gmail.com"] }), vec!["allowedDomains[0]"]),
        (json!({ "groupRoles": [group("a", "owner"), group("a", "viewer")] }), vec!["groupRoles[1].group"]),
        (
            json!({ "groupRoles": [group("", "owner"), group("b", "chief")] }),
            vec!["groupRoles[0].group", "groupRoles[1].role"],
        ),
        (json!({ "groupRoles": vec![group("a", "viewer"); 101] }), vec!["groupRoles"]),
        (json!({ "clientSecret": "x".repeat(1_025), "scopes": 7 }), vec!["clientSecret", "scopes"]),
    ] {
        let refused = scene.owner.client.put(SETTINGS, changed(&settings(&scene.provider), &more)).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, fields), "{more}: {refused:?}");
    }
    let empty = scene.owner.client.put(SETTINGS, json!({})).await;
    assert_eq!(empty.invalid_fields(), ["clientId", "groupRoles", "issuer"]);
}

#[tokio::test]
async fn a_test_says_what_is_wrong_at_most_once_in_ten_seconds() {
    let mut scene = Scene::new().await;
    let metadata = "/.well-known/openid-configuration";
    scene.provider.with_metadata("claims_supported", json!(["sub", "email", "auth_time"]));
    let good = json!({ "ok": true, "problem": null, "missingClaims": ["email_verified"] });
    assert_eq!(scene.owner.client.post(TEST, json!({})).await.body, good);
    scene.provider.is_down(true);
    assert_eq!(scene.owner.client.post(TEST, json!({})).await.body, good, "kept");
    assert_eq!(scene.provider.asked(metadata).len(), 1);
    let mut problem = async |words: &str| {
        scene.portal.clock.advance(chrono::TimeDelta::seconds(10));
        let tested = scene.owner.client.post(TEST, json!({})).await;
        assert_eq!((tested.status, &tested.body["ok"]), (200, &json!(false)), "{words}: {tested:?}");
        let problem = tested.body["problem"].as_str().unwrap().to_owned();
        assert!(problem.contains(words), "{words}: {problem}");
    };
    problem("the provider answered 502").await;
    scene.provider.is_down(false);
    scene.provider.with_metadata("id_token_signing_alg_values_supported", json!(["HS256"]));
    problem("RS256, PS256, ES256 and EdDSA").await;
    scene.provider.with_metadata("issuer", json!("https://id.example.com"));
    problem("unexpected issuer").await;
    scene.provider.with_metadata("jwks_uri", json!("http://10.0.0.1/keys"));
    scene.provider.with_metadata("issuer", json!(scene.provider.issuer()));
    problem("10.0.0.1 leads to an address that is not public").await;
}

#[tokio::test]
async fn an_installation_that_does_not_offer_it_says_so() {
    let provider = IdentityProvider::start(&Key::new("key-1", 1));
    let portal = Portal::with(&ENABLED[..2]).await;
    let mut owner = portal.owner("owner@shop.example").await;
    assert_eq!(owner.client.get(SETTINGS).await.body["available"], json!(false));
    let refused = owner.client.put(SETTINGS, settings(&provider)).await;
    assert_eq!(refused.status, 400, "plain http is refused: {refused:?}");
    let body = changed(&settings(&provider), &json!({ "issuer": "https://id.example.com" }));
    let refused = owner.client.put(SETTINGS, body).await;
    assert_eq!((refused.status, refused.code()), (409, "sso_unavailable_here"), "{refused:?}");
    assert_eq!(owner.client.post(TEST, json!({})).await.code(), "sso_unavailable_here");
}

/// Otherwise anybody who signs up could have providers called, and users created.
#[tokio::test]
async fn only_active_businesses_set_a_provider_up_and_get_users_by_it() {
    let mut scene = Scene::new().await;
    let mut other = scene.portal.newcomer("owner@other.example").await;
    let put = other.client.put(SETTINGS, settings(&scene.provider)).await;
    assert_eq!((put.status, put.code()), (403, "business_not_active"), "{put:?}");
    let test = format!("{SETTINGS}/test");
    assert_eq!(other.client.post(&test, json!({})).await.code(), "business_not_active");

    let mut known = scene.portal.stranger();
    assert_eq!(scene.log_in(&mut known, &json!({})).await.status, 200);
    let mut operator = scene.portal.operator();
    let path = format!("/v1/operator/businesses/{}", scene.owner.business);
    assert_eq!(operator.patch(&path, json!({ "status": "suspended" })).await.status, 200);
    assert_eq!(scene.log_in(&mut known, &json!({})).await.status, 200, "users keep their access");
    let mut new = scene.portal.stranger();
    let refused = scene.log_in(&mut new, &json!({ "sub": "person-2", "email": "new@shop.example" })).await;
    assert_eq!((refused.status, refused.code()), (403, "business_not_active"), "{refused:?}");
    assert_eq!(scene.owner.client.post(&test, json!({})).await.code(), "business_not_active");
    assert_eq!(scene.owner.client.delete(SETTINGS).await.status, 204, "turning it off is always possible");
}
