//! Confirmations at the identity provider of a business, and the access that people lose there.

use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};
use test_kit::until;

use crate::authenticator::SESSION;
use crate::business_sso::{SETTINGS, START, Scene, USERS, changed, come_back, settings};
use crate::identity_provider::Visit;
use crate::mail_folder::MailFolder;

const EMAIL: &str = "/v1/portal/email";
const CONFIRM: &str = "/v1/portal/email-confirmations/confirm";

#[tokio::test]
async fn lost_access_is_an_entry_at_a_log_in_and_at_a_confirmation() {
    let mut scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    let none = json!({ "groups": [] });
    for number in 1..=2 {
        let opened = scene.log_in(&mut browser, &json!({})).await;
        let user = opened.body["userId"].clone();
        let refused = if number == 1 {
            scene.log_in(&mut scene.portal.stranger(), &none).await
        } else {
            let visit = Visit::of(&browser.post(START, json!({ "purpose": "confirm" })).await);
            scene.come_back(&mut browser, &visit, &none).await
        };
        assert_eq!((refused.status, refused.code()), (403, "sso_no_role"), "{refused:?}");
        assert_eq!(browser.get(SESSION).await.status, 401);
        let lost = scene.entries("session.revoked").await;
        assert_eq!(lost.len(), number, "{lost:?}");
        assert_eq!(lost[0]["details"], json!({ "singleSignOn": "no_role", "sessions": 1 }));
        assert_eq!((&lost[0]["actor"]["userId"], &lost[0]["target"]["id"]), (&user, &user));
        assert_eq!(lost[0]["address"], "127.0.0.1");
    }
}

/// An owner removes the groups while the provider authenticates the person.
#[tokio::test]
async fn a_confirmation_uses_the_settings_at_its_end() {
    let mut scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    scene.log_in(&mut browser, &json!({})).await;
    let visit = Visit::of(&browser.post(START, json!({ "purpose": "confirm" })).await);
    scene.provider.issue(&scene.token(&visit, &json!({})));
    let before = scene.provider.asked("/token").len();
    let hold = scene.provider.hold_tokens();
    let (business, provider) = (scene.owner.business.clone(), scene.provider.clone());
    let mut returning = browser.clone();
    let (refused, ()) = tokio::join!(come_back(&mut returning, &business, &visit), async {
        until("the code is redeemed", async || provider.asked("/token").len() > before).await;
        let without =
            changed(&settings(&provider), &json!({ "groupRoles": [{ "group": "chiefs", "role": "owner" }] }));
        let put = scene.owner.client.put(SETTINGS, without).await;
        assert_eq!(put.status, 200, "{put:?}");
        hold.notify_one();
    });
    assert_eq!((refused.status, refused.code()), (403, "sso_no_role"), "{refused:?}");
    assert_eq!(browser.get(SESSION).await.status, 401);
    assert!(scene.entries("session.confirmed").await.is_empty());
}

/// A thief of the session may have requested it.
#[tokio::test]
async fn a_session_whose_password_is_refused_loses_its_requested_change_of_the_address() {
    let folder = MailFolder::new();
    let mails = [("WAYBILL_MAIL__TRANSPORT", "folder"), ("WAYBILL_MAIL__FOLDER", folder.path())];
    let mut scene = Scene::with(&mails).await;
    let mut binu = scene.portal.member(&mut scene.owner, "binu@shop.example", "owner").await;
    let id = binu.get(SESSION).await.body["userId"].as_str().unwrap().to_owned();
    scene.put(&json!({ "required": true })).await;
    let requested = binu.put(EMAIL, json!({ "email": "thief@evil.example" })).await;
    assert_eq!(requested.status, 202, "{requested:?}");
    let token = folder.confirmations("thief@evil.example", 1).await.remove(0);
    let role = scene.owner.client.patch(&format!("{USERS}/{id}"), json!({ "role": "developer" })).await;
    assert_eq!(role.status, 200, "{role:?}");
    assert_eq!(binu.get(SESSION).await.status, 401, "an owner no more");
    let confirmed = scene.owner.client.post(CONFIRM, json!({ "token": token })).await;
    assert_eq!((confirmed.status, confirmed.code()), (422, "confirmation_invalid"), "{confirmed:?}");

    // A session that the change of the setting has not ended.
    scene.put(&json!({ "required": false })).await;
    let mut ravi = scene.portal.member(&mut scene.owner, "ravi@shop.example", "viewer").await;
    let requested = ravi.put(EMAIL, json!({ "email": "second@evil.example" })).await;
    assert_eq!(requested.status, 202, "{requested:?}");
    let token = folder.confirmations("second@evil.example", 1).await.remove(0);
    let require = "UPDATE business_sso SET required = true";
    scene.portal.connect().await.batch_execute(require).await.unwrap();
    assert_eq!(ravi.get(SESSION).await.status, 401);
    let confirmed = scene.owner.client.post(CONFIRM, json!({ "token": token })).await;
    assert_eq!((confirmed.status, confirmed.code()), (422, "confirmation_invalid"), "{confirmed:?}");
    let state: Value = scene.owner.client.get(EMAIL).await.body;
    assert_eq!(state["pendingEmail"], Value::Null);
}
