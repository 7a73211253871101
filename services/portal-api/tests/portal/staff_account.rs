//! The own account of a person of the staff: mails about changes, the name, and the identity at the provider.

use serde_json::{Value, json};
use test_kit::until;

use crate::authenticator::{MFA_KEY, STEP, code, enrol_at};
use crate::client::Client;
use crate::identity_provider::{IdentityProvider, Key, START, Visit, come_back, log_in};
use crate::mail_folder::MailFolder;
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{SESSION, STAFF, person};

const FACTOR: &str = "/v1/operator/second-factor";
const NAME: &str = "/v1/operator/name";
const EMAIL: &str = "asha@carrier.example";

/// Waits for a mail to the person with this subject.
async fn mailed(folder: &MailFolder, subject: &str) -> String {
    let found =
        || folder.mails().into_iter().rev().find(|mail| mail.to == EMAIL && mail.subject.contains(subject));
    until(&format!("the mail “{subject}” arrives"), async || found().is_some()).await;
    found().unwrap().text
}

#[tokio::test]
async fn a_person_gets_a_mail_when_their_factor_password_or_role_changes() {
    let folder = MailFolder::new();
    let portal = Portal::with_factors(&[
        ("WAYBILL_MAIL__TRANSPORT", "folder"),
        ("WAYBILL_MAIL__FOLDER", folder.path()),
    ])
    .await;
    let (mut asha, id) = person(&portal, EMAIL, "viewer").await;
    let enrolled = enrol_at(&portal, &mut asha, FACTOR).await;
    let text = mailed(&folder, "Two-factor authentication of your Waybill account is on").await;
    assert!(text.contains("inform an administrator") && text.contains("/operator/account"), "{text}");
    assert!(!text.contains("your business"), "{text}");
    assert_eq!(folder.mails().len(), 1, "the first password and the first log-in send none");
    assert_eq!(asha.press(&format!("{FACTOR}/recovery-codes")).await.status, 200);
    mailed(&folder, "has new recovery codes").await;
    let change = json!({ "currentPassword": "battery staple", "newPassword": "other horse battery" });
    assert_eq!(asha.put("/v1/operator/password", change).await.status, 204);
    let text = mailed(&folder, "Your Waybill password was changed").await;
    assert!(text.contains("inform an administrator") && !text.contains("reset-password"), "{text}");
    let role = portal.operator().patch(&format!("{STAFF}/{id}"), json!({ "role": "finance" })).await;
    assert_eq!(role.status, 200);
    let text = mailed(&folder, "Your role").await;
    assert!(text.contains("viewer") && text.contains("finance"), "{text}");

    portal.clock.advance(STEP);
    let mut elsewhere = portal.stranger();
    let right = json!({ "email": EMAIL, "password": "other horse battery" });
    assert_eq!(elsewhere.post(SESSION, right).await.status, 202);
    let old = elsewhere.post(&format!("{SESSION}/second-factor"), code(&enrolled.recovery_codes[0])).await;
    assert_eq!(old.status, 422, "{old:?}");
    assert_eq!(portal.operator().delete(&format!("{STAFF}/{id}/second-factor")).await.status, 204);
    let text = mailed(&folder, "was reset").await;
    assert!(text.contains("an administrator turned it off"), "{text}");
    let link = portal.operator().press(&format!("{STAFF}/{id}/password-link")).await;
    let token = link.body["url"].as_str().unwrap().split("token=").nth(1).unwrap().to_owned();
    let before = folder.mails().len();
    let used = json!({ "token": token, "password": "third horse battery" });
    assert_eq!(portal.stranger().post("/v1/operator/password-links/use", used).await.status, 204);
    until("the new password is mailed", async || folder.mails().len() > before).await;
    assert!(
        folder.mails().iter().all(|mail| !mail.text.contains("token=")),
        "no mail to the staff has a link that grants access"
    );
}

#[tokio::test]
async fn a_used_recovery_code_and_a_removed_factor_are_mailed_too() {
    let folder = MailFolder::new();
    let portal = Portal::with_factors(&[
        ("WAYBILL_MAIL__TRANSPORT", "folder"),
        ("WAYBILL_MAIL__FOLDER", folder.path()),
    ])
    .await;
    let (mut asha, _) = person(&portal, EMAIL, "viewer").await;
    let enrolled = enrol_at(&portal, &mut asha, FACTOR).await;
    let mut elsewhere = portal.stranger();
    let right = json!({ "email": EMAIL, "password": "battery staple" });
    assert_eq!(elsewhere.post(SESSION, right).await.status, 202);
    let step = code(&enrolled.recovery_codes[0]);
    assert_eq!(elsewhere.post(&format!("{SESSION}/second-factor"), step).await.status, 200);
    mailed(&folder, "A recovery code of your").await;
    assert_eq!(asha.delete(FACTOR).await.status, 204);
    mailed(&folder, "account is off").await;
}

