//! Verified e-mail addresses: who must confirm, what confirms, and what is not sent before.

use chrono::TimeDelta;
use domain::EndpointId;
use events::{Body, EndpointFailing};
use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::mail_folder::{MailFolder, WELCOME};
use crate::portal::Portal;

const CONFIRM: &str = "/v1/portal/email-confirmations/confirm";
const SEND: &str = "/v1/portal/email-confirmations";
const SESSION: &str = "/v1/portal/session";
const INVITATIONS: &str = "/v1/portal/invitations";
const OWNER: &str = "owner@shop.example";

async fn confirm(client: &mut Client, token: &str) -> Answer {
    client.post(CONFIRM, json!({ "token": token })).await
}

async fn log_in(client: &mut Client) {
    let body = json!({ "email": OWNER, "password": "correct horse" });
    assert_eq!(client.post(SESSION, body).await.status, 200);
}

fn invitation(email: &str) -> Value {
    json!({ "email": email, "role": "developer" })
}

#[tokio::test]
async fn a_sign_up_mails_a_link_that_verifies_the_address() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.newcomer(OWNER).await.client;
    assert_eq!(owner.get(SESSION).await.body["emailVerified"], false);
    let token = folder.confirmations(OWNER, 1).await.remove(0);
    let mail = folder.all().remove(0);
    assert_eq!(mail.subject, format!("{WELCOME} Waybill"));
    assert!(mail.text.contains(&format!("http://portal.test/confirm-email#token={token}")), "{}", mail.text);
    for _ in 0..2 {
        let confirmed = confirm(&mut owner, &token).await;
        assert_eq!((confirmed.status, &confirmed.body), (200, &json!({ "email": OWNER })), "{confirmed:?}");
        assert_eq!(owner.get(SESSION).await.body["emailVerified"], true);
    }
    let log = owner.get("/v1/portal/audit-log?action=user.email_verified").await.body;
    assert_eq!(log["data"].as_array().unwrap().len(), 1, "it happens once: {log}");
    assert_eq!(log["data"][0]["actor"]["email"], OWNER);
    let log_in = json!({ "email": OWNER, "password": "correct horse" });
    assert_eq!(portal.stranger().post(SESSION, log_in).await.body["emailVerified"], true);
}

#[tokio::test]
async fn a_link_is_good_for_a_day_and_every_other_one_gets_the_same_error() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.newcomer(OWNER).await.client;
    let token = folder.confirmations(OWNER, 1).await.remove(0);
    portal.clock.advance(TimeDelta::hours(24) - TimeDelta::seconds(1));
    log_in(&mut owner).await;
    for wrong in ["x", &"A".repeat(43), &token[1..], &format!("{token}A")] {
        let refused = confirm(&mut owner, wrong).await;
        assert_eq!((refused.status, refused.code()), (422, "confirmation_invalid"), "{wrong}");
    }
    portal.clock.advance(TimeDelta::seconds(1));
    let late = confirm(&mut owner, &token).await;
    assert_eq!((late.status, late.code()), (422, "confirmation_invalid"));
    assert_eq!(owner.get(SESSION).await.body["emailVerified"], false);
    assert_eq!(owner.press(SEND).await.status, 202);
    let token = folder.confirmations(OWNER, 2).await.remove(1);
    assert_eq!(confirm(&mut owner, &token).await.status, 200);
    portal.clock.advance(TimeDelta::hours(24));
    log_in(&mut owner).await;
    assert_eq!(confirm(&mut owner, &token).await.status, 422, "a used one ends as well");
}

