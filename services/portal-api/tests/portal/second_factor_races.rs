//! Challenges of others, expired ones, and concurrent uses of one code.

use chrono::TimeDelta;
use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::authenticator::{Enrolled, FACTOR, MFA_KEY, SECOND_STEP, SESSION, STEP, challenged, code, enrol};
use crate::client::Client;
use crate::log_in_races::commit_when_awaited;
use crate::portal::{Owner, Portal};
use crate::staff::person;

const EMAIL: &str = "owner@shop.example";

async fn enrolled() -> (Portal, Owner, Enrolled) {
    let portal = Portal::with_factors(&[]).await;
    let mut owner = portal.owner(EMAIL).await;
    let enrolled = enrol(&portal, &mut owner.client).await;
    (portal, owner, enrolled)
}

/// The statuses of two calls that use a code at once. Both wait for the rows that `lock` holds.
async fn both(
    portal: &Portal,
    (one, other): (&mut Client, &mut Client),
    (path, body): (&str, &Value),
    lock: &str,
) -> [u16; 2] {
    let mut holding = portal.connect().await;
    holding.batch_execute(&format!("BEGIN; {lock}")).await.unwrap();
    let (one, other, ()) = tokio::join!(
        one.post(path, body.clone()),
        other.post(path, body.clone()),
        commit_when_awaited(portal, &mut holding, 2)
    );
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    statuses
}

#[tokio::test]
async fn of_two_concurrent_log_ins_with_a_code_one_succeeds() {
    // Log-ins lock the user before they check the code.
    const LOCK: &str = "SELECT FROM accounts FOR UPDATE";
    let (portal, _, enrolled) = enrolled().await;
    for entered in [enrolled.app.now(&portal), enrolled.recovery_codes[0].clone()] {
        let (mut one, mut other) = (challenged(&portal, EMAIL).await, challenged(&portal, EMAIL).await);
        let call = (SECOND_STEP, &code(&entered));
        assert_eq!(both(&portal, (&mut one, &mut other), call, LOCK).await, [200, 422], "{entered}");
    }
    // The code of the second use is as good as unused, but the challenge is not.
    portal.clock.advance(STEP);
    let mut one = challenged(&portal, EMAIL).await;
    let mut other = one.clone();
    let call = (SECOND_STEP, &code(&enrolled.app.now(&portal)));
    assert_eq!(both(&portal, (&mut one, &mut other), call, LOCK).await, [200, 422], "one challenge");
    let again = other.post(SECOND_STEP, code(&enrolled.recovery_codes[1])).await;
    assert_eq!((again.status, again.code()), (401, "challenge_ended"), "it opens one session");
}

/// The statement that accepts the code decides.
#[tokio::test]
async fn of_two_concurrent_confirmations_with_a_code_one_succeeds() {
    const LOCK: &str = "SELECT FROM second_factors FOR UPDATE; SELECT FROM recovery_codes FOR UPDATE";
    let (portal, owner, enrolled) = enrolled().await;
    let mut client = owner.client;
    for entered in [enrolled.app.now(&portal), enrolled.recovery_codes[0].clone()] {
        let (mut one, mut other) = (client.clone(), client);
        let body = json!({ "password": "correct horse", "code": entered });
        let call = ("/v1/portal/session/confirm", &body);
        assert_eq!(both(&portal, (&mut one, &mut other), call, LOCK).await, [204, 422], "{entered}");
        // The session has a new token now.
        client = if one.get(SESSION).await.status == 200 { one } else { other };
    }
}

