//! Second factors of users: set-up, and log-in in two steps.

use chrono::TimeDelta;
use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};
use test_kit::{Authenticator, until};

use crate::authenticator::{FACTOR, SECOND_STEP, SESSION, STEP, challenged, code, enrol, recovery_codes};
use crate::mail_folder::MailFolder;
use crate::portal::Portal;

const EMAIL: &str = "owner@shop.example";

fn log_in(password: &str) -> Value {
    json!({ "email": EMAIL, "password": password })
}

#[tokio::test]
async fn an_app_is_set_up_and_its_code_opens_sessions() {
    let portal = Portal::with_factors(&[]).await;
    let mut owner = portal.owner(EMAIL).await.client;
    let before = json!({
        "available": true, "required": false, "enrolled": false, "confirmedAt": null, "recoveryCodesLeft": 0,
        "passkeys": 0, "passkeyOrigin": null
    });
    assert_eq!(owner.get(FACTOR).await.body, before);
    let none = owner.post(&format!("{FACTOR}/confirm"), code("123456")).await;
    assert_eq!((none.status, none.code()), (409, "enrolment_not_started"));
    let started = owner.press(FACTOR).await;
    assert_eq!((started.status, started.header("cache-control")), (201, "no-store"), "{started:?}");
    let secret = started.body["secret"].as_str().unwrap().to_owned();
    let url = started.body["url"].as_str().unwrap();
    assert!(url.starts_with("otpauth://totp/Waybill:owner%40shop.example?"), "{url}");
    assert!(url.contains(&format!("secret={secret}")), "{url}");
    assert!(started.body["qrCode"].as_str().unwrap().starts_with("data:image/svg+xml;base64,"));
    assert_eq!(owner.get(FACTOR).await.body, before, "nothing is on before the first code");
    assert_eq!(portal.stranger().post(SESSION, log_in("correct horse")).await.status, 200);

    let app = Authenticator::new(&secret);
    let confirm = format!("{FACTOR}/confirm");
    let wrong = owner.post(&confirm, code(&app.wrong(&portal.clock))).await;
    assert_eq!((wrong.status, wrong.code()), (422, "code_wrong"));
    let confirmed = owner.post(&confirm, code(&app.now(&portal.clock))).await;
    assert_eq!(confirmed.status, 200, "{confirmed:?}");
    let mut codes = recovery_codes(&confirmed);
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), 10);
    let after = owner.get(FACTOR).await.body;
    assert_eq!((&after["enrolled"], &after["recoveryCodesLeft"]), (&json!(true), &json!(10)));
    let again = owner.press(FACTOR).await;
    assert_eq!((again.status, again.code()), (409, "second_factor_exists"));

    portal.clock.advance(STEP);
    let mut visitor = portal.stranger();
    let half = visitor.post(SESSION, log_in("correct horse")).await;
    assert_eq!((half.status, &half.body["mfaRequired"]), (202, &json!(true)), "{half:?}");
    let cookie = half.header("set-cookie");
    assert!(cookie.starts_with("portal_challenge=") && cookie.contains("HttpOnly"), "{cookie}");
    assert!(cookie.contains("SameSite=Strict") && cookie.contains("Max-Age=300"), "{cookie}");
    for path in [SESSION, "/v1/portal/status", FACTOR] {
        assert_eq!(visitor.get(path).await.status, 401, "{path}: the password alone grants nothing");
    }
    let opened = visitor.post(SECOND_STEP, code(&app.now(&portal.clock))).await;
    assert_eq!((opened.status, &opened.body["email"]), (200, &json!(EMAIL)), "{opened:?}");
    assert_eq!(visitor.get("/v1/portal/status").await.status, 200);
    let replayed = challenged(&portal, EMAIL).await.post(SECOND_STEP, code(&app.now(&portal.clock))).await;
    assert_eq!((replayed.status, replayed.code()), (422, "code_wrong"), "a code works once");
    let log = visitor.get("/v1/portal/audit-log").await.body.to_string();
    assert!(log.contains("second_factor.enrolled") && log.contains("\"secondFactor\":\"app\""), "{log}");
    assert!(!log.contains(&secret) && codes.iter().all(|code| !log.contains(code)), "{log}");
}

/// Uses the link that a reset mails next, and tells what the new password opens.
async fn reset_by_mail(portal: &Portal, folder: &MailFolder) -> u16 {
    let resets = || -> Vec<_> {
        folder.mails().into_iter().filter(|mail| mail.text.contains("/reset-password#token=")).collect()
    };
    let before = resets().len();
    let asked = portal.stranger().post("/v1/portal/password-resets", json!({ "email": EMAIL })).await;
    assert_eq!(asked.status, 202, "{asked:?}");
    until("the link arrives", async || resets().len() > before).await;
    let used = json!({ "token": resets().pop().unwrap().token(), "password": "battery staple" });
    assert_eq!(portal.stranger().post("/v1/portal/password-resets/confirm", used).await.status, 204);
    portal.stranger().post(SESSION, log_in("battery staple")).await.status
}

