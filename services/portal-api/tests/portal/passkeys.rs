//! Passkeys of users and of the staff: added, used to log in and to confirm a session, and removed.

use chrono::TimeDelta;
use serde_json::{Value, json};
use test_kit::until;

use crate::authenticator::{MFA_KEY, SESSION, code, enrol};
use crate::client::Client;
use crate::mail_folder::MailFolder;
use crate::passkey_device::{
    CONSOLE, Device, PORTAL, Part, add, complete, confirm_options, creation_options, log_in_options,
};
use crate::portal::Portal;
use crate::staff::STAFF;
use crate::two_businesses::{self, Two, USERS};

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
    let mut device = Device::at(PORTAL.origin);
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
async fn codes_keep_working_and_passkeys_end_with_the_factor() {
    let portal = Portal::with_passkeys(&[]).await;
    let mut owner = portal.owner(EMAIL).await.client;
    let app = enrol(&portal, &mut owner).await.app;
    let mut device = Device::at(PORTAL.origin);
    assert_eq!(add(&mut owner, PORTAL, &mut device, "Laptop").await.status, 201);
    let mut visitor = portal.half_way(PORTAL, EMAIL).await;
    assert_eq!(visitor.post(PORTAL.step, code(&app.now(&portal))).await.status, 200);
    assert_eq!(owner.delete(PORTAL.factor).await.status, 204);
    assert!(names(&mut owner, PORTAL).await.is_empty());
    let log_in = json!({ "email": EMAIL, "password": "correct horse" });
    assert_eq!(portal.stranger().post(SESSION, log_in.clone()).await.status, 200);
    enrol(&portal, &mut owner).await;
    assert!(names(&mut owner, PORTAL).await.is_empty(), "they do not come back");
    let half = portal.stranger().post(SESSION, log_in).await;
    assert_eq!((half.status, &half.body["passkeyOrigin"]), (202, &Value::Null), "{half:?}");
}

#[tokio::test]
async fn resets_by_others_remove_the_passkeys() {
    let portal = Portal::with_passkeys(&[]).await;
    let (mut owner, _) = portal.owner_with_passkey(EMAIL).await;
    let user = owner.get(SESSION).await.body["userId"].as_str().unwrap().to_owned();
    let business = owner.get(SESSION).await.body["businessId"].as_str().unwrap().to_owned();
    let (mut asha, _, id) = portal.person_with_passkey(ASHA, "support").await;
    let of_user = format!("/v1/operator/businesses/{business}/users/{user}/second-factor");
    for (path, client, part) in
        [(of_user, &mut owner, PORTAL), (format!("{STAFF}/{id}/second-factor"), &mut asha, CONSOLE)]
    {
        let (email, password) =
            if part.origin == PORTAL.origin { (EMAIL, "correct horse") } else { (ASHA, "battery staple") };
        assert_eq!(portal.operator().delete(&path).await.status, 204);
        let opened = client.post(part.session, json!({ "email": email, "password": password })).await;
        assert_eq!(opened.status, 200, "{opened:?}");
        assert!(names(client, part).await.is_empty());
    }
}

