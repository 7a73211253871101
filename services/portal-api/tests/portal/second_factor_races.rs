//! Challenges of the other realm, and keys.

use serde_json::json;

use crate::authenticator::{Enrolled, FACTOR, MFA_KEY, SECOND_STEP, challenged, code, enrol, enrol_at};
use crate::portal::{Owner, Portal};
use crate::staff::person;

const EMAIL: &str = "owner@shop.example";

async fn enrolled() -> (Portal, Owner, Enrolled) {
    let portal = Portal::with_factors(&[]).await;
    let mut owner = portal.owner(EMAIL).await;
    let enrolled = enrol(&portal, &mut owner.client).await;
    (portal, owner, enrolled)
}

#[tokio::test]
async fn a_challenge_of_the_console_opens_nothing_at_the_portal() {
    let portal = Portal::with_factors(&[]).await;
    let (mut console, _) = person(&portal, "asha@carrier.example", "viewer").await;
    let app = enrol_at(&portal, &mut console, "/v1/operator/second-factor").await.app;
    let body = json!({ "email": "asha@carrier.example", "password": "battery staple" });
    let half = portal.stranger().post("/v1/operator/session", body).await;
    assert_eq!(half.status, 202, "{half:?}");
    let token = half.header("set-cookie").strip_prefix("operator_challenge=").unwrap();
    let cookie = format!("portal_challenge={}", token.split(';').next().unwrap());
    let mut crossing = portal.stranger().with_header("cookie", &cookie);
    let refused = crossing.post(SECOND_STEP, code(&app.now(&portal.clock))).await;
    assert_eq!((refused.status, refused.code()), (401, "challenge_ended"));
}

#[tokio::test]
async fn the_key_can_be_changed_and_without_it_recovery_codes_work() {
    let (portal, owner, enrolled) = enrolled().await;
    let key = |key: Option<&str>| key.map(settings::Secret::new);
    let with = async |present: Option<&str>, previous: Option<&str>| {
        let mut settings = portal.settings.clone();
        (settings.mfa.key, settings.mfa.previous_key) = (key(present), key(previous));
        portal.with_settings(settings)
    };
    let lost = with(Some("another key of the tests"), None).await;
    let mut visitor = challenged(&lost, EMAIL).await;
    let unreadable = visitor.post(SECOND_STEP, code(&enrolled.app.now(&portal.clock))).await;
    assert_eq!(unreadable.status, 503, "{unreadable:?}");
    assert_eq!(visitor.post(SECOND_STEP, code(&enrolled.recovery_codes[0])).await.status, 200);

    let changing = with(Some("another key of the tests"), Some(MFA_KEY.1)).await;
    let entered = code(&enrolled.app.now(&portal.clock));
    assert_eq!(challenged(&changing, EMAIL).await.post(SECOND_STEP, entered).await.status, 200);
    let off = with(None, None).await;
    let mut visitor = challenged(&off, EMAIL).await;
    assert_eq!(
        visitor.post(SECOND_STEP, code(&enrolled.app.now(&portal.clock))).await.status,
        503,
        "never open"
    );
    assert_eq!(visitor.post(SECOND_STEP, code(&enrolled.recovery_codes[1])).await.status, 200);
    let mut owner = owner.client.clone().at(off.public);
    assert_eq!(owner.get(FACTOR).await.body["available"], false);
    let mut other = off.owner("owner@other.example").await.client;
    let refused = other.press(FACTOR).await;
    assert_eq!((refused.status, refused.code()), (409, "second_factor_unavailable"));
}
