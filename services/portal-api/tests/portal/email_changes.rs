//! Users change their e-mail address.

use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::authenticator::{MFA_KEY, enrol};
use crate::client::{Answer, Client};
use crate::mail_folder::MailFolder;
use crate::portal::{Portal, sign_up_body};

const EMAIL: &str = "/v1/portal/email";
const CONFIRM: &str = "/v1/portal/email-confirmations/confirm";
const RESETS: &str = "/v1/portal/password-resets";
const SESSION: &str = "/v1/portal/session";
const OLD: &str = "owner@shop.example";
const NEW: &str = "asha@shop.example";

fn log_in(email: &str) -> Value {
    json!({ "email": email, "password": "correct horse" })
}

async fn change(client: &mut Client, email: &str) -> Answer {
    client.put(EMAIL, json!({ "email": email })).await
}

async fn confirm(client: &mut Client, token: &str) -> (u16, String) {
    let answer = client.post(CONFIRM, json!({ "token": token })).await;
    (answer.status, answer.code().to_owned())
}

fn refused() -> (u16, String) {
    (422, "confirmation_invalid".to_owned())
}

#[tokio::test]
async fn the_link_in_the_new_inbox_makes_the_change_and_ends_what_belongs_to_the_old_address() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner(OLD).await.client;
    let of_sign_up = folder.confirmations(OLD, 1).await.remove(0);
    let mut elsewhere = portal.stranger();
    assert_eq!(elsewhere.post(SESSION, log_in(OLD)).await.status, 200);
    portal.stranger().post(RESETS, json!({ "email": OLD })).await;
    // The first mail is about the log-in elsewhere.
    let reset = folder.wait_for(2).await[1].token();

    let requested = change(&mut owner, NEW).await;
    assert_eq!((requested.status, &requested.body["email"]), (202, &json!(OLD)), "{requested:?}");
    assert_eq!((&requested.body["pendingEmail"], &requested.body["verified"]), (&json!(NEW), &json!(true)));
    assert_eq!(owner.get(EMAIL).await.body, requested.body);
    assert_eq!(portal.stranger().post(SESSION, log_in(NEW)).await.status, 401, "not yet");
    let token = folder.confirmations(NEW, 1).await.remove(0);
    for _ in 0..2 {
        assert_eq!(confirm(&mut owner, &token).await, (200, String::new()));
    }
    let state = owner.get(EMAIL).await.body;
    assert_eq!(state, json!({ "email": NEW, "verified": true, "pendingEmail": null, "pendingUntil": null }));
    assert_eq!(owner.get(SESSION).await.body["email"], NEW, "the session that asked stays");
    assert_eq!(elsewhere.get(SESSION).await.status, 401, "the others end");
    assert_eq!(portal.stranger().post(SESSION, log_in(NEW)).await.status, 200);
    assert_eq!(portal.stranger().post(SESSION, log_in(OLD)).await.status, 401);
    assert_eq!(confirm(&mut owner, &of_sign_up).await, refused());
    let look_up = portal.stranger().post(&format!("{RESETS}/look-up"), json!({ "token": reset })).await;
    assert_eq!(look_up.code(), "reset_link_invalid");

    let notice = folder.wait_for(5).await.remove(4);
    assert_eq!(
        (notice.to.as_str(), notice.subject.as_str()),
        (OLD, "The e-mail address of your Waybill account was changed")
    );
    assert!(!notice.text.contains(NEW) && !notice.text.contains("token="), "{}", notice.text);
    let log = owner.get("/v1/portal/audit-log?action=user.email_changed").await.body["data"].clone();
    assert_eq!(log[0]["details"], json!({ "from": OLD, "to": NEW, "verified": true }), "{log}");
    let asked = owner.get("/v1/portal/audit-log?action=user.email_change_requested").await.body;
    assert_eq!(asked["data"][0]["details"], json!({ "to": NEW }));
}

/// Otherwise the owner of the account would learn of a thief's request only when it is too late.
#[tokio::test]
async fn the_present_address_hears_of_a_requested_change_at_once() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner(OLD).await.client;
    portal.owner("taken@other.example").await;
    for (number, to) in [NEW, "taken@other.example"].into_iter().enumerate() {
        assert_eq!(change(&mut owner, to).await.status, 202, "{to}");
        let told = || {
            let mut mails = folder.mails();
            mails.retain(|mail| mail.to == OLD && mail.subject.contains("change of the e-mail address"));
            mails
        };
        test_kit::until("the present address is informed", async || told().len() > number).await;
        let mail = told().pop().unwrap();
        assert!(mail.text.contains("15 January 2027") && mail.text.contains("/account"), "{}", mail.text);
        for advice in ["end all other sessions", "change your password"] {
            assert!(mail.text.contains(advice), "{advice}: {}", mail.text);
        }
        assert!(!mail.text.contains(to) && !mail.text.contains("token="), "{}", mail.text);
    }

    // Nothing is sent to an address that nobody has confirmed.
    let mut newcomer = portal.newcomer("new@shop.example").await.client;
    assert_eq!(change(&mut newcomer, "newer@shop.example").await.status, 202);
    folder.confirmations("newer@shop.example", 1).await;
    assert!(folder.mails().iter().all(|mail| mail.to != "new@shop.example"), "{:?}", folder.mails());
}