/// A stranger signs up with the address of somebody else, or changes to it, and its owner opens the link.
#[tokio::test]
async fn only_a_session_of_its_account_uses_a_link() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut new = portal.newcomer("new@shop.example").await.client;
    let mut changed = portal.owner("changed@shop.example").await.client;
    let requested = changed.put("/v1/portal/email", json!({ "email": "next@shop.example" })).await;
    assert_eq!(requested.status, 202, "{requested:?}");
    let mut owner = portal.owner(OWNER).await.client;
    for (client, email) in [(&mut new, "new@shop.example"), (&mut changed, "next@shop.example")] {
        let token = folder.confirmations(email, 1).await.remove(0);
        let refused = confirm(&mut portal.stranger(), &token).await;
        assert_eq!((refused.status, refused.code()), (401, "not_logged_in"), "{email}: {refused:?}");
        let refused = confirm(&mut owner, &token).await;
        assert_eq!((refused.status, refused.code()), (403, "other_account"), "{email}: {refused:?}");
        assert_eq!(confirm(client, &token).await.body["email"], email, "the link is not used up");
    }
}

#[tokio::test]
async fn a_link_is_sent_again_within_limits_per_address_and_per_inbox() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    // A stranger uses up what the other names of the inbox get.
    for name in 0..4 {
        let mut stranger = portal.newcomer(&format!("owner+{name}@shop.example")).await.client;
        for _ in 0..4 {
            assert_eq!(stranger.press(SEND).await.status, 202);
        }
    }
    let mut stranger = portal.newcomer("owner+4@shop.example").await.client;
    let refused = stranger.press(SEND).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_confirmations"), "{refused:?}");

    let mut owner = portal.newcomer(OWNER).await.client;
    for _ in 0..4 {
        assert_eq!(owner.press(SEND).await.status, 202);
    }
    let refused = owner.press(SEND).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_confirmations"), "{refused:?}");
    assert_eq!(refused.header("retry-after"), "86400");
    let links = folder.confirmations(OWNER, 5).await;
    assert_eq!(confirm(&mut owner, &links[0]).await.status, 200, "earlier links stay valid");
    let refused = owner.press(SEND).await;
    assert_eq!((refused.status, refused.code()), (409, "email_verified"));
    assert_eq!(folder.all().len(), 25, "none went to the fifth other name");
}

#[tokio::test]
async fn an_account_sends_ten_links_in_a_day() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.newcomer(OWNER).await.client;
    for number in 0..9 {
        let change = json!({ "email": format!("new{number}@shop.example") });
        assert_eq!(owner.put("/v1/portal/email", change).await.status, 202);
    }
    let refused = owner.put("/v1/portal/email", json!({ "email": "new@shop.example" })).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_confirmations"));
    assert_eq!(owner.press(SEND).await.code(), "too_many_confirmations");
    portal.clock.advance(TimeDelta::hours(24));
    log_in(&mut owner).await;
    assert_eq!(owner.press(SEND).await.status, 202);
}

#[tokio::test]
async fn warnings_and_notices_wait_until_the_address_is_verified() {
    let folder = MailFolder::new();
    let portal = Portal::connected_with(&folder.settings()).await;
    let mut owner = portal.owner(OWNER).await;
    portal.member(&mut owner, "dev@shop.example", "developer").await;
    let mut unverified = portal.newcomer("new@other.example").await;
    let token = folder.confirmations("new@other.example", 1).await.remove(0);
    let change = json!({ "currentPassword": "correct horse", "newPassword": "battery staple" });
    assert_eq!(unverified.client.put("/v1/portal/password", change).await.status, 204);
    let endpoint_id = EndpointId::generate(&portal.clock, &portal.entropy);
    let failing = || Body::EndpointFailing(EndpointFailing { endpoint_id, percent: 80 });
    let warnings = [&unverified.business, &owner.business].map(|one| portal.envelope(one, failing()));
    portal.publish(&warnings).await;
    let sent = folder.wait_for(3).await;
    assert!(sent.iter().all(|mail| mail.to.ends_with("@shop.example")), "{sent:?}");

    assert_eq!(confirm(&mut unverified.client, &token).await.status, 200);
    portal.publish(&[portal.envelope(&unverified.business, failing())]).await;
    let sent = folder.wait_for(4).await;
    assert_eq!(sent[3].to, "new@other.example");
    assert_eq!(sent.len(), 4, "{sent:?}");
}

