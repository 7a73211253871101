//! Passkeys of users and of the staff: added, used to log in and to confirm a session, and removed.

use chrono::TimeDelta;
use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};
use test_kit::{PasskeyDevice, until};

use crate::authenticator::enrol;
use crate::client::Client;
use crate::mail_folder::MailFolder;
use crate::passkey_device::{
    CONSOLE, PORTAL, Part, add, complete, confirm_options, creation_options, log_in_options,
};
use crate::portal::Portal;

const EMAIL: &str = "owner@shop.example";
const ASHA: &str = "asha@carrier.example";

/// The names of the account's passkeys.
async fn names(client: &mut Client, part: Part) -> Vec<String> {
    let listed = client.get(part.passkeys).await;
    assert_eq!((listed.status, &listed.body["max"]), (200, &json!(10)), "{listed:?}");
    let data = listed.body["data"].as_array().unwrap();
    data.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

async fn first(client: &mut Client, part: Part) -> Value {
    client.get(part.passkeys).await.body["data"][0].clone()
}

#[tokio::test]
async fn a_user_adds_a_passkey_and_logs_in_with_it() {
    let portal = Portal::with_passkeys(&[]).await;
    let mut owner = portal.owner(EMAIL).await.client;
    let early = owner.press(&format!("{}/options", PORTAL.passkeys)).await;
    assert_eq!((early.status, early.code()), (404, "second_factor_not_found"), "the app comes first");
    enrol(&portal, &mut owner).await;
    let mut device = PasskeyDevice::at(PORTAL.origin);
    let options = creation_options(&mut owner, PORTAL).await;
    assert_eq!(options["rp"], json!({ "id": "portal.test", "name": "Waybill" }));
    assert_eq!(options["authenticatorSelection"]["userVerification"], "required", "{options}");
    let added = add(&mut owner, PORTAL, &mut device, "Work laptop").await;
    assert_eq!((added.status, &added.body["name"]), (201, &json!("Work laptop")), "{added:?}");
    assert_eq!(added.body["lastUsedAt"], Value::Null);
    assert_eq!(names(&mut owner, PORTAL).await, ["Work laptop"]);
    let factor = owner.get(PORTAL.factor).await.body;
    assert_eq!((&factor["passkeys"], &factor["passkeyOrigin"]), (&json!(1), &json!(PORTAL.origin)));

    let mut visitor = portal.half_way(PORTAL, EMAIL).await;
    let options = log_in_options(&mut visitor, PORTAL).await;
    assert_eq!((&options["rpId"], &options["userVerification"]), (&json!("portal.test"), &json!("required")));
    assert_eq!(visitor.get("/v1/portal/status").await.status, 401, "options grant nothing");
    let opened = complete(&mut visitor, PORTAL, &mut device).await;
    assert_eq!((opened.status, &opened.body["email"]), (200, &json!(EMAIL)), "{opened:?}");
    assert_eq!(visitor.get("/v1/portal/status").await.status, 200);
    assert_ne!(first(&mut owner, PORTAL).await["lastUsedAt"], Value::Null);
    let log = owner.get("/v1/portal/audit-log").await.body.to_string();
    for told in ["passkey.added", "Work laptop", "\"secondFactor\":\"passkey\"", "127.0.0.1"] {
        assert!(log.contains(told), "{told}: {log}");
    }
}

#[tokio::test]
async fn a_person_of_the_staff_adds_a_passkey_and_logs_in_with_it() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut asha, mut device, _) = portal.person_with_passkey(ASHA, "administrator").await;
    assert_eq!(names(&mut asha, CONSOLE).await, ["Laptop"]);
    let mut visitor = portal.half_way(CONSOLE, ASHA).await;
    let opened = complete(&mut visitor, CONSOLE, &mut device).await;
    assert_eq!((opened.status, &opened.body["role"]), (200, &json!("administrator")), "{opened:?}");
    assert_eq!(visitor.get("/v1/operator/businesses").await.status, 200);
    let log = asha.get("/v1/operator/audit-log").await.body.to_string();
    assert!(log.contains("passkey.added") && log.contains("\"secondFactor\":\"passkey\""), "{log}");
}