#[tokio::test]
async fn a_challenge_is_good_for_its_own_account_only() {
    let (portal, _, enrolled) = enrolled().await;
    let mut other = portal.owner("owner@other.example").await.client;
    let others = enrol(&portal, &mut other).await;
    portal.clock.advance(STEP);
    let _waiting = challenged(&portal, "owner@other.example").await;
    let mut visitor = challenged(&portal, EMAIL).await;
    for wrong in [others.app.now(&portal), others.recovery_codes[0].clone()] {
        let refused = visitor.post(SECOND_STEP, code(&wrong)).await;
        assert_eq!((refused.status, refused.code()), (422, "code_wrong"));
    }
    assert_eq!(visitor.post(SECOND_STEP, code(&enrolled.app.now(&portal))).await.body["email"], EMAIL);

    let (mut console, _) = person(&portal, "asha@carrier.example", "viewer").await;
    let staff = crate::authenticator::enrol_at(&portal, &mut console, "/v1/operator/second-factor").await;
    let body = json!({ "email": "asha@carrier.example", "password": "battery staple" });
    let half = portal.stranger().post("/v1/operator/session", body).await;
    assert_eq!(half.status, 202, "{half:?}");
    let token = half.header("set-cookie").strip_prefix("operator_challenge=").unwrap();
    let cookie = format!("portal_challenge={}", token.split(';').next().unwrap());
    let mut crossing = portal.stranger().with_header("cookie", &cookie);
    let refused = crossing.post(SECOND_STEP, code(&staff.app.now(&portal))).await;
    assert_eq!((refused.status, refused.code()), (401, "challenge_ended"), "a person's at the portal");
}

#[tokio::test]
async fn a_challenge_lasts_five_minutes() {
    let (portal, _, enrolled) = enrolled().await;
    let (mut early, mut late) = (challenged(&portal, EMAIL).await, challenged(&portal, EMAIL).await);
    portal.clock.advance(TimeDelta::seconds(299));
    assert_eq!(early.post(SECOND_STEP, code(&enrolled.app.now(&portal))).await.status, 200);
    portal.clock.advance(TimeDelta::seconds(1));
    let expired = late.post(SECOND_STEP, code(&enrolled.recovery_codes[0])).await;
    assert_eq!((expired.status, expired.code()), (401, "challenge_ended"));
}

#[tokio::test]
async fn a_new_password_ends_the_challenges() {
    let (portal, mut owner, enrolled) = enrolled().await;
    let mut waiting = challenged(&portal, EMAIL).await;
    let body = json!({ "currentPassword": "correct horse", "newPassword": "battery staple" });
    assert_eq!(owner.client.put("/v1/portal/password", body).await.status, 204);
    let ended = waiting.post(SECOND_STEP, code(&enrolled.app.now(&portal))).await;
    assert_eq!((ended.status, ended.code()), (401, "challenge_ended"));
    let mut visitor = portal.stranger();
    let half = visitor.post(SESSION, json!({ "email": EMAIL, "password": "battery staple" })).await;
    assert_eq!(half.status, 202);
    assert_eq!(visitor.post(SECOND_STEP, code(&enrolled.app.now(&portal))).await.status, 200, "still unused");
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
    let unreadable = visitor.post(SECOND_STEP, code(&enrolled.app.now(&portal))).await;
    assert_eq!(unreadable.status, 503, "{unreadable:?}");
    assert_eq!(visitor.post(SECOND_STEP, code(&enrolled.recovery_codes[0])).await.status, 200);

    let changing = with(Some("another key of the tests"), Some(MFA_KEY.1)).await;
    let entered = code(&enrolled.app.now(&portal));
    assert_eq!(challenged(&changing, EMAIL).await.post(SECOND_STEP, entered).await.status, 200);
    portal.clock.advance(STEP);
    let entered = code(&enrolled.app.now(&portal));
    assert_eq!(challenged(&lost, EMAIL).await.post(SECOND_STEP, entered).await.status, 200, "sealed anew");

    let off = with(None, None).await;
    let mut visitor = challenged(&off, EMAIL).await;
    assert_eq!(visitor.post(SECOND_STEP, code(&enrolled.app.now(&portal))).await.status, 503, "never open");
    assert_eq!(visitor.post(SECOND_STEP, code(&enrolled.recovery_codes[1])).await.status, 200);
    let mut owner = owner.client.clone().at(off.public);
    assert_eq!(owner.get(FACTOR).await.body["available"], false);
    let mut other = off.owner("owner@other.example").await.client;
    let refused = other.press(FACTOR).await;
    assert_eq!((refused.status, refused.code()), (409, "second_factor_unavailable"));
}