#[tokio::test]
async fn an_address_that_another_account_has_looks_like_any_other() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner(OLD).await.client;
    let free = change(&mut owner, NEW).await;
    let token = folder.confirmations(NEW, 1).await.remove(0);
    portal.owner("taken@other.example").await;
    let taken = change(&mut owner, "Taken@other.example").await;
    assert_eq!(taken.status, free.status);
    assert_eq!(taken.body["pendingEmail"], "Taken@other.example");
    assert_eq!(taken.body["verified"], free.body["verified"]);

    // Replaced by the later request, asked for again, and taken by somebody else before the link is opened.
    assert_eq!(confirm(&mut owner, &token).await, refused());
    assert_eq!(change(&mut owner, NEW).await.status, 202);
    let token = folder.confirmations(NEW, 2).await.remove(1);
    portal.newcomer(NEW).await;
    assert_eq!(confirm(&mut owner, &token).await, (409, "email_taken".to_owned()));
    assert_eq!(owner.get(SESSION).await.body["email"], OLD);
    folder.confirmations(NEW, 3).await;
    let to_taken =
        folder.all().iter().filter(|mail| mail.to.eq_ignore_ascii_case("taken@other.example")).count();
    assert_eq!(to_taken, 1, "of its own sign-up only");
}

#[tokio::test]
async fn the_present_address_withdraws_a_request() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner(OLD).await.client;
    change(&mut owner, NEW).await;
    let token = folder.confirmations(NEW, 1).await.remove(0);
    let withdrawn = change(&mut owner, "OWNER@shop.example").await;
    assert_eq!((withdrawn.status, &withdrawn.body["pendingEmail"]), (200, &Value::Null), "{withdrawn:?}");
    assert_eq!(withdrawn.body["email"], OLD);
    assert_eq!(confirm(&mut owner, &token).await, refused());
}

/// A thief of the password may have requested a change, whose link would survive the victim's new password.
#[tokio::test]
async fn a_new_password_and_a_reset_factor_end_requested_changes() {
    let folder = MailFolder::new();
    let mails = [("WAYBILL_MAIL__TRANSPORT", "folder"), ("WAYBILL_MAIL__FOLDER", folder.path()), MFA_KEY];
    let portal = Portal::with(&mails).await;
    let mut owner = portal.owner(OLD).await.client;
    change(&mut owner, "one@evil.example").await;
    let body = json!({ "currentPassword": "correct horse", "newPassword": "battery staple" });
    assert_eq!(owner.put("/v1/portal/password", body).await.status, 204);
    let token = folder.confirmations("one@evil.example", 1).await.remove(0);
    assert_eq!(confirm(&mut owner, &token).await, refused());

    change(&mut owner, "two@evil.example").await;
    portal.stranger().post(RESETS, json!({ "email": OLD })).await;
    let reset = async || folder.mails().into_iter().find(|mail| mail.subject.starts_with("Reset your"));
    test_kit::until("the reset link arrives", async || reset().await.is_some()).await;
    let body = json!({ "token": reset().await.unwrap().token(), "password": "correct horse" });
    assert_eq!(portal.stranger().post(&format!("{RESETS}/confirm"), body).await.status, 204);
    let token = folder.confirmations("two@evil.example", 1).await.remove(0);
    let opened = owner.post(SESSION, log_in(OLD)).await;
    assert_eq!(confirm(&mut owner, &token).await, refused());

    let (business, user) =
        (opened.body["businessId"].as_str().unwrap(), opened.body["userId"].as_str().unwrap());
    enrol(&portal, &mut owner).await;
    change(&mut owner, "three@evil.example").await;
    let path = format!("/v1/operator/businesses/{business}/users/{user}/second-factor");
    assert_eq!(portal.operator().delete(&path).await.status, 204);
    let token = folder.confirmations("three@evil.example", 1).await.remove(0);
    assert_eq!(owner.post(SESSION, log_in(OLD)).await.status, 200);
    assert_eq!(confirm(&mut owner, &token).await, refused());
}

/// The thief of a session may have requested a change, whose link would survive the end of that session.
#[tokio::test]
async fn ended_sessions_end_the_changes_that_they_requested() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner(OLD).await.client;
    let ends = ["one", "others", "own"];
    for end in ends {
        let evil = format!("{end}@evil.example");
        let mut thief = portal.stranger();
        assert_eq!(thief.post(SESSION, log_in(OLD)).await.status, 200);
        change(&mut thief, &evil).await;
        match end {
            "one" => {
                let sessions = owner.get("/v1/portal/sessions").await.body["data"].clone();
                let sessions = sessions.as_array().unwrap();
                let other = sessions.iter().find(|session| session["current"] == false).unwrap();
                let path = format!("/v1/portal/sessions/{}", other["id"].as_str().unwrap());
                assert_eq!(owner.delete(&path).await.status, 204);
            }
            "others" => assert_eq!(owner.press("/v1/portal/sessions/revoke-others").await.status, 200),
            _ => assert_eq!(thief.delete(SESSION).await.status, 204),
        }
        let token = folder.confirmations(&evil, 1).await.remove(0);
        let expected = if end == "own" { (200, String::new()) } else { refused() };
        assert_eq!(confirm(&mut owner, &token).await, expected, "{end}");
    }
}