#[tokio::test]
async fn a_person_changes_their_own_name() {
    let portal = Portal::start().await;
    let (mut asha, id) = person(&portal, EMAIL, "viewer").await;
    assert_eq!(asha.get(SESSION).await.body["displayName"], "Asha Rao");
    for (body, fields) in [
        (json!({}), vec!["name"]),
        (json!({ "name": " " }), vec!["name"]),
        (json!({ "name": null }), vec!["name"]),
        (json!({ "name": "x".repeat(121) }), vec!["name"]),
        (json!({ "name": "Asha\u{202e}" }), vec!["name"]),
        (json!({ "name": "Asha", "role": "administrator" }), vec!["role"]),
    ] {
        let refused = asha.put(NAME, body.clone()).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, fields), "{body}");
    }
    for _ in 0..2 {
        assert_eq!(asha.put(NAME, json!({ "name": "Asha Iyer" })).await.status, 204);
    }
    assert_eq!(asha.get(SESSION).await.body["displayName"], "Asha Iyer");
    assert_eq!(portal.operator().get(STAFF).await.body["data"][0]["name"], "Asha Iyer");
    let log = "/v1/operator/audit-log?action=staff.name_changed";
    let entries = portal.operator().get(log).await.body["data"].clone();
    assert_eq!(entries.as_array().unwrap().len(), 1, "what changes nothing is no act: {entries}");
    assert_eq!(entries[0]["details"], json!({ "from": "Asha Rao", "to": "Asha Iyer" }));
    assert_eq!((&entries[0]["actor"]["id"], &entries[0]["target"]["id"]), (&json!(id), &json!(id)));
    let mut console = portal.stranger();
    console.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!(console.put(NAME, json!({ "name": "x" })).await.code(), "account_required");
    assert_eq!(console.get(SESSION).await.body["displayName"], Value::Null);
    assert_eq!(portal.stranger().put(NAME, json!({ "name": "x" })).await.status, 401);
}

async fn linked(
    portal: &Portal,
    at: (&IdentityProvider, &Key),
    email: &str,
    subject: &str,
) -> (Client, String) {
    let (mut client, id) = person(portal, email, "administrator").await;
    let visit = Visit::of(&client.post(START, json!({ "purpose": "link" })).await);
    at.0.issue(&at.1.sign(&at.0.claims(portal, &visit, &json!({ "sub": subject }))));
    assert_eq!(come_back(&mut client, &visit).await.status, 204);
    (client, id)
}

#[tokio::test]
async fn an_administrator_unlinks_an_identity_and_the_sessions_of_it_end() {
    let key = Key::new("key-1", 1);
    let provider = IdentityProvider::start(&key);
    let more = [MFA_KEY, ("WAYBILL_MFA__RECENT_MINUTES", "15")];
    let portal = Portal::with_provider(&provider, &more).await;
    let at = (&provider, &key);
    let (mut asha, id) = linked(&portal, at, EMAIL, "person-1").await;
    let (mut boss, bosses) = person(&portal, "boss@carrier.example", "administrator").await;
    let (mut viewer, _) = person(&portal, "viewer@carrier.example", "viewer").await;
    let mut by_provider = portal.stranger();
    assert_eq!(log_in(&portal, at, &mut by_provider, &json!({})).await.status, 200);
    let path = format!("{STAFF}/{id}/identity");
    assert_eq!(viewer.delete(&path).await.code(), "permission_missing");
    portal.clock.advance(chrono::TimeDelta::minutes(16));
    assert_eq!(boss.delete(&path).await.code(), "recent_authentication_required");
    let mut boss_again = crate::staff::log_in(&portal, "boss@carrier.example").await;
    assert_eq!(boss_again.delete(&path).await.status, 204);
    assert_eq!(by_provider.get(SESSION).await.status, 401);
    assert_eq!(asha.get(SESSION).await.status, 200, "the session of the password stays");
    assert_eq!(boss_again.delete(&path).await.code(), "identity_not_found");
    for unknown in [&bosses, "x", "stf_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        assert_eq!(boss_again.delete(&format!("{STAFF}/{unknown}/identity")).await.status, 404, "{unknown}");
    }
    let log = "/v1/operator/audit-log?action=staff.identity_unlinked";
    let entries = portal.operator().get(log).await.body["data"].clone();
    assert_eq!((entries.as_array().unwrap().len(), &entries[0]["target"]["id"]), (1, &json!(id)));
    assert_eq!(entries[0]["details"], json!({ "sessions": 1 }));
    // The password counts again, and the provider's person is a stranger.
    crate::staff::log_in(&portal, EMAIL).await;
    let refused = log_in(&portal, at, &mut by_provider, &json!({ "email": EMAIL })).await;
    assert_eq!(refused.code(), "sso_account_exists", "{refused:?}");
}

#[tokio::test]
async fn the_last_administrator_keeps_the_only_way_in() {
    let key = Key::new("key-1", 1);
    let provider = IdentityProvider::start(&key);
    let portal = Portal::with_provider(&provider, &[]).await;
    let opened = log_in(&portal, (&provider, &key), &mut portal.stranger(), &json!({})).await;
    let path = format!("{STAFF}/{}/identity", opened.body["id"].as_str().unwrap());
    let refused = portal.operator().delete(&path).await;
    assert_eq!((refused.status, refused.code()), (409, "last_administrator"), "{refused:?}");
    person(&portal, "ravi@carrier.example", "administrator").await;
    assert_eq!(portal.operator().delete(&path).await.status, 204);
}
