//! Single sign-on of businesses: what a session of a provider may not do, and who must log in with it.

use chrono::TimeDelta;
use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::authenticator::SESSION;
use crate::business_sso::{COMPLETE, SETTINGS, START, Scene, USERS, set_up, settings};
use crate::roles::{CALLS, filled};

/// The calls of one's own account that a session of a provider may send.
const ALLOWED: [&str; 2] = ["POST /email-confirmations", "POST /email-confirmations/confirm"];

#[tokio::test]
async fn a_session_of_a_provider_never_changes_the_account_or_the_provider() {
    let scene = Scene::with(&[("WAYBILL_MFA__REQUIRED_FOR_USERS", "developer")]).await;
    let mut browser = scene.portal.stranger();
    scene.log_in(&mut browser, &json!({})).await;
    let session = browser.get(SESSION).await.body;
    assert_eq!((&session["role"], &session["mfaEnrolmentRequired"]), (&json!("developer"), &Value::Null));
    assert_eq!(browser.get("/v1/portal/subscription").await.status, 200, "the provider's factor counts");
    scene.log_in(&mut browser, &json!({ "groups": ["chiefs"] })).await;
    let of_account = |path: &str| {
        ["/password", "/email", "/name", "/session", "/second-factor", "/memberships", "/businesses"]
            .iter()
            .any(|start| path.starts_with(start))
            || path.ends_with("/second-factor")
    };
    let mut refused = 0;
    for (call, _) in CALLS {
        let (method, path) = call.split_once(' ').unwrap();
        let answer = browser.call(method, &filled(path)).await;
        let writes_settings = path == "/single-sign-on" && method != "GET";
        let is_refused = (of_account(path) || writes_settings) && !ALLOWED.contains(call);
        let is_code = answer.code() == "single_sign_on_session";
        assert_eq!(
            (answer.status == 403 && is_code, is_code),
            (is_refused, is_refused),
            "{call}: {answer:?}"
        );
        refused += usize::from(is_refused);
    }
    assert_eq!(refused, 24);
    assert_eq!(browser.get(SETTINGS).await.status, 200);
    assert_eq!(browser.get(SESSION).await.status, 200, "nothing has ended");
}

#[tokio::test]
async fn required_single_sign_on_leaves_the_password_to_owners() {
    let mut scene = Scene::new().await;
    let business = scene.owner.business.clone();
    let roles = ["owner", "developer", "finance", "support", "viewer"];
    let mut members = Vec::new();
    for role in roles {
        let email = format!("{role}@shop.example");
        let client = match role {
            "owner" => scene.owner.client.clone(),
            role => scene.portal.member(&mut scene.owner, &email, role).await,
        };
        members.push((role, email, client));
    }
    let invited = scene.portal.invite(&mut scene.owner, "late@shop.example", "viewer").await;
    let mut browser = scene.portal.stranger();
    scene.log_in(&mut browser, &json!({})).await;
    scene.put(&json!({ "required": true })).await;
    assert_eq!(browser.get(SESSION).await.status, 200, "sessions of the provider stay");
    for (role, email, client) in &mut members {
        let is_owner = *role == "owner";
        let open = client.get(SESSION).await.status;
        assert_eq!(open, if is_owner { 200 } else { 401 }, "{role}: the open session");
        let password = if is_owner { "correct horse" } else { "battery staple" };
        let body = |password: &str| json!({ "email": email, "password": password });
        let answer = scene.portal.stranger().post(SESSION, body(password)).await;
        if is_owner {
            assert_eq!(answer.status, 200, "{answer:?}");
        } else {
            assert_eq!(
                (answer.status, answer.code()),
                (403, "single_sign_on_required"),
                "{role}: {answer:?}"
            );
            let expected = format!("http://portal.test/log-in/{business}");
            assert_eq!(answer.body["logInUrl"], json!(expected), "{role}");
            assert!(!answer.headers.contains_key("set-cookie"), "{role}");
        }
        let wrong = scene.portal.stranger().post(SESSION, body("not the password")).await;
        assert_eq!((wrong.status, wrong.code()), (401, "invalid_credentials"), "reveals nothing: {role}");
    }
    let body = json!({ "token": invited, "password": "battery staple" });
    let accepted = scene.portal.stranger().post("/v1/portal/invitations/accept", body).await;
    assert_eq!((accepted.status, accepted.code()), (403, "single_sign_on_required"), "{accepted:?}");

    scene.put(&json!({ "required": false })).await;
    let body = json!({ "email": "viewer@shop.example", "password": "battery staple" });
    assert_eq!(scene.portal.stranger().post(SESSION, body).await.status, 200);
}