#[tokio::test]
async fn an_owner_who_ends_the_sessions_of_a_user_ends_their_requested_changes() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner(OLD).await;
    let mut asha = portal.member(&mut owner, "asha@shop.example", "viewer").await;
    assert_eq!(change(&mut asha, "thief@evil.example").await.status, 202);
    let token = folder.confirmations("thief@evil.example", 1).await.remove(0);
    let users = owner.client.get("/v1/portal/users").await.body["data"].clone();
    let id = users.as_array().unwrap().iter().find(|one| one["email"] == "asha@shop.example").unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let ended = owner.client.delete(&format!("/v1/portal/users/{id}/sessions")).await;
    assert_eq!(ended.body["revoked"], 1, "{ended:?}");
    let again = json!({ "email": "asha@shop.example", "password": "battery staple" });
    assert_eq!(asha.post(SESSION, again).await.status, 200);
    assert_eq!(confirm(&mut asha, &token).await, refused());
}

#[tokio::test]
async fn without_mails_the_address_changes_at_once_and_is_unverified() {
    let portal = Portal::start().await;
    let mut owner = portal.owner(OLD).await.client;
    portal.owner("taken@other.example").await;
    let mut elsewhere = portal.stranger();
    assert_eq!(elsewhere.post(SESSION, log_in(OLD)).await.status, 200);
    let taken = change(&mut owner, "TAKEN@other.example").await;
    assert_eq!((taken.status, taken.code()), (409, "email_taken"));
    let changed = change(&mut owner, NEW).await;
    assert_eq!((changed.status, &changed.body["email"]), (200, &json!(NEW)), "{changed:?}");
    assert_eq!((&changed.body["verified"], &changed.body["pendingEmail"]), (&json!(false), &Value::Null));
    assert_eq!(owner.get(SESSION).await.body["email"], NEW);
    assert_eq!(elsewhere.get(SESSION).await.status, 401);
    assert_eq!(portal.stranger().post(SESSION, log_in(NEW)).await.status, 200);
    let again = portal.stranger().post("/v1/portal/accounts", sign_up_body(OLD)).await;
    assert_eq!(again.status, 201, "the old one is free");
    let log = owner.get("/v1/portal/audit-log?action=user.email_changed").await.body;
    assert_eq!(log["data"][0]["details"]["verified"], false);
}

/// A reset link that was requested while the address changed.
#[tokio::test]
async fn a_reset_link_works_only_for_the_address_that_it_was_mailed_to() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    portal.newcomer(OLD).await;
    portal.stranger().post(RESETS, json!({ "email": OLD })).await;
    let token = folder.wait_for(1).await[0].token();
    let change = format!("UPDATE accounts SET email = '{NEW}', email_key = '{NEW}'");
    portal.connect().await.batch_execute(&change).await.unwrap();
    let body = json!({ "token": token, "password": "battery staple" });
    let reset = portal.stranger().post(&format!("{RESETS}/confirm"), body).await;
    assert_eq!((reset.status, reset.code()), (422, "reset_link_invalid"));
    assert_eq!(portal.stranger().post(SESSION, log_in(NEW)).await.body["emailVerified"], false);
}

#[tokio::test]
async fn of_two_links_to_different_accounts_one_gets_the_address() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut one = portal.owner(OLD).await.client;
    let mut other = portal.owner("owner@other.example").await.client;
    for client in [&mut one, &mut other] {
        assert_eq!(change(client, NEW).await.status, 202);
    }
    let tokens = folder.confirmations(NEW, 2).await;
    let (first, second) = tokio::join!(confirm(&mut one, &tokens[0]), confirm(&mut other, &tokens[1]));
    let mut statuses = [first.0, second.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{first:?} {second:?}");
}

/// Without mails a change is made at once, and says if another account has the address. Its limits bound what a user learns.
#[tokio::test]
async fn without_mails_tries_of_taken_addresses_are_counted() {
    let portal = Portal::start().await;
    let mut owner = portal.owner(OLD).await.client;
    let taken: Vec<String> = (0..11).map(|number| format!("{number}@other.example")).collect();
    for email in &taken {
        portal.owner(email).await;
    }
    for email in &taken[..10] {
        let refused = change(&mut owner, email).await;
        assert_eq!((refused.status, refused.code()), (409, "email_taken"), "{email}: {refused:?}");
    }
    for email in [taken[10].as_str(), NEW] {
        let refused = change(&mut owner, email).await;
        assert_eq!((refused.status, refused.code()), (429, "too_many_confirmations"), "{email}: {refused:?}");
    }
    assert_eq!(owner.get(EMAIL).await.body["email"], OLD);
}
