//! Links of the staff's accounts with the identity provider.

use chrono::TimeDelta;
use serde_json::{Value, json};
use test_kit::until;

use crate::authenticator::{MFA_KEY, code, enrol_at};
use crate::identity_provider::{START, Visit, come_back, log_in};
use crate::portal::OPERATOR_TOKEN;
use crate::sso::{entries, with_provider};
use crate::staff::{SESSION, STAFF, person};

const RECENT: (&str, &str) = ("WAYBILL_MFA__RECENT_MINUTES", "15");

/// The requirement of a second factor may come after the start of the visit.
#[tokio::test]
async fn a_person_who_must_set_up_a_second_factor_links_no_identity() {
    let required = ("WAYBILL_MFA__REQUIRED_FOR_STAFF", "administrator");
    let (portal, provider, key) = with_provider(&[MFA_KEY, required]).await;
    let (mut binu, id) = person(&portal, "binu@operator.example", "viewer").await;
    let visit = Visit::of(&binu.post(START, json!({ "purpose": "link" })).await);
    let promote = json!({ "role": "administrator" });
    assert_eq!(portal.operator().patch(&format!("{STAFF}/{id}"), promote).await.status, 200);
    assert_eq!(binu.get(SESSION).await.body["mfaEnrolmentRequired"], true);
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({}))));
    let refused = come_back(&mut binu, &visit).await;
    assert_eq!((refused.status, refused.code()), (422, "sso_ended"), "{refused:?}");
    assert!(entries(&portal, "staff.identity_linked").await.is_empty());
    let confirmed = Visit::of(&binu.post(START, json!({ "purpose": "confirm" })).await);
    assert_eq!(confirmed.query["max_age"], "0", "a confirmation is allowed");
}

#[tokio::test]
async fn an_account_with_a_password_is_linked_by_its_person_only() {
    let (portal, provider, key) = with_provider(&[RECENT]).await;
    let at = (&provider, &key);
    let (mut asha, id) = person(&portal, "asha@operator.example", "viewer").await;
    let refused = log_in(&portal, at, &mut portal.stranger(), &json!({})).await;
    assert_eq!((refused.status, refused.code()), (409, "sso_account_exists"), "{refused:?}");

    let anonymous = portal.stranger().post(START, json!({ "purpose": "link" })).await;
    assert_eq!((anonymous.status, anonymous.code()), (401, "not_logged_in"));
    let mut configured = portal.stranger();
    configured.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!(configured.post(START, json!({ "purpose": "link" })).await.code(), "account_required");

    let visit = Visit::of(&asha.post(START, json!({ "purpose": "link" })).await);
    assert_eq!(visit.query["max_age"], "0");
    let long_ago = json!({ "auth_time": portal.clock.now().timestamp() - 61 });
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &long_ago)));
    assert_eq!(come_back(&mut asha, &visit).await.code(), "sso_not_recent", "perhaps another person");
    let visit = Visit::of(&asha.post(START, json!({ "purpose": "link" })).await);
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({ "email": "other@id.example" }))));
    let linked = come_back(&mut asha, &visit).await;
    assert_eq!(linked.status, 204, "{linked:?}");
    assert_eq!(entries(&portal, "staff.identity_linked").await[0]["target"]["id"], id);
    let opened = log_in(&portal, at, &mut portal.stranger(), &json!({})).await;
    assert_eq!((opened.status, &opened.body["id"]), (200, &json!(id)), "{opened:?}");
    assert_eq!(opened.body["role"], "administrator", "from now on the provider decides");
    let password = json!({ "email": "asha@operator.example", "password": "battery staple" });
    let refused = portal.stranger().post(SESSION, password).await;
    assert_eq!((refused.status, refused.code()), (403, "password_log_in_off"), "{refused:?}");
    // Written in the background, with other failures of the same time.
    let is_hers = |entry: &Value| entry["target"]["id"] == json!(id);
    let is_recorded = async || entries(&portal, "session.failed").await.iter().any(is_hers);
    until("the refused password is recorded", is_recorded).await;
    let confirmed = asha.post(&format!("{SESSION}/confirm"), json!({ "password": "battery staple" })).await;
    assert_eq!(confirmed.code(), "password_log_in_off", "also in a session from before: {confirmed:?}");
    let body = json!({ "currentPassword": "battery staple", "newPassword": "correct horse" });
    assert_eq!(asha.put("/v1/operator/password", body).await.code(), "password_log_in_off");
    let wrong = json!({ "email": "asha@operator.example", "password": "not the password" });
    assert_eq!(portal.stranger().post(SESSION, wrong).await.status, 401, "reveals nothing");

    let (mut binu, _) = person(&portal, "binu@operator.example", "viewer").await;
    let visit = Visit::of(&binu.post(START, json!({ "purpose": "link" })).await);
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({}))));
    let taken = come_back(&mut binu, &visit).await;
    assert_eq!((taken.status, taken.code()), (409, "sso_already_linked"), "{taken:?}");

    portal.clock.advance(TimeDelta::minutes(16));
    let late = binu.post(START, json!({ "purpose": "link" })).await;
    assert_eq!((late.status, late.code()), (403, "recent_authentication_required"), "{late:?}");
}

/// A link without a role would lock the person out.
#[tokio::test]
async fn who_has_no_role_at_the_provider_is_not_linked() {
    let (portal, provider, key) = with_provider(&[]).await;
    let (mut asha, _) = person(&portal, "asha@operator.example", "administrator").await;
    let visit = Visit::of(&asha.post(START, json!({ "purpose": "link" })).await);
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({ "groups": ["nothing"] }))));
    let refused = come_back(&mut asha, &visit).await;
    assert_eq!((refused.status, refused.code()), (403, "sso_no_role"), "{refused:?}");
    assert!(entries(&portal, "staff.identity_linked").await.is_empty());
    assert_eq!(asha.get(SESSION).await.status, 200, "nothing has changed");
    crate::staff::log_in(&portal, "asha@operator.example").await;
}

/// The right password was entered before the link.
#[tokio::test]
async fn the_second_step_of_an_account_that_was_linked_meanwhile_opens_nothing() {
    let (portal, provider, key) = with_provider(&[MFA_KEY]).await;
    let (mut asha, _) = person(&portal, "asha@operator.example", "administrator").await;
    let app = enrol_at(&portal, &mut asha, "/v1/operator/second-factor").await.app;
    let mut waiting = portal.stranger();
    let right = json!({ "email": "asha@operator.example", "password": "battery staple" });
    assert_eq!(waiting.post(SESSION, right).await.status, 202);
    let visit = Visit::of(&asha.post(START, json!({ "purpose": "link" })).await);
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({}))));
    assert_eq!(come_back(&mut asha, &visit).await.status, 204);
    let refused = waiting.post(&format!("{SESSION}/second-factor"), code(&app.now(&portal.clock))).await;
    assert_eq!((refused.status, refused.code()), (401, "challenge_ended"), "{refused:?}");
    assert_eq!(waiting.get(SESSION).await.status, 401);
}