#[tokio::test]
async fn a_passkey_confirms_a_session_without_the_password() {
    let portal = Portal::with_passkeys(&[("WAYBILL_MFA__RECENT_MINUTES", "15")]).await;
    let (owner, of_owner) = portal.owner_with_passkey(EMAIL).await;
    let (asha, of_asha, _) = portal.person_with_passkey(ASHA, "administrator").await;
    for (mut client, mut device, part, cookie) in
        [(owner, of_owner, PORTAL, "portal_session"), (asha, of_asha, CONSOLE, "operator_session")]
    {
        portal.clock.advance(TimeDelta::minutes(16));
        let start = format!("{}/options", part.passkeys);
        for path in [start.as_str(), part.passkeys] {
            let refused = client.post(path, json!({})).await;
            assert_eq!(refused.code(), "recent_authentication_required", "{path}: {refused:?}");
        }
        let id = first(&mut client, part).await["id"].as_str().unwrap().to_owned();
        let refused = client.delete(&format!("{}/{id}", part.passkeys)).await;
        assert_eq!(refused.code(), "recent_authentication_required", "{refused:?}");

        let before = client.cookie(cookie).unwrap();
        let options = confirm_options(&mut client, part).await;
        let passkey = device.sign(&options);
        let confirmed = client.post(part.confirm, json!({ "passkey": passkey })).await;
        assert_eq!(confirmed.status, 204, "{confirmed:?}");
        assert_ne!(client.cookie(cookie).unwrap(), before, "a new token");
        assert_eq!(client.press(&start).await.status, 200, "recently authenticated");
        let again = client.post(part.confirm, json!({ "passkey": passkey })).await;
        assert_eq!((again.status, again.code()), (409, "passkey_options_ended"), "{again:?}");
    }
}

#[tokio::test]
async fn an_account_has_at_most_ten_and_mails_tell_of_changes() {
    // As if nine more had been added.
    const MORE: &str = "INSERT INTO passkeys
        SELECT (jsonb_populate_record(passkey, jsonb_build_object(
            'id', 'psk_01ARZ3NDEKTSV4RRFFQ69G5FA' || number, 'credential_id', '\\x0' || number))).*
        FROM passkeys AS passkey, generate_series(1, 9) AS number";
    let folder = MailFolder::new();
    let portal = Portal::with_passkeys(&folder.settings()).await;
    let (mut owner, mut device) = portal.owner_with_passkey(EMAIL).await;
    portal.connect().await.batch_execute(MORE).await.unwrap();
    let (mut other, _) = portal.owner_with_passkey("other@shop.example").await;
    let shared = add(&mut other, PORTAL, &mut device, "Shared").await;
    assert_eq!((shared.status, shared.code()), (409, "passkey_exists"), "{shared:?}");
    let refused = owner.press(&format!("{}/options", PORTAL.passkeys)).await;
    assert_eq!((refused.status, refused.code()), (409, "too_many_passkeys"), "{refused:?}");
    assert_eq!(names(&mut owner, PORTAL).await.len(), 10);
    let path = format!("{}/{}", PORTAL.passkeys, first(&mut owner, PORTAL).await["id"].as_str().unwrap());
    assert_eq!(owner.delete(&path).await.status, 204);
    let again = owner.delete(&path).await;
    assert_eq!((again.status, again.code()), (404, "passkey_not_found"));
    let log = owner.get("/v1/portal/audit-log?action=passkey.removed").await.body;
    assert_eq!(log["data"][0]["target"]["label"], "Laptop", "{log}");
    for words in ["has a new passkey", "A passkey of your Waybill account was removed"] {
        until(words, async || folder.mails().iter().any(|mail| mail.subject.contains(words))).await;
    }
}

#[tokio::test]
async fn passkeys_need_an_address_with_a_name() {
    let portal = Portal::with_factors(&[("WAYBILL_PUBLIC__URL", "https://192.0.2.7")]).await;
    let mut owner = portal.owner(EMAIL).await.client;
    enrol(&portal, &mut owner).await;
    assert_eq!(owner.get(PORTAL.factor).await.body["passkeyOrigin"], Value::Null);
    for path in [format!("{}/options", PORTAL.passkeys), format!("{}/passkey-options", PORTAL.confirm)] {
        let refused = owner.press(&path).await;
        assert_eq!((refused.status, refused.code()), (409, "passkeys_unavailable"), "{path}");
    }
}
