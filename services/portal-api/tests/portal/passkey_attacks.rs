//! Answers of authenticators that must not be accepted, and bodies that browsers do not send.

use chrono::TimeDelta;
use diesel::sql_types::BigInt;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use serde_json::{Value, json};
use test_kit::until;

use crate::client::{Answer, Client};
use crate::passkey_device::{
    CONSOLE, Device, PORTAL, Part, add, complete, confirm_options, creation_options, log_in_options,
};
use crate::portal::Portal;

const EMAIL: &str = "owner@shop.example";
const ASHA: &str = "asha@carrier.example";

fn is(answer: &Answer, status: u16, code: &str) -> bool {
    (answer.status, answer.code()) == (status, code)
}

/// Signs the options of a new log-in, and sends the result.
async fn log_in(portal: &Portal, part: Part, email: &str, device: &mut Device) -> Answer {
    let mut visitor = portal.half_way(part, email).await;
    complete(&mut visitor, part, device).await
}

#[tokio::test]
async fn a_signature_counts_for_this_site_and_a_verified_person_only() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, of_owner) = portal.owner_with_passkey(EMAIL).await;
    let (mut asha, of_asha, _) = portal.person_with_passkey(ASHA, "support").await;
    for (mut device, part, email) in [(of_owner, PORTAL, EMAIL), (of_asha, CONSOLE, ASHA)] {
        for origin in
            ["https://evil.test", "http://portal.test", "https://portal.test:8443", "https://a.portal.test"]
        {
            device.origin = origin.to_owned();
            let refused = log_in(&portal, part, email, &mut device).await;
            assert!(is(&refused, 422, "passkey_wrong"), "{origin}: {refused:?}");
        }
        device.origin = part.origin.to_owned();
        device.rp_id = Some("evil.test".to_owned());
        let refused = log_in(&portal, part, email, &mut device).await;
        assert!(is(&refused, 422, "passkey_wrong"), "other site: {refused:?}");
        device.rp_id = None;
        device.verifies = false;
        let refused = log_in(&portal, part, email, &mut device).await;
        assert!(is(&refused, 422, "passkey_wrong"), "not verified: {refused:?}");
        device.verifies = true;
        let opened = log_in(&portal, part, email, &mut device).await;
        assert_eq!(opened.status, 200, "{opened:?}");
    }
    for (client, log) in [(&mut owner, "/v1/portal/audit-log"), (&mut asha, "/v1/operator/audit-log")] {
        let log = match log {
            "/v1/portal/audit-log" => client.get(&format!("{log}?action=session.failed")).await,
            _ => portal.operator().get(&format!("{log}?action=session.failed")).await,
        };
        assert_eq!(log.body["data"].as_array().unwrap().len(), 6, "{log:?}");
        assert_eq!(log.body["data"][0]["details"], json!({ "secondFactor": "wrong_passkey" }), "{log:?}");
    }
}