#[tokio::test]
async fn an_account_has_at_most_ten_and_mails_tell_of_changes() {
    let folder = MailFolder::new();
    let mails = [("WAYBILL_MAIL__TRANSPORT", "folder"), ("WAYBILL_MAIL__FOLDER", folder.path())];
    let portal = Portal::with_passkeys(&mails).await;
    let mut owner = portal.owner(EMAIL).await.client;
    let app = enrol(&portal, &mut owner).await.app;
    let mut late = Device::at(PORTAL.origin);
    for number in 1..=9 {
        portal.clock.advance(TimeDelta::milliseconds(1));
        let mut device = Device::at(PORTAL.origin);
        let added = add(&mut owner, PORTAL, &mut device, &format!("Device {number}")).await;
        assert_eq!(added.status, 201, "{added:?}");
    }
    let mut device = Device::at(PORTAL.origin);
    let mut other = portal.half_way(PORTAL, EMAIL).await;
    let options = log_in_options(&mut other, PORTAL).await;
    assert_eq!(options["allowCredentials"].as_array().unwrap().len(), 9);
    let begun = creation_options(&mut owner, PORTAL).await;
    assert_eq!(begun["excludeCredentials"].as_array().unwrap().len(), 9, "{begun}");
    let passkey = device.create(&begun);
    portal.clock.advance(TimeDelta::milliseconds(1));
    // In another session, begun as the tenth and finished as the eleventh.
    let mut elsewhere = portal.half_way(PORTAL, EMAIL).await;
    assert_eq!(elsewhere.post(PORTAL.step, code(&app.now(&portal))).await.status, 200);
    let eleventh = late.create(&creation_options(&mut elsewhere, PORTAL).await);
    let tenth = owner.post(PORTAL.passkeys, json!({ "name": "Device 10", "passkey": passkey })).await;
    assert_eq!(tenth.status, 201, "{tenth:?}");
    let refused = elsewhere.post(PORTAL.passkeys, json!({ "name": "Late", "passkey": eleventh })).await;
    assert_eq!((refused.status, refused.code()), (409, "too_many_passkeys"), "{refused:?}");
    let refused = owner.press(&format!("{}/options", PORTAL.passkeys)).await;
    assert_eq!((refused.status, refused.code()), (409, "too_many_passkeys"), "{refused:?}");

    assert_eq!(
        names(&mut owner, PORTAL).await,
        (1..=10).map(|number| format!("Device {number}")).collect::<Vec<_>>()
    );
    let id = first(&mut owner, PORTAL).await["id"].as_str().unwrap().to_owned();
    let path = format!("{}/{id}", PORTAL.passkeys);
    assert_eq!(owner.delete(&path).await.status, 204);
    let again = owner.delete(&path).await;
    assert_eq!((again.status, again.code()), (404, "passkey_not_found"));
    let log = owner.get("/v1/portal/audit-log?action=passkey.removed").await.body;
    assert_eq!(log["data"][0]["target"]["label"], "Device 1", "{log}");
    assert_eq!(add(&mut owner, PORTAL, &mut late, "Late").await.status, 201, "room for another one");
    let with = |words: &str| folder.mails().iter().filter(|mail| mail.subject.contains(words)).count();
    until("eleven mails about new passkeys arrive", async || with("has a new passkey") == 11).await;
    until("a mail about the removal arrives", async || {
        with("A passkey of your Waybill account was removed") == 1
    })
    .await;
}

#[tokio::test]
async fn passkeys_need_an_address_with_a_name() {
    for url in ["http://portal.test", "https://192.0.2.7"] {
        let portal =
            Portal::with(&[("WAYBILL_LIMITS__PER_ADDRESS", "false"), MFA_KEY, ("WAYBILL_PUBLIC__URL", url)])
                .await;
        let mut owner = portal.owner(EMAIL).await.client;
        enrol(&portal, &mut owner).await;
        assert_eq!(owner.get(PORTAL.factor).await.body["passkeyOrigin"], Value::Null, "{url}");
        let confirm = format!("{}/passkey-options", PORTAL.confirm);
        for path in [format!("{}/options", PORTAL.passkeys), confirm] {
            let refused = owner.press(&path).await;
            assert_eq!((refused.status, refused.code()), (409, "passkeys_unavailable"), "{url} {path}");
        }
        assert!(names(&mut owner, PORTAL).await.is_empty());
    }
}

/// The business of the account removes the person, who belongs to another one too.
#[tokio::test]
async fn passkeys_move_with_the_account() {
    let portal = Portal::with_passkeys(&[]).await;
    let mut two = Two::start(&portal, "viewer").await;
    enrol(&portal, &mut two.asha).await;
    let mut device = Device::at(PORTAL.origin);
    assert_eq!(add(&mut two.asha, PORTAL, &mut device, "Laptop").await.status, 201);
    let removed = two.boss.delete(&format!("{USERS}/{}", two.users[0])).await;
    assert_eq!(removed.status, 200, "{removed:?}");
    let mut visitor = portal.half_way(PORTAL, two_businesses::ASHA).await;
    let opened = complete(&mut visitor, PORTAL, &mut device).await;
    assert_eq!((opened.status, &opened.body["userId"]), (200, &json!(two.users[1])), "{opened:?}");
    assert_eq!(names(&mut visitor, PORTAL).await, ["Laptop"]);
    let begun = creation_options(&mut visitor, PORTAL).await;
    assert_eq!(begun["excludeCredentials"].as_array().unwrap().len(), 1, "{begun}");
}