/// Anybody can sign up with the address of somebody else.
#[tokio::test]
async fn nothing_locks_the_owner_of_an_address_out() {
    let folder = MailFolder::new();
    let portal = Portal::with_factors(&folder.settings()).await;
    let mut stranger = portal.newcomer(EMAIL).await.client;
    for path in [FACTOR, "/v1/portal/second-factor/passkeys/options"] {
        let refused = stranger.press(path).await;
        assert_eq!((refused.status, refused.code()), (403, "email_not_verified"), "{path}");
    }
    // Sessions of a provider would outlive the reset.
    let refused = stranger.put("/v1/portal/single-sign-on", json!({})).await;
    assert_eq!((refused.status, refused.code()), (403, "email_not_verified"), "{refused:?}");
    // As of an installation that has not sent mails from the beginning.
    let mut conn = portal.connect().await;
    conn.batch_execute("UPDATE accounts SET email_verified_at = created_at").await.unwrap();
    enrol(&portal, &mut stranger).await;
    conn.batch_execute("UPDATE accounts SET email_verified_at = NULL").await.unwrap();
    assert_eq!(reset_by_mail(&portal, &folder).await, 200, "who gets the mail is the owner of the address");

    let mut owner = portal.stranger();
    assert_eq!(owner.post(SESSION, log_in("battery staple")).await.status, 200);
    let log = owner.get("/v1/portal/audit-log").await.body.to_string();
    assert!(log.contains("second_factor.reset"), "{log}");
    enrol(&portal, &mut owner).await;
    assert_eq!(reset_by_mail(&portal, &folder).await, 202, "a thief of the inbox has no second factor");
}

/// The answer that the API promises to accounts without a second factor.
#[tokio::test]
async fn accounts_without_a_factor_log_in_as_before() {
    let portal = Portal::with_factors(&[]).await;
    portal.owner(EMAIL).await;
    let opened = portal.stranger().post(SESSION, log_in("correct horse")).await;
    let mut fields: Vec<_> = opened.body.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    let known = [
        "businessId",
        "businessName",
        "createdAt",
        "email",
        "emailVerified",
        "expiresAt",
        "name",
        "permissions",
        "role",
        "userId",
    ];
    assert_eq!((opened.status, fields), (200, known.to_vec()));
}

#[tokio::test]
async fn a_challenge_takes_five_wrong_codes_and_an_account_ten() {
    let portal = Portal::with_factors(&[]).await;
    let mut owner = portal.owner(EMAIL).await.client;
    let app = enrol(&portal, &mut owner).await.app;
    for _ in 0..2 {
        let mut visitor = challenged(&portal, EMAIL).await;
        for _ in 0..5 {
            let refused = visitor.post(SECOND_STEP, code(&app.wrong(&portal.clock))).await;
            assert_eq!((refused.status, refused.code()), (422, "code_wrong"));
        }
        let ended = visitor.post(SECOND_STEP, code(&app.now(&portal.clock))).await;
        assert_eq!((ended.status, ended.code()), (401, "challenge_ended"), "{ended:?}");
    }
    let locked = challenged(&portal, EMAIL).await.post(SECOND_STEP, code(&app.now(&portal.clock))).await;
    assert_eq!((locked.status, locked.code()), (429, "too_many_codes"), "{locked:?}");
    assert_eq!(locked.header("retry-after"), "900");
    // A browser of the owner has a limit of its own.
    let half = owner.post(SESSION, log_in("correct horse")).await;
    assert_eq!(half.status, 202, "{half:?}");
    assert_eq!(owner.post(SECOND_STEP, code(&app.now(&portal.clock))).await.status, 200);
    portal.clock.advance(TimeDelta::minutes(15));
    assert_eq!(
        challenged(&portal, EMAIL).await.post(SECOND_STEP, code(&app.now(&portal.clock))).await.status,
        200
    );
    let log = owner.get("/v1/portal/audit-log?action=session.failed").await.body;
    assert_eq!(log["data"].as_array().unwrap().len(), 10, "{log}");
    assert_eq!(log["data"][0]["details"], json!({ "secondFactor": "wrong_code" }));
}

