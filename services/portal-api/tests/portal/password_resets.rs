//! Password resets with a mailed link, or one that the operator passes on.

use chrono::TimeDelta;
use serde_json::{Value, json};
use test_kit::until;

use crate::client::{Answer, Client};
use crate::mail_folder::MailFolder;
use crate::portal::{OPERATOR_TOKEN, Portal};

const RESETS: &str = "/v1/portal/password-resets";
const CONFIRM: &str = "/v1/portal/password-resets/confirm";
const LOOK_UP: &str = "/v1/portal/password-resets/look-up";
const SESSION: &str = "/v1/portal/session";

async fn ask(client: &mut Client, email: &str) -> Answer {
    client.post(RESETS, json!({ "email": email })).await
}

fn confirm(token: &str, password: &str) -> Value {
    json!({ "token": token, "password": password })
}

async fn log_in(client: &mut Client, password: &str) -> u16 {
    client.post(SESSION, json!({ "email": "owner@shop.example", "password": password })).await.status
}

#[tokio::test]
async fn a_mailed_link_sets_a_password_once_and_ends_every_session() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    for _ in 0..10 {
        assert_eq!(log_in(&mut portal.stranger(), "forgotten").await, 401);
    }
    assert_eq!(ask(&mut portal.stranger(), "OWNER@shop.example").await.status, 202);
    let mail = folder.wait_for(1).await.remove(0);
    assert_eq!(
        (mail.to.as_str(), mail.subject.as_str()),
        ("owner@shop.example", "Reset your Waybill password")
    );
    let token = mail.token();
    assert!(mail.text.contains(&format!("http://portal.test/reset-password#token={token}")), "{}", mail.text);

    let mut visitor = portal.stranger();
    let short = visitor.post(CONFIRM, confirm(&token, "short")).await;
    assert_eq!((short.status, short.invalid_fields()), (400, vec!["password"]), "it is not used up");
    let reset = visitor.post(CONFIRM, confirm(&token, "battery staple")).await;
    assert_eq!((reset.status, reset.header("set-cookie")), (204, ""), "{reset:?}");
    assert_eq!(owner.get(SESSION).await.status, 401);
    assert_eq!(
        log_in(&mut portal.stranger(), "battery staple").await,
        200,
        "what failed before is forgotten"
    );
    let again = visitor.post(CONFIRM, confirm(&token, "another staple")).await;
    assert_eq!((again.status, again.code()), (422, "reset_link_invalid"));
    let notice = folder.wait_for(2).await.remove(1);
    assert_eq!(notice.subject, "Your Waybill password was changed");
}

#[tokio::test]
async fn a_link_is_good_for_an_hour() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    portal.owner("owner@shop.example").await;
    ask(&mut portal.stranger(), "owner@shop.example").await;
    let token = folder.wait_for(1).await[0].token();
    portal.clock.advance(TimeDelta::hours(1) - TimeDelta::seconds(1));
    assert_eq!(portal.stranger().post(LOOK_UP, json!({ "token": token })).await.status, 204);
    portal.clock.advance(TimeDelta::seconds(1));
    let late = portal.stranger().post(LOOK_UP, json!({ "token": token })).await;
    assert_eq!((late.status, late.code()), (422, "reset_link_invalid"));
    for dead in [&token, "x", &"A".repeat(43)] {
        let refused = portal.stranger().post(CONFIRM, confirm(dead, "battery staple")).await;
        assert_eq!((refused.status, refused.code()), (422, "reset_link_invalid"));
    }
}

