//! Answers of authenticators that must not be accepted, and bodies that browsers do not send.

use chrono::TimeDelta;
use diesel_async::RunQueryDsl;
use serde_json::{Value, json};
use test_kit::until;

use crate::client::{Answer, Client};
use crate::log_in_races::Count;
use crate::passkey_device::{CONSOLE, PORTAL, complete, confirm_options, creation_options, log_in_options};
use crate::portal::Portal;

const EMAIL: &str = "owner@shop.example";
const ASHA: &str = "asha@carrier.example";

fn is(answer: &Answer, status: u16, code: &str) -> bool {
    (answer.status, answer.code()) == (status, code)
}

/// Challenges belong to the cookie of the log-in, or to the session.
#[tokio::test]
async fn a_challenge_is_used_once_in_its_own_log_in_or_session() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, mut device) = portal.owner_with_passkey(EMAIL).await;
    let mut visitor = portal.half_way(PORTAL, EMAIL).await;
    let answer = json!({ "passkey": device.sign(&log_in_options(&mut visitor, PORTAL).await) });
    let mut copy = visitor.clone();
    assert_eq!(visitor.post(PORTAL.step, answer.clone()).await.status, 200);
    let replayed = copy.post(PORTAL.step, answer.clone()).await;
    assert!(is(&replayed, 401, "challenge_ended"), "{replayed:?}");
    let confirm = json!({ "passkey": device.sign(&confirm_options(&mut owner, PORTAL).await) });
    for foreign in [answer, confirm.clone()] {
        let mut other = portal.half_way(PORTAL, EMAIL).await;
        let refused = other.post(PORTAL.step, foreign).await;
        assert!(is(&refused, 409, "passkey_options_ended"), "of another log-in or session: {refused:?}");
    }
    let refused = visitor.post(PORTAL.confirm, confirm.clone()).await;
    assert!(is(&refused, 409, "passkey_options_ended"), "of another session: {refused:?}");
    assert_eq!(owner.post(PORTAL.confirm, confirm).await.status, 204);
}

#[tokio::test]
async fn wrong_passkeys_count_as_wrong_codes_and_are_recorded() {
    let portal = Portal::with_passkeys(&[]).await;
    let (owner, of_owner) = portal.owner_with_passkey(EMAIL).await;
    let (_, of_asha, _) = portal.person_with_passkey(ASHA, "support").await;
    for (mut device, part, email, mut reader, log) in [
        (of_owner, PORTAL, EMAIL, owner, "/v1/portal/audit-log"),
        (of_asha, CONSOLE, ASHA, portal.operator(), "/v1/operator/audit-log"),
    ] {
        device.origin = "https://evil.test".to_owned();
        for _ in 0..2 {
            let mut visitor = portal.half_way(part, email).await;
            for _ in 0..5 {
                let refused = complete(&mut visitor, part, &mut device).await;
                assert!(is(&refused, 422, "passkey_wrong"), "{refused:?}");
            }
            let ended = visitor.press(&format!("{}/passkey-options", part.step)).await;
            assert!(is(&ended, 401, "challenge_ended"), "{ended:?}");
        }
        device.origin = part.origin.to_owned();
        let locked = complete(&mut portal.half_way(part, email).await, part, &mut device).await;
        assert!(is(&locked, 429, "too_many_codes"), "{locked:?}");
        let entries = reader.get(&format!("{log}?action=session.failed")).await.body;
        assert_eq!(entries["data"].as_array().unwrap().len(), 10, "{entries}");
        assert_eq!(entries["data"][0]["details"], json!({ "secondFactor": "wrong_passkey" }));
        portal.clock.advance(TimeDelta::minutes(15));
        let opened = complete(&mut portal.half_way(part, email).await, part, &mut device).await;
        assert_eq!(opened.status, 200, "{opened:?}");
    }
}

#[tokio::test]
async fn bodies_are_checked() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, mut device) = portal.owner_with_passkey(EMAIL).await;
    let options = creation_options(&mut owner, PORTAL).await;
    let made = device.create(&options);
    let without = |field: &str| {
        let mut one = made.clone();
        one.as_object_mut().unwrap().remove(field);
        one
    };
    for (body, fields) in [
        (json!({}), vec!["name", "passkey"]),
        (json!({ "name": "", "passkey": made }), vec!["name"]),
        (json!({ "name": "x".repeat(61), "passkey": made }), vec!["name"]),
        (json!({ "name": "a\nb", "passkey": made }), vec!["name"]),
        (json!({ "name": "a\u{202e}b", "passkey": made }), vec!["name"]),
        (json!({ "name": 1, "passkey": "x" }), vec!["name", "passkey"]),
        (json!({ "name": "Laptop", "passkey": {} }), vec!["passkey"]),
        (json!({ "name": "Laptop", "passkey": without("response") }), vec!["passkey"]),
        (json!({ "name": "Laptop", "passkey": without("rawId") }), vec!["passkey"]),
        (json!({ "name": "Laptop", "passkey": made, "id": "x" }), vec!["id"]),
    ] {
        let refused = owner.post(PORTAL.passkeys, body.clone()).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, fields), "{body}: {refused:?}");
    }
    let mut visitor = portal.half_way(PORTAL, EMAIL).await;
    let signed = device.sign(&log_in_options(&mut visitor, PORTAL).await);
    check_answers(&mut visitor, PORTAL.step, &signed, &[json!({ "code": "123456", "passkey": signed })])
        .await;
    let with_password = json!({ "password": "correct horse", "passkey": signed });
    check_answers(&mut owner, PORTAL.confirm, &signed, &[with_password]).await;
    // None of these used up the challenge.
    assert_eq!(visitor.post(PORTAL.step, json!({ "passkey": signed })).await.status, 200);
    let garbage = json!({ "name": "Laptop", "passkey": {
        "id": "AA", "rawId": "AA", "type": "public-key",
        "response": { "clientDataJSON": "AA", "attestationObject": "AA" },
    } });
    let refused = owner.post(PORTAL.passkeys, garbage).await;
    assert!(is(&refused, 422, "passkey_wrong"), "{refused:?}");
    for id in ["psk_1", "psk_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let unknown = owner.delete(&format!("{}/{id}", PORTAL.passkeys)).await;
        assert!(is(&unknown, 404, "passkey_not_found"), "{unknown:?}");
    }
}

/// Bodies of calls that prove the second factor.
async fn check_answers(client: &mut Client, path: &str, signed: &Value, more: &[Value]) {
    let mut cut = signed.clone();
    cut["response"]["signature"] = json!("not base64 !");
    let bad = [json!({}), json!({ "passkey": null }), json!({ "passkey": "x" }), json!({ "passkey": cut })];
    for body in bad.iter().chain(more) {
        let refused = client.post(path, body.clone()).await;
        assert_eq!(refused.status, 400, "{path} {body}: {refused:?}");
    }
}

async fn ceremonies(portal: &Portal) -> i64 {
    let query = diesel::sql_query("SELECT count(*) AS count FROM passkey_ceremonies");
    query.get_result::<Count>(&mut portal.connect().await).await.unwrap().count
}

#[tokio::test]
async fn expired_challenges_are_deleted() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, _) = portal.owner_with_passkey(EMAIL).await;
    confirm_options(&mut owner, PORTAL).await;
    assert_eq!(ceremonies(&portal).await, 1);
    portal.clock.advance(TimeDelta::minutes(5));
    // Another instance prunes when it starts.
    portal.another();
    until("the challenge is deleted", async || ceremonies(&portal).await == 0).await;
}
