//! The mail about a log-in from a new browser.

use chrono::TimeDelta;
use diesel_async::RunQueryDsl;
use serde_json::{Value, json};
use test_kit::until;

use crate::client::Client;
use crate::mail_folder::{Mail, MailFolder};
use crate::portal::Portal;
use crate::staff::{SESSION as CONSOLE, STAFF};

const SESSION: &str = "/v1/portal/session";
const FIREFOX: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0";

fn right() -> Value {
    json!({ "email": "owner@shop.example", "password": "correct horse" })
}

async fn log_in(client: &mut Client) {
    let opened = client.post(SESSION, right()).await;
    assert_eq!(opened.status, 200, "{opened:?}");
}

fn warnings(mails: &[Mail]) -> Vec<&Mail> {
    mails.iter().filter(|mail| mail.subject.starts_with("New login to your")).collect()
}

#[tokio::test]
async fn a_log_in_from_a_new_browser_is_mailed_once() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut member = portal.member(&mut owner, "asha@shop.example", "developer").await;
    // Neither the sign-up nor the accepted invitation, nor log-ins of the same browsers.
    owner.client.delete(SESSION).await;
    log_in(&mut owner.client).await;
    let accepted = json!({ "email": "asha@shop.example", "password": "battery staple" });
    assert_eq!(member.post(SESSION, accepted).await.status, 200);

    let mut elsewhere = portal.stranger().with_header("user-agent", FIREFOX);
    log_in(&mut elsewhere).await;
    log_in(&mut elsewhere).await;
    let mails = folder.wait_for(2).await;
    let found = warnings(&mails);
    assert_eq!((found.len(), found[0].to.as_str()), (1, "owner@shop.example"), "{mails:?}");
    for told in
        ["Firefox on Windows", "127.0.0.1", "end all other sessions", "change your password", "/account"]
    {
        assert!(found[0].text.contains(told), "{told}: {}", found[0].text);
    }
    assert!(!found[0].text.contains("Mozilla"), "only the name of the browser");

    // A new password makes all other browsers unknown.
    let change = json!({ "currentPassword": "correct horse", "newPassword": "other horse battery" });
    assert_eq!(owner.client.put("/v1/portal/password", change).await.status, 204);
    let opened = json!({ "email": "owner@shop.example", "password": "other horse battery" });
    assert_eq!(owner.client.post(SESSION, opened.clone()).await.status, 200);
    assert_eq!(elsewhere.post(SESSION, opened).await.status, 200);
    let mails = folder.wait_for(4).await;
    assert_eq!(warnings(&mails).len(), 2, "{mails:?}");
}

#[tokio::test]
async fn mails_about_new_browsers_are_bounded() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    portal.owner("owner@shop.example").await;
    for _ in 0..7 {
        log_in(&mut portal.stranger()).await;
    }
    folder.wait_for(5).await;
    portal.clock.advance(TimeDelta::hours(24));
    log_in(&mut portal.stranger()).await;
    assert_eq!(folder.wait_for(6).await.len(), 6, "five in a day, and one on the next");
}

#[tokio::test]
async fn a_person_of_the_staff_is_warned_too() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    // The browser that has set the password with the link is known.
    let mut first = portal.stranger();
    let invited = json!({ "email": "asha@carrier.example", "name": "Asha Rao", "role": "viewer" });
    let invited = portal.operator().post(STAFF, invited).await;
    let token = invited.body["url"].as_str().unwrap().split("token=").nth(1).unwrap().to_owned();
    let used = json!({ "token": token, "password": "battery staple" });
    assert_eq!(first.post("/v1/operator/password-links/use", used).await.status, 204);
    let right = json!({ "email": "asha@carrier.example", "password": "battery staple" });
    assert_eq!(first.post(CONSOLE, right.clone()).await.status, 200);
    let mut second = portal.stranger().with_header("user-agent", FIREFOX);
    for _ in 0..2 {
        assert_eq!(second.post(CONSOLE, right.clone()).await.status, 200);
    }
    let mails = folder.wait_for(1).await;
    let found = warnings(&mails);
    assert_eq!((found.len(), found[0].to.as_str()), (1, "asha@carrier.example"), "{mails:?}");
    for told in ["Firefox on Windows", "127.0.0.1", "inform an administrator", "/operator/account"] {
        assert!(found[0].text.contains(told), "{told}: {}", found[0].text);
    }
    for _ in 0..6 {
        assert_eq!(portal.stranger().post(CONSOLE, right.clone()).await.status, 200);
    }
    let mails = folder.wait_for(5).await;
    portal.clock.advance(TimeDelta::hours(24));
    assert_eq!(portal.stranger().post(CONSOLE, right).await.status, 200);
    assert_eq!((mails.len(), folder.wait_for(6).await.len()), (5, 6), "five in a day, and one on the next");
    until("no mail waits", async || {
        let mut conn = portal.connect().await;
        let count = diesel::sql_query("SELECT count(*) AS count FROM mails").get_result(&mut conn);
        let waiting: Count = count.await.unwrap();
        waiting.count == 0
    })
    .await;
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    count: i64,
}

#[tokio::test]
async fn without_mails_a_log_in_from_a_new_browser_succeeds() {
    let portal = Portal::start().await;
    portal.owner("owner@shop.example").await;
    log_in(&mut portal.stranger()).await;
}