#[tokio::test]
async fn a_recovery_code_opens_a_session_once_and_is_mailed() {
    let folder = MailFolder::new();
    let portal = Portal::with_factors(&folder.settings()).await;
    let mut owner = portal.owner(EMAIL).await.client;
    let codes = enrol(&portal, &mut owner).await.recovery_codes;
    for status in [200, 422] {
        let answer = challenged(&portal, EMAIL).await.post(SECOND_STEP, code(&codes[0])).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
    assert_eq!(owner.get(FACTOR).await.body["recoveryCodesLeft"], 9);
    assert_eq!(recovery_codes(&owner.press(&format!("{FACTOR}/recovery-codes")).await).len(), 10);
    let replaced = challenged(&portal, EMAIL).await.post(SECOND_STEP, code(&codes[9])).await;
    assert_eq!((replaced.status, replaced.code()), (422, "code_wrong"));
    for words in ["is on", "A recovery code of your", "has new recovery codes"] {
        until(words, async || folder.mails().iter().any(|mail| mail.subject.contains(words))).await;
    }
    assert!(folder.mails().iter().all(|mail| codes.iter().all(|code| !mail.text.contains(code))));
}

#[tokio::test]
async fn a_removed_factor_ends_its_challenges_and_is_no_longer_asked_for() {
    let portal = Portal::with_factors(&[]).await;
    let mut owner = portal.owner(EMAIL).await.client;
    let app = enrol(&portal, &mut owner).await.app;
    let mut waiting = challenged(&portal, EMAIL).await;
    assert_eq!(owner.delete(FACTOR).await.status, 204);
    let ended = waiting.post(SECOND_STEP, code(&app.now(&portal.clock))).await;
    assert_eq!((ended.status, ended.code()), (401, "challenge_ended"));
    assert_eq!(portal.stranger().post(SESSION, log_in("correct horse")).await.status, 200);
    let missing = [owner.delete(FACTOR).await, owner.press(&format!("{FACTOR}/recovery-codes")).await];
    for missing in missing {
        assert_eq!((missing.status, missing.code()), (404, "second_factor_not_found"));
    }
}

#[tokio::test]
async fn a_reset_link_does_not_replace_the_code() {
    let portal = Portal::with_factors(&[]).await;
    let mut owner = portal.owner(EMAIL).await;
    let app = enrol(&portal, &mut owner.client).await.app;
    let path = format!("/v1/operator/businesses/{}/password-resets", owner.business);
    let issued = portal.operator().post(&path, json!({ "email": EMAIL })).await;
    let token = issued.body["url"].as_str().unwrap().split("#token=").nth(1).unwrap().to_owned();
    let mut visitor = portal.stranger();
    let body = json!({ "token": token, "password": "battery staple" });
    let reset = visitor.post("/v1/portal/password-resets/confirm", body).await;
    assert_eq!((reset.status, reset.header("set-cookie")), (204, ""));
    assert_eq!(visitor.post(SESSION, log_in("battery staple")).await.status, 202);
    assert_eq!(visitor.get(SESSION).await.status, 401);
    assert_eq!(visitor.post(SECOND_STEP, code(&app.now(&portal.clock))).await.status, 200);
}

#[tokio::test]
async fn malformed_codes_are_refused_without_counting() {
    let portal = Portal::with_factors(&[]).await;
    let mut owner = portal.owner(EMAIL).await.client;
    let app = enrol(&portal, &mut owner).await.app;
    let mut visitor = challenged(&portal, EMAIL).await;
    let bodies = [
        json!({}),
        json!({ "code": "" }),
        json!({ "code": null }),
        json!({ "code": 123_456 }),
        json!({ "code": "12345" }),
        json!({ "code": "1234567" }),
        json!({ "code": "１２３４５６" }),
        json!({ "code": "aaaa-aaaa-aaaa-aaaa-aaaa-aaa1" }),
        json!({ "code": "x".repeat(10_000) }),
    ];
    for path in [SECOND_STEP, &format!("{FACTOR}/confirm")] {
        for body in &bodies {
            let client = if path == SECOND_STEP { &mut visitor } else { &mut owner };
            let refused = client.post(path, body.clone()).await;
            assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["code"]), "{path} {body}");
        }
        let client = if path == SECOND_STEP { &mut visitor } else { &mut owner };
        assert_eq!(client.post(path, json!([])).await.status, 400, "{path}");
    }
    let recovery = owner.post(&format!("{FACTOR}/confirm"), code("aaaa-aaaa-aaaa-aaaa-aaaa-aaaa")).await;
    assert_eq!(recovery.invalid_fields(), ["code"], "there are none yet");
    assert_eq!(
        visitor.post(SECOND_STEP, code(&app.now(&portal.clock))).await.status,
        200,
        "no try was counted"
    );
    let none = portal.stranger().post(SECOND_STEP, code("123456")).await;
    assert_eq!((none.status, none.code()), (401, "challenge_ended"), "without a challenge");
}