#[tokio::test]
async fn the_response_does_not_reveal_whether_the_account_exists() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    portal.owner("owner@shop.example").await;
    for email in ["nobody@shop.example", "owner@shop.example"] {
        for _ in 0..5 {
            let answer = ask(&mut portal.stranger(), email).await;
            assert_eq!(answer.status, 202, "{answer:?}");
            let other = ask(&mut portal.stranger(), "somebody.else@shop.example").await;
            assert!(other.status == 202 && other.body == answer.body || other.status == 429);
        }
        let refused = ask(&mut portal.stranger(), email).await;
        assert_eq!((refused.status, refused.code()), (429, "too_many_password_resets"), "{email}");
        assert_eq!(refused.header("retry-after"), "3600");
    }
    let mails = folder.wait_for(5).await;
    assert!(mails.iter().all(|mail| mail.to == "owner@shop.example"), "{mails:?}");
    let faulty = ask(&mut portal.stranger(), "x").await;
    assert_eq!((faulty.status, faulty.invalid_fields()), (400, vec!["email"]));
}

#[tokio::test]
async fn an_address_is_counted_as_for_log_ins() {
    let portal = Portal::with(&[("WAYBILL_LIMITS__TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    let from = |address: &str| portal.stranger().with_header("x-forwarded-for", address);
    for number in 0..100 {
        assert_eq!(ask(&mut from("203.0.113.9"), &format!("guess{number}@shop.example")).await.status, 202);
    }
    assert_eq!(ask(&mut from("203.0.113.9"), "one.more@shop.example").await.status, 429);
    assert_eq!(ask(&mut from("203.0.113.10"), "one.more@shop.example").await.status, 202);
}

#[tokio::test]
async fn the_operator_gets_a_link_without_mails() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let other = portal.owner("owner@other.example").await;
    let path = |business: &str| format!("/v1/operator/businesses/{business}/password-resets");
    let body = json!({ "email": "owner@shop.example" });
    let issued = portal.operator().post(&path(&owner.business), body.clone()).await;
    assert_eq!(issued.status, 201, "{issued:?}");
    assert!(issued.body["expiresAt"].is_string());
    let token = issued.body["url"].as_str().unwrap().split("#token=").nth(1).unwrap().to_owned();
    assert_eq!(portal.stranger().post(CONFIRM, confirm(&token, "battery staple")).await.status, 204);
    assert_eq!(log_in(&mut portal.stranger(), "battery staple").await, 200);

    let elsewhere = portal.operator().post(&path(&other.business), body.clone()).await;
    assert_eq!((elsewhere.status, elsewhere.code()), (404, "user_not_found"));
    let nobody = portal.operator().post(&path("biz_01ARZ3NDEKTSV4RRFFQ69G5FAV"), body.clone()).await;
    assert_eq!(nobody.code(), "business_not_found");
    let stranger =
        portal.stranger().with_bearer(&format!("{OPERATOR_TOKEN}x")).post(&path(&owner.business), body).await;
    assert_eq!(stranger.status, 401);
    let log = format!("/v1/operator/businesses/{}/audit-log", owner.business);
    let lines = portal.operator().get(&log).await.body["data"].clone();
    let actions: Vec<_> =
        lines.as_array().unwrap().iter().map(|line| line["action"].as_str().unwrap()).collect();
    assert!(actions.contains(&"password.reset_issued") && actions.contains(&"password.reset"), "{actions:?}");
    assert!(!lines.to_string().contains(&token));
}

/// Anybody can sign up with any address, and ask for links to it. Only a reset link gives its owner the account.
#[tokio::test]
async fn an_unverified_address_always_has_a_reset_link_and_one_at_a_time() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut stranger = portal.newcomer("owner@shop.example").await.client;
    for _ in 0..4 {
        assert_eq!(stranger.press("/v1/portal/email-confirmations").await.status, 202);
    }
    let refused = stranger.press("/v1/portal/email-confirmations").await;
    assert_eq!(refused.code(), "too_many_confirmations", "{refused:?}");
    let links = || folder.mails().iter().filter(|mail| mail.subject.starts_with("Reset your")).count();
    // A change of the password neither ends the link nor makes room for another.
    ask(&mut portal.stranger(), "owner@shop.example").await;
    until("the first link arrives", async || links() == 1).await;
    let first = folder.mails().last().unwrap().token();
    let change = json!({ "currentPassword": "correct horse", "newPassword": "battery horse" });
    assert_eq!(stranger.put("/v1/portal/password", change).await.status, 204);
    assert_eq!(portal.stranger().post(LOOK_UP, json!({ "token": first })).await.status, 204);
    for hour in 1..=21 {
        for _ in 0..3 {
            assert_eq!(ask(&mut portal.stranger(), "owner@shop.example").await.status, 202);
        }
        until("the link of the hour arrives", async || links() >= hour).await;
        portal.clock.advance(TimeDelta::hours(1));
    }
    assert_eq!(links(), 21, "one an hour");
    assert_eq!(ask(&mut portal.stranger(), "owner@shop.example").await.status, 202);
    until("the next one arrives", async || links() == 22).await;
    let token = folder.mails().last().unwrap().token();
    assert_eq!(portal.stranger().post(CONFIRM, confirm(&token, "battery staple")).await.status, 204);
    for _ in 0..2 {
        assert_eq!(ask(&mut portal.stranger(), "owner@shop.example").await.status, 202);
    }
    until("a verified address gets them as before", async || links() == 24).await;
}

/// Neither before the account exists nor after.
#[tokio::test]
async fn strangers_use_up_no_reset_link_of_an_address() {
    let folder = MailFolder::new();
    let settings = [&folder.settings()[..], &[("WAYBILL_LIMITS__TRUSTED_PROXIES", "127.0.0.0/8")]].concat();
    let portal = Portal::with(&settings).await;
    let from = |address: &str| portal.stranger().with_header("x-forwarded-for", address);
    let links = || folder.mails().iter().filter(|mail| mail.subject.starts_with("Reset your")).count();
    for number in 0..21 {
        assert_eq!(ask(&mut from(&format!("203.0.113.{number}")), "owner@shop.example").await.status, 202);
    }
    portal.newcomer("owner@shop.example").await;
    assert_eq!(ask(&mut from("203.0.113.200"), "owner@shop.example").await.status, 202);
    until("the link arrives", async || links() == 1).await;
    let token = folder.mails().last().unwrap().token();
    assert_eq!(portal.stranger().post(CONFIRM, confirm(&token, "battery staple")).await.status, 204);
    for number in 0..21 {
        assert_eq!(ask(&mut from(&format!("203.0.113.{number}")), "owner@shop.example").await.status, 202);
    }
    until("a verified address gets twenty an hour", async || links() == 21).await;
    let latest = folder.mails().last().unwrap().token();
    assert_eq!(portal.stranger().post(CONFIRM, confirm(&latest, "battery horse")).await.status, 204);
    assert_eq!(ask(&mut from("203.0.113.201"), "owner@shop.example").await.status, 202);
    until("who has used a link gets another one", async || links() == 22).await;
}

/// Otherwise a stranger would flood an inbox, whose names are countless.
#[tokio::test]
async fn the_other_names_of_an_inbox_get_few_reset_links_before_they_are_verified() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    for email in ["owner@shop.example", "owner+1@shop.example", "owner+2@shop.example"] {
        portal.newcomer(email).await;
    }
    let links_to = |email: &str| {
        folder
            .mails()
            .iter()
            .filter(|mail| mail.subject.starts_with("Reset your") && mail.to == email)
            .count()
    };
    for hour in 1..=10 {
        for email in ["owner+1@shop.example", "owner+2@shop.example"] {
            ask(&mut portal.stranger(), email).await;
            until("the link arrives", async || links_to(email) == hour).await;
        }
        portal.clock.advance(TimeDelta::hours(1));
    }
    for email in ["owner+1@shop.example", "owner@shop.example"] {
        ask(&mut portal.stranger(), email).await;
    }
    until("the name without an addition has its own", async || links_to("owner@shop.example") == 1).await;
    assert_eq!(links_to("owner+1@shop.example"), 10);
}