#[tokio::test]
async fn a_new_passkey_is_for_this_site_and_a_verified_person_only() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, mut known) = portal.owner_with_passkey(EMAIL).await;
    let change: [fn(&mut Device); 5] = [
        |device| device.origin = "https://evil.test".to_owned(),
        |device| device.rp_id = Some("evil.test".to_owned()),
        |device| device.verifies = false,
        |device| device.id.clear(),
        |device| device.id = vec![7; 1_024],
    ];
    for change in change {
        let mut device = Device::at(PORTAL.origin);
        change(&mut device);
        let refused = add(&mut owner, PORTAL, &mut device, "Other").await;
        assert!(is(&refused, 422, "passkey_wrong"), "{refused:?}");
    }
    // An answer to the challenge of another ceremony.
    let first = creation_options(&mut owner, PORTAL).await;
    creation_options(&mut owner, PORTAL).await;
    let outdated = json!({ "name": "Old", "passkey": known.create(&first) });
    let refused = owner.post(PORTAL.passkeys, outdated.clone()).await;
    assert!(is(&refused, 422, "passkey_wrong"), "{refused:?}");
    let again = owner.post(PORTAL.passkeys, outdated).await;
    assert!(is(&again, 409, "passkey_options_ended"), "used up: {again:?}");
    assert_eq!(owner.get(PORTAL.passkeys).await.body["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_challenge_is_used_once_in_its_own_session_and_time() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, mut device) = portal.owner_with_passkey(EMAIL).await;
    // Replayed in the same log-in, and in another one.
    let mut visitor = portal.half_way(PORTAL, EMAIL).await;
    let answer = json!({ "passkey": device.sign(&log_in_options(&mut visitor, PORTAL).await) });
    let mut copy = visitor.clone();
    assert_eq!(visitor.post(PORTAL.step, answer.clone()).await.status, 200);
    let replayed = copy.post(PORTAL.step, answer.clone()).await;
    assert!(is(&replayed, 401, "challenge_ended"), "{replayed:?}");
    let mut other = portal.half_way(PORTAL, EMAIL).await;
    let replayed = other.post(PORTAL.step, answer.clone()).await;
    assert!(is(&replayed, 409, "passkey_options_ended"), "no options yet: {replayed:?}");
    log_in_options(&mut other, PORTAL).await;
    let replayed = other.post(PORTAL.step, answer.clone()).await;
    assert!(is(&replayed, 422, "passkey_wrong"), "{replayed:?}");
    let again = other.post(PORTAL.step, answer).await;
    assert!(is(&again, 409, "passkey_options_ended"), "a wrong answer uses up the challenge: {again:?}");
    // To log in with the challenge of a confirmation, and the other way round.
    let confirm = json!({ "passkey": device.sign(&confirm_options(&mut owner, PORTAL).await) });
    let mut visitor = portal.half_way(PORTAL, EMAIL).await;
    let refused = visitor.post(PORTAL.step, confirm.clone()).await;
    assert!(is(&refused, 409, "passkey_options_ended"), "{refused:?}");
    let log_in = json!({ "passkey": device.sign(&log_in_options(&mut visitor, PORTAL).await) });
    let refused = owner.post(PORTAL.confirm, log_in).await;
    assert!(is(&refused, 422, "passkey_wrong"), "{refused:?}");
    // Too late.
    let options = confirm_options(&mut owner, PORTAL).await;
    portal.clock.advance(TimeDelta::minutes(5));
    let late = owner.post(PORTAL.confirm, json!({ "passkey": device.sign(&options) })).await;
    assert!(is(&late, 409, "passkey_options_ended"), "{late:?}");
    let options = confirm_options(&mut owner, PORTAL).await;
    portal.clock.advance(TimeDelta::minutes(5) - TimeDelta::milliseconds(1));
    let in_time = owner.post(PORTAL.confirm, json!({ "passkey": device.sign(&options) })).await;
    assert_eq!(in_time.status, 204, "{in_time:?}");
}

#[tokio::test]
async fn passkeys_of_other_accounts_and_removed_ones_open_nothing() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, mut device) = portal.owner_with_passkey(EMAIL).await;
    let (mut other, mut foreign) = portal.owner_with_passkey("other@shop.example").await;
    let mut visitor = portal.half_way(PORTAL, EMAIL).await;
    let options = log_in_options(&mut visitor, PORTAL).await;
    let refused = visitor.post(PORTAL.step, json!({ "passkey": foreign.sign(&options) })).await;
    assert!(is(&refused, 422, "passkey_wrong"), "its own id: {refused:?}");
    let options = log_in_options(&mut visitor, PORTAL).await;
    let refused = visitor.post(PORTAL.step, json!({ "passkey": foreign.pretend(&options) })).await;
    assert!(is(&refused, 422, "passkey_wrong"), "the id of the owner's: {refused:?}");

    // A credential that another account has already, and one of another account.
    let made = device.create(&creation_options(&mut other, PORTAL).await);
    let refused = other.post(PORTAL.passkeys, json!({ "name": "Shared", "passkey": made })).await;
    assert!(is(&refused, 409, "passkey_exists"), "{refused:?}");
    let id = owner.get(PORTAL.passkeys).await.body["data"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("{}/{id}", PORTAL.passkeys);
    let refused = other.delete(&path).await;
    assert!(is(&refused, 404, "passkey_not_found"), "of another account: {refused:?}");

    // Removed while the browser asks for it.
    let mut visitor = portal.half_way(PORTAL, EMAIL).await;
    let options = log_in_options(&mut visitor, PORTAL).await;
    let answer = json!({ "passkey": device.sign(&options) });
    assert_eq!(owner.delete(&path).await.status, 204);
    let refused = visitor.post(PORTAL.step, answer).await;
    assert!(is(&refused, 422, "passkey_wrong"), "removed: {refused:?}");
    let none = visitor.press(&format!("{}/passkey-options", PORTAL.step)).await;
    assert!(is(&none, 404, "passkey_not_found"), "{none:?}");
}