#[tokio::test]
async fn a_session_of_a_password_ends_with_the_role_of_an_owner() {
    let mut scene = Scene::new().await;
    let mut binu = scene.portal.member(&mut scene.owner, "binu@shop.example", "owner").await;
    scene.put(&json!({ "required": true })).await;
    let id = binu.get(SESSION).await.body["userId"].as_str().unwrap().to_owned();
    let demoted = scene.owner.client.patch(&format!("{USERS}/{id}"), json!({ "role": "developer" })).await;
    assert_eq!(demoted.status, 200, "{demoted:?}");
    assert_eq!(binu.get(SESSION).await.status, 401);
    assert_eq!(binu.get("/v1/portal/orders").await.status, 401);
    let again = "UPDATE sessions SET revoked_at = NULL";
    scene.portal.connect().await.batch_execute(again).await.unwrap();
    assert_eq!(binu.get(SESSION).await.status, 401);

    scene.portal.connect().await.batch_execute(again).await.unwrap();
    let mut settings = scene.portal.settings.clone();
    settings.business_sso.enabled = false;
    let off = scene.portal.with_settings(settings);
    let mut there = binu.at(off.public);
    assert_eq!(there.get(SESSION).await.status, 200, "where it is off, nobody is locked out");
    let body = json!({ "purpose": "log_in", "businessId": scene.owner.business });
    let refused = off.stranger().post(START, body).await;
    assert_eq!((refused.status, refused.code()), (404, "sso_off"), "{refused:?}");
}

#[tokio::test]
async fn another_issuer_or_none_ends_what_the_former_one_has_opened() {
    let mut scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    let opened = scene.log_in(&mut browser, &json!({ "email_verified": true })).await;
    scene.put(&json!({ "clientSecret": "a newer secret" })).await;
    assert_eq!(browser.get(SESSION).await.status, 200, "the same issuer");
    let next = crate::identity_provider::IdentityProvider::start(&scene.key);
    scene.put(&json!({ "issuer": next.issuer() })).await;
    assert_eq!(browser.get(SESSION).await.status, 401);
    assert_eq!(scene.owner.client.get(SESSION).await.status, 200);
    // The person is known by the address that the former provider had given.
    scene.provider = next;
    let again = scene.log_in(&mut browser, &json!({ "sub": "other-id" })).await;
    assert_eq!((again.status, &again.body["userId"]), (200, &opened.body["userId"]), "{again:?}");

    let mut waiting = scene.portal.stranger();
    let visit = crate::business_sso::start(&mut waiting, &scene.owner.business).await;
    assert_eq!(scene.owner.client.delete(SETTINGS).await.status, 204);
    assert_eq!(browser.get(SESSION).await.status, 401);
    let body = json!({ "businessId": scene.owner.business, "state": visit.state(), "code": "a code" });
    assert_eq!(waiting.post(COMPLETE, body).await.code(), "sso_off");
    assert_eq!(scene.owner.client.delete(SETTINGS).await.status, 204, "repeated");
    assert_eq!(scene.entries("single_sign_on.removed").await.len(), 1);
    set_up(&mut scene.owner, &settings(&scene.provider)).await;
    scene.portal.clock.advance(TimeDelta::seconds(1));
    assert_eq!(scene.log_in(&mut browser, &json!({ "sub": "other-id" })).await.status, 200);
}

#[tokio::test]
async fn a_new_key_encrypts_the_client_secret_at_the_next_log_in() {
    let scene = Scene::new().await;
    let mut settings = scene.portal.settings.clone();
    let former = settings.mfa.key.replace(settings::Secret::new("the next key of the tests"));
    let without = scene.portal.with_settings(settings.clone());
    let body = json!({ "purpose": "log_in", "businessId": scene.owner.business });
    let refused = without.stranger().post(START, body).await;
    assert_eq!((refused.status, refused.code()), (503, "sso_unavailable"), "{refused:?}");
    settings.mfa.previous_key = former;
    let with_both = scene.portal.with_settings(settings);
    assert_eq!(scene.log_in(&mut with_both.stranger(), &json!({})).await.status, 200);
    assert_eq!(scene.log_in(&mut without.stranger(), &json!({})).await.status, 200);
}
