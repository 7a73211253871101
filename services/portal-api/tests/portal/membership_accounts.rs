//! The password, the address, the name, the second factor and the sessions belong to the person, whichever business is open.

use serde_json::{Value, json};
use test_kit::until;

use crate::authenticator::{FACTOR, MFA_KEY, SECOND_STEP, SESSION, STEP, challenged, code, enrol};
use crate::client::Client;
use crate::mail_folder::MailFolder;
use crate::portal::Portal;
use crate::two_businesses::{ASHA, Two, USERS, actions, go_to, right};

const SESSIONS: &str = "/v1/portal/sessions";
const NEW_PASSWORD: &str = "other horse battery";

async fn with_factors(folder: &MailFolder) -> Portal {
    let path = folder.path();
    Portal::with_factors(&[MFA_KEY, ("WAYBILL_MAIL__TRANSPORT", "folder"), ("WAYBILL_MAIL__FOLDER", path)])
        .await
}

/// The newest entry of an action in the log of the session's business.
async fn newest(client: &mut Client, action: &str) -> Value {
    client.get(&format!("/v1/portal/audit-log?action={action}")).await.body["data"][0].clone()
}

#[tokio::test]
async fn a_new_password_ends_the_sessions_of_all_businesses() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "viewer").await;
    let mut at_home = two.log_in(&portal).await;
    go_to(&portal, &mut at_home, &two.home).await;
    let mut there = two.log_in(&portal).await;
    go_to(&portal, &mut there, &two.ravi.business).await;
    let change = json!({ "currentPassword": "correct horse", "newPassword": NEW_PASSWORD });
    assert_eq!(there.put("/v1/portal/password", change).await.status, 204);
    assert_eq!(there.get(SESSION).await.body["businessId"], two.ravi.business, "it stays in the business");
    for ended in [&mut at_home, &mut two.asha] {
        assert_eq!(ended.get(SESSION).await.status, 401);
    }
    assert_eq!(portal.stranger().post(SESSION, right(ASHA)).await.status, 401);
    let new = json!({ "email": ASHA, "password": NEW_PASSWORD });
    assert_eq!(portal.stranger().post(SESSION, new).await.status, 200);
    for (client, user, address) in [
        (&mut two.boss, &two.users[0], Value::Null),
        (&mut two.ravi.client, &two.users[1], json!("127.0.0.1")),
    ] {
        let entry = newest(client, "password.changed").await;
        assert_eq!(
            (&entry["target"]["id"], &entry["actor"]["userId"]),
            (&json!(user), &json!(user)),
            "{entry}"
        );
        assert_eq!(entry["address"], address, "only where it was done");
    }
}

#[tokio::test]
async fn a_reset_link_of_any_business_is_for_the_account() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut two = Two::start(&portal, "viewer").await;
    let mut at_home = two.log_in(&portal).await;
    go_to(&portal, &mut at_home, &two.home).await;
    let path = format!("/v1/operator/businesses/{}/password-resets", two.ravi.business);
    let issued = portal.operator().post(&path, json!({ "email": ASHA })).await;
    assert_eq!(issued.status, 201, "{issued:?}");
    let told = async |to: &str| {
        until(&format!("{to} is informed"), async || {
            folder.mails().iter().any(|mail| mail.to == to && mail.subject.contains("link"))
        })
        .await;
    };
    for to in [ASHA, "ravi@other.example", "boss@shop.example"] {
        told(to).await;
    }
    let token = issued.body["url"].as_str().unwrap().split("#token=").nth(1).unwrap().to_owned();
    let confirm = json!({ "token": token, "password": NEW_PASSWORD });
    assert_eq!(portal.stranger().post("/v1/portal/password-resets/confirm", confirm).await.status, 204);
    for ended in [&mut at_home, &mut two.asha] {
        assert_eq!(ended.get(SESSION).await.status, 401);
    }
    let new = json!({ "email": ASHA, "password": NEW_PASSWORD });
    assert_eq!(portal.stranger().post(SESSION, new).await.status, 200);
    for client in [&mut two.boss, &mut two.ravi.client] {
        let seen = actions(client).await;
        assert!(seen.contains(&"password.reset".to_owned()), "{seen:?}");
        assert!(seen.contains(&"password.reset_issued".to_owned()), "{seen:?}");
    }
}