#[tokio::test]
async fn a_copy_of_an_authenticator_is_noticed() {
    let portal = Portal::with_passkeys(&[]).await;
    let (_, mut device) = portal.owner_with_passkey(EMAIL).await;
    device.counter = 7;
    assert_eq!(log_in(&portal, PORTAL, EMAIL, &mut device).await.status, 200);
    for back in [7, 3] {
        device.counter = back;
        let refused = log_in(&portal, PORTAL, EMAIL, &mut device).await;
        assert!(is(&refused, 422, "passkey_wrong"), "{back:?}: {refused:?}");
    }
    // Both ceremonies began before either number was known.
    let mut visitors = [portal.half_way(PORTAL, EMAIL).await, portal.half_way(PORTAL, EMAIL).await];
    let mut answers = Vec::new();
    for visitor in &mut visitors {
        let options = log_in_options(visitor, PORTAL).await;
        device.counter = 20;
        answers.push(json!({ "passkey": device.sign(&options) }));
    }
    let [first, second] = &mut visitors;
    assert_eq!(first.post(PORTAL.step, answers[0].clone()).await.status, 200);
    let refused = second.post(PORTAL.step, answers[1].clone()).await;
    assert!(is(&refused, 422, "passkey_wrong"), "the same number twice: {refused:?}");
}

#[tokio::test]
async fn wrong_passkeys_count_as_wrong_codes() {
    let portal = Portal::with_passkeys(&[]).await;
    let (_, mut device) = portal.owner_with_passkey(EMAIL).await;
    device.verifies = false;
    for _ in 0..2 {
        let mut visitor = portal.half_way(PORTAL, EMAIL).await;
        for _ in 0..5 {
            let refused = complete(&mut visitor, PORTAL, &mut device).await;
            assert!(is(&refused, 422, "passkey_wrong"), "{refused:?}");
        }
        let ended = visitor.press(&format!("{}/passkey-options", PORTAL.step)).await;
        assert!(is(&ended, 401, "challenge_ended"), "{ended:?}");
    }
    device.verifies = true;
    let locked = log_in(&portal, PORTAL, EMAIL, &mut device).await;
    assert!(is(&locked, 429, "too_many_codes"), "{locked:?}");
    portal.clock.advance(TimeDelta::minutes(15));
    assert_eq!(log_in(&portal, PORTAL, EMAIL, &mut device).await.status, 200);
}

#[tokio::test]
async fn passkeys_end_with_the_factor() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, mut device) = portal.owner_with_passkey(EMAIL).await;
    let options = confirm_options(&mut owner, PORTAL).await;
    let passkey = device.sign(&options);
    portal.connect().await.batch_execute("DELETE FROM second_factors").await.unwrap();
    let refused = owner.post(PORTAL.confirm, json!({ "passkey": passkey })).await;
    assert!(is(&refused, 409, "passkey_options_ended"), "{refused:?}");
    assert_eq!(owner.get(PORTAL.passkeys).await.body["data"], json!([]));
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

#[tokio::test]
async fn of_two_simultaneous_uses_of_a_signature_one_succeeds() {
    let portal = Portal::with_passkeys(&[]).await;
    let (_, mut device) = portal.owner_with_passkey(EMAIL).await;
    let mut visitor = portal.half_way(PORTAL, EMAIL).await;
    let answer = json!({ "passkey": device.sign(&log_in_options(&mut visitor, PORTAL).await) });
    let mut copy = visitor.clone();
    let (first, second) =
        tokio::join!(visitor.post(PORTAL.step, answer.clone()), copy.post(PORTAL.step, answer));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert!([[200, 401], [200, 409]].contains(&statuses), "{first:?} {second:?}");
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

async fn ceremonies(portal: &Portal) -> i64 {
    let query = diesel::sql_query("SELECT count(*) AS count FROM passkey_ceremonies");
    query.get_result::<Count>(&mut portal.connect().await).await.unwrap().count
}

#[tokio::test]
async fn expired_challenges_are_deleted() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, _) = portal.owner_with_passkey(EMAIL).await;
    for _ in 0..3 {
        confirm_options(&mut owner, PORTAL).await;
        assert_eq!(ceremonies(&portal).await, 1, "a session has one at a time");
    }
    portal.clock.advance(TimeDelta::minutes(5));
    // Another instance prunes when it starts.
    portal.another();
    until("the challenge is deleted", async || ceremonies(&portal).await == 0).await;
}