#[tokio::test]
async fn an_unverified_owner_invites_nobody_and_no_inviter_sees_the_link() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.newcomer(OWNER).await;
    portal.approve(&owner.business).await;
    let refused = owner.client.post(INVITATIONS, invitation("dev@shop.example")).await;
    assert_eq!((refused.status, refused.code()), (403, "email_not_verified"));
    assert_eq!(owner.client.get(INVITATIONS).await.body["data"], json!([]));

    let token = folder.confirmations(OWNER, 1).await.remove(0);
    assert_eq!(confirm(&mut owner.client, &token).await.status, 200);
    let invited = owner.client.post(INVITATIONS, invitation("dev@shop.example")).await;
    assert_eq!((invited.status, invited.body.get("url")), (201, None), "{invited:?}");
    let token = folder.wait_for(1).await[0].token();
    assert!(!invited.body.to_string().contains(&token));
    let mut dev = portal.stranger();
    let body = json!({ "token": token, "password": "battery staple" });
    let joined = dev.post("/v1/portal/invitations/accept", body).await;
    assert_eq!((joined.status, &joined.body["emailVerified"]), (201, &json!(true)), "{joined:?}");
    assert_eq!(dev.get(SESSION).await.body["emailVerified"], true);
    let users = owner.client.get("/v1/portal/users").await.body;
    assert_eq!(users["data"][1]["emailVerified"], true, "{users}");
}

#[tokio::test]
async fn without_mails_nothing_is_verified_and_inviters_pass_the_link_on() {
    let portal = Portal::start().await;
    let mut owner = portal.owner(OWNER).await;
    assert_eq!(owner.client.get(SESSION).await.body["emailVerified"], false);
    let mut dev = portal.member(&mut owner, "dev@shop.example", "developer").await;
    assert_eq!(dev.get(SESSION).await.body["emailVerified"], false, "anybody could have passed it on");
    let refused = dev.press(SEND).await;
    assert_eq!((refused.status, refused.code()), (409, "mail_unavailable"));
}

#[tokio::test]
async fn a_mailed_reset_link_verifies_and_one_of_the_operator_does_not() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let owner = portal.newcomer(OWNER).await;
    let reset = async |token: &str| {
        let body = json!({ "token": token, "password": "battery staple" });
        assert_eq!(portal.stranger().post("/v1/portal/password-resets/confirm", body).await.status, 204);
        let log_in = json!({ "email": OWNER, "password": "battery staple" });
        portal.stranger().post(SESSION, log_in).await.body["emailVerified"].clone()
    };
    let path = format!("/v1/operator/businesses/{}/password-resets", owner.business);
    let issued = portal.operator().post(&path, json!({ "email": OWNER })).await;
    let token = issued.body["url"].as_str().unwrap().split("#token=").nth(1).unwrap().to_owned();
    assert_eq!(reset(&token).await, json!(false));
    portal.stranger().post("/v1/portal/password-resets", json!({ "email": OWNER })).await;
    let mailed = folder.wait_for(1).await.remove(0);
    assert_eq!(mailed.subject, "Reset your Waybill password", "the notices before it were not sent");
    assert_eq!(reset(&mailed.token()).await, json!(true));
}

#[tokio::test]
async fn sign_up_test_keys_and_sessions_need_no_verified_address() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.newcomer(OWNER).await;
    let path = format!("/v1/operator/businesses/{}", owner.business);
    let active = json!({ "status": "active", "liveAccess": "active" });
    assert_eq!(portal.operator().patch(&path, active).await.status, 200);
    for call in ["GET /status", "GET /api-keys", "GET /orders", "POST /api-keys", "PUT /pickup-profile"] {
        let (method, path) = call.split_once(' ').unwrap();
        let answer = owner.client.call(method, &format!("/v1/portal{path}")).await;
        assert_ne!(answer.code(), "email_not_verified", "{call}: {answer:?}");
        assert_ne!(answer.status, 403, "{call}: {answer:?}");
    }
}