#[tokio::test]
async fn the_address_and_the_name_are_the_same_in_all_businesses() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut two = Two::start(&portal, "viewer").await;
    let mut at_home = two.log_in(&portal).await;
    go_to(&portal, &mut at_home, &two.home).await;
    assert_eq!(two.asha.put("/v1/portal/name", json!({ "name": "Asha Rao" })).await.status, 204);
    let new = json!({ "email": "new@shop.example" });
    assert_eq!(two.asha.put("/v1/portal/email", new).await.status, 202);
    go_to(&portal, &mut two.asha, &two.home).await;
    assert_eq!(two.asha.get("/v1/portal/email").await.body["pendingEmail"], "new@shop.example");
    let token = folder.confirmations("new@shop.example", 1).await.remove(0);
    let confirmed = json!({ "token": token });
    let confirmed = two.asha.post("/v1/portal/email-confirmations/confirm", confirmed).await;
    assert_eq!(confirmed.status, 200);
    assert_eq!(
        two.asha.get(SESSION).await.body["email"],
        "new@shop.example",
        "the session that confirms stays"
    );
    assert_eq!(at_home.get(SESSION).await.status, 401, "the others end");
    for client in [&mut two.boss, &mut two.ravi.client] {
        let users = client.get(USERS).await.body["data"].clone();
        let asha = users.as_array().unwrap().iter().find(|user| user["email"] == "new@shop.example");
        let asha = asha.unwrap_or_else(|| panic!("{users}"));
        assert_eq!((&asha["name"], &asha["emailVerified"]), (&json!("Asha Rao"), &json!(true)));
        assert_eq!(newest(client, "user.email_changed").await["details"]["to"], "new@shop.example");
    }
    let mut again = portal.stranger();
    assert_eq!(again.post(SESSION, right("new@shop.example")).await.status, 200);
    assert_eq!(portal.stranger().post(SESSION, right(ASHA)).await.status, 401);
    let other = portal.newcomer(ASHA).await.client.get(SESSION).await;
    assert_eq!(other.body["memberships"].as_array().unwrap().len(), 1, "the old address is free");
}

#[tokio::test]
async fn a_person_has_one_second_factor() {
    let folder = MailFolder::new();
    let portal = with_factors(&folder).await;
    let mut two = Two::start(&portal, "viewer").await;
    let mut at_home = two.log_in(&portal).await;
    go_to(&portal, &mut at_home, &two.home).await;
    let enrolled = enrol(&portal, &mut two.asha).await;
    assert_eq!(at_home.get(FACTOR).await.body["enrolled"], true);
    for (client, user) in [(&mut two.boss, &two.users[0]), (&mut two.ravi.client, &two.users[1])] {
        let users = client.get(USERS).await.body["data"].clone();
        let asha = users.as_array().unwrap().iter().find(|one| one["id"] == **user).unwrap().clone();
        assert_eq!(asha["secondFactor"], true, "{asha}");
        let reset = client.delete(&format!("{USERS}/{user}/second-factor")).await;
        assert_eq!(
            (reset.status, reset.code()),
            (409, "second_factor_shared"),
            "it protects the other business"
        );
    }
    let mut login = challenged(&portal, ASHA).await;
    assert_eq!(login.post(SECOND_STEP, code(&enrolled.app.now(&portal.clock))).await.status, 200);
    let codes = at_home.press(&format!("{FACTOR}/recovery-codes")).await;
    assert_eq!(codes.status, 200, "{codes:?}");
    let recovery = codes.body["recoveryCodes"][0].as_str().unwrap();
    let mut login = challenged(&portal, ASHA).await;
    assert_eq!(login.post(SECOND_STEP, code(&enrolled.recovery_codes[0])).await.status, 422, "replaced");
    assert_eq!(login.post(SECOND_STEP, code(recovery)).await.status, 200);
    portal.clock.advance(STEP);

    let path = format!("/v1/operator/businesses/{}/users/{}/second-factor", two.ravi.business, two.users[1]);
    assert_eq!(portal.operator().delete(&path).await.status, 204);
    for ended in [&mut at_home, &mut two.asha, &mut login] {
        assert_eq!(ended.get(SESSION).await.status, 401, "in all businesses");
    }
    assert_eq!(two.log_in(&portal).await.get(FACTOR).await.body["enrolled"], false);
    for client in [&mut two.boss, &mut two.ravi.client] {
        for action in
            ["second_factor.enrolled", "second_factor.recovery_codes_created", "second_factor.reset"]
        {
            assert_eq!(newest(client, action).await["action"], action);
        }
    }
}

