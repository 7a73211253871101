//! Confirming a session gives it a new token, and leaves an entry.

use chrono::TimeDelta;
use futures_util::FutureExt;
use serde_json::{Value, json};
use test_kit::{PATIENCE, until};

use crate::authenticator::{MFA_KEY, enrol_at};
use crate::client::Client;
use crate::mail_folder::MailFolder;
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{SESSION as CONSOLE, person};

const SESSION: &str = "/v1/portal/session";
const CONFIRM: &str = "/v1/portal/session/confirm";
const USERS: &str = "/v1/portal/users";
const RECENT: (&str, &str) = ("WAYBILL_MFA__RECENT_MINUTES", "15");

fn password(password: &str) -> Value {
    json!({ "password": password })
}

async fn entries(client: &mut Client, log: &str, action: &str) -> Vec<Value> {
    let answer = client.get(&format!("{log}?action={action}")).await;
    answer.body["data"].as_array().unwrap_or_else(|| panic!("{answer:?}")).clone()
}

#[tokio::test]
async fn the_token_of_a_user_is_replaced_and_streams_of_other_tabs_go_on() {
    let portal = Portal::with_factors(&[RECENT]).await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    let mut copy = owner.clone();
    let mut stream = copy.open("/v1/portal/orders/stream").await;
    assert_eq!(stream.status(), 200);
    portal.clock.advance(TimeDelta::minutes(16));
    let before = owner.cookie("portal_session").unwrap();
    let confirmed = owner.post(CONFIRM, password("correct horse")).await;
    assert_eq!(confirmed.status, 204, "{confirmed:?}");
    let after = owner.cookie("portal_session").unwrap();
    assert_ne!(before, after, "{confirmed:?}");
    let cookie = confirmed.header("set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(
        owner.get("/v1/portal/sessions").await.body["data"].as_array().unwrap().len(),
        1,
        "no second one"
    );

    // A page sends such a call once more, with the new cookie.
    let call = copy.get(SESSION).await;
    assert_eq!((call.status, call.code(), call.header("set-cookie")), (401, "not_logged_in", ""), "{call:?}");
    assert_eq!(copy.post(CONFIRM, password("correct horse")).await.status, 401, "a copy confirms nothing");
    assert_eq!(owner.post("/v1/portal/invitations", json!({})).await.status, 400);
    assert_eq!(owner.get(SESSION).await.status, 200);
    // The stream of the other tab is that of the session: it gets heartbeats until the session ends.
    while let Some(chunk) = stream.chunk().now_or_never() {
        assert!(chunk.unwrap().is_some(), "the stream ended");
    }
    let beat = tokio::time::timeout(PATIENCE, stream.chunk()).await.expect("a heartbeat").unwrap();
    assert_eq!(beat.as_deref(), Some(&b": heartbeat\n\n"[..]));
    assert_eq!(owner.delete(SESSION).await.status, 204);
    let ends = tokio::time::timeout(PATIENCE, async { while stream.chunk().await.unwrap().is_some() {} });
    assert!(ends.await.is_ok(), "the stream of an ended session");
}

#[tokio::test]
async fn confirmations_leave_entries_and_a_used_recovery_code_is_mailed() {
    let folder = MailFolder::new();
    let portal = Portal::with_factors(&folder.settings()).await;
    let owner = portal.owner("owner@shop.example").await.client;
    let (asha, _) = person(&portal, "asha@carrier.example", "viewer").await;
    for (mut client, scope, email, right) in [
        (owner, "/v1/portal", "owner@shop.example", "correct horse"),
        (asha, "/v1/operator", "asha@carrier.example", "battery staple"),
    ] {
        let confirm = format!("{scope}/session/confirm");
        assert_eq!(client.post(&confirm, password("wrong")).await.code(), "password_wrong");
        assert_eq!(client.post(&confirm, password(right)).await.status, 204);
        let enrolled = enrol_at(&portal, &mut client, &format!("{scope}/second-factor")).await;
        let with = |code: &str| json!({ "password": right, "code": code });
        let wrong = enrolled.app.wrong(&portal.clock);
        assert_eq!(client.post(&confirm, with(&wrong)).await.code(), "code_wrong");
        assert_eq!(client.post(&confirm, with(&enrolled.recovery_codes[0])).await.status, 204);
        let mut reader = if scope == "/v1/portal" { client } else { portal.operator() };
        let log = format!("{scope}/audit-log");
        let failed = entries(&mut reader, &log, "session.confirmation_failed").await;
        let reasons: Vec<_> = failed.iter().map(|entry| entry["details"]["reason"].clone()).collect();
        assert_eq!(reasons, ["wrong_code", "wrong_password"]);
        let confirmed = entries(&mut reader, &log, "session.confirmed").await;
        let details: Vec<_> = confirmed.iter().map(|entry| entry["details"].clone()).collect();
        assert_eq!(details, [json!({ "secondFactor": "recovery_code" }), json!({})]);
        until("the used code is mailed", async || {
            let mut mails = folder.mails().into_iter();
            mails.any(|mail| mail.to == email && mail.subject.starts_with("A recovery code of your"))
        })
        .await;
    }
}

/// A new log-in with the token is its confirmation.
#[tokio::test]
async fn a_console_session_of_the_configured_token_ages_and_the_token_itself_does_not() {
    let portal = Portal::with(&[("WAYBILL_LIMITS__PER_ADDRESS", "false"), MFA_KEY, RECENT]).await;
    let mut console = portal.stranger();
    let open = json!({ "token": OPERATOR_TOKEN });
    assert_eq!(console.post(CONSOLE, open.clone()).await.status, 200);
    portal.clock.advance(TimeDelta::minutes(15) - TimeDelta::milliseconds(1));
    let calls = ["/v1/operator/tokens", "/v1/operator/staff"];
    for call in calls {
        assert_eq!(console.post(call, json!({})).await.status, 400, "{call}");
    }
    portal.clock.advance(TimeDelta::milliseconds(1));
    for call in calls {
        let refused = console.post(call, json!({})).await;
        assert_eq!((refused.status, refused.code()), (403, "recent_authentication_required"), "{call}");
        assert_eq!(portal.operator().post(call, json!({})).await.status, 400, "{call}: the token alone");
    }
    let mut before = console.clone();
    assert_eq!(console.post(CONSOLE, open).await.status, 200);
    for call in calls {
        assert_eq!(console.post(call, json!({})).await.status, 400, "{call}");
    }
    assert_eq!(before.get(CONSOLE).await.status, 401, "replaced");
    assert_eq!(portal.stranger().get(USERS).await.status, 401);
}