#[tokio::test]
async fn the_own_sessions_are_those_of_all_businesses() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut two = Two::start(&portal, "viewer").await;
    let mut at_home = two.log_in(&portal).await;
    go_to(&portal, &mut at_home, &two.home).await;
    two.ravi.client.put("/v1/portal/business", json!({ "businessName": "Ravi Traders" })).await;
    let listed = two.asha.get(SESSIONS).await.body["data"].clone();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["businessName"].clone()).collect();
    assert_eq!(names, ["Corner Shop", "Ravi Traders"], "{listed}");
    let id = listed[0]["id"].as_str().unwrap();
    let foreign = two.ravi.client.delete(&format!("{SESSIONS}/{id}")).await;
    assert_eq!(foreign.code(), "session_not_found");
    assert_eq!(two.asha.delete(&format!("{SESSIONS}/{id}")).await.status, 204);
    assert_eq!(at_home.get(SESSION).await.status, 401);
    let mut at_home = two.log_in(&portal).await;
    go_to(&portal, &mut at_home, &two.home).await;
    let mut there = two.log_in(&portal).await;
    go_to(&portal, &mut there, &two.ravi.business).await;
    let others = two.asha.press(&format!("{SESSIONS}/revoke-others")).await.body;
    assert_eq!(others, json!({ "revoked": 2 }), "at home and there");
    for (client, status) in [(&mut at_home, 401), (&mut there, 401), (&mut two.asha, 200)] {
        assert_eq!(client.get(SESSION).await.status, status);
    }
    // One mail for each new browser, whichever business is open.
    let warnings = |mails: Vec<crate::mail_folder::Mail>| {
        mails.iter().filter(|mail| mail.to == ASHA && mail.subject.starts_with("New login")).count()
    };
    until("the log-ins are mailed", async || warnings(folder.mails()) >= 3).await;
    assert_eq!(warnings(folder.mails()), 3);
}

#[tokio::test]
async fn wrong_passwords_are_counted_and_recorded_once_for_all_businesses() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "viewer").await;
    let wrong = json!({ "email": ASHA, "password": "wrong" });
    for _ in 0..10 {
        assert_eq!(portal.stranger().post(SESSION, wrong.clone()).await.status, 401);
    }
    assert_eq!(portal.stranger().post(SESSION, right(ASHA)).await.code(), "too_many_log_ins");
    for (client, user) in [(&mut two.boss, &two.users[0]), (&mut two.ravi.client, &two.users[1])] {
        until("the failures are recorded", async || {
            let log = client.clone().get("/v1/portal/audit-log?action=session.failed").await.body;
            log["data"].as_array().unwrap().len() == 10 && log["data"][0]["target"]["id"] == **user
        })
        .await;
    }
}

/// A thief may have requested it.
#[tokio::test]
async fn a_removal_ends_the_changes_of_the_address_that_were_requested_in_the_business() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut two = Two::start(&portal, "viewer").await;
    let requested = two.asha.put("/v1/portal/email", json!({ "email": "thief@evil.example" })).await;
    assert_eq!(requested.status, 202, "{requested:?}");
    let token = folder.confirmations("thief@evil.example", 1).await.remove(0);
    let removed = two.ravi.client.delete(&format!("{USERS}/{}", two.users[1])).await;
    assert_eq!(removed.status, 200, "{removed:?}");
    let path = "/v1/portal/email-confirmations/confirm";
    let refused = two.log_in(&portal).await.post(path, json!({ "token": token })).await;
    assert_eq!((refused.status, refused.code()), (422, "confirmation_invalid"), "{refused:?}");
}
