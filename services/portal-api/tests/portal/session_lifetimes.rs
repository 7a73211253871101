//! Idle and longest lifetimes of sessions by settings, exact at the boundary, also for sessions that began under others.

use chrono::TimeDelta;
use serde_json::json;

use crate::client::Client;
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{SESSION as CONSOLE, person};

const SESSION: &str = "/v1/portal/session";
const SECOND: TimeDelta = TimeDelta::seconds(1);

async fn with(more: &[(&str, &str)]) -> Portal {
    let all: Vec<_> =
        [("WAYBILL_LIMITS__PER_ADDRESS", "false")].into_iter().chain(more.iter().copied()).collect();
    Portal::with(&all).await
}

async fn token_session(portal: &Portal) -> Client {
    let mut console = portal.stranger();
    assert_eq!(console.post(CONSOLE, json!({ "token": OPERATOR_TOKEN })).await.status, 200);
    console
}

#[tokio::test]
async fn without_settings_the_console_is_idle_for_an_hour_at_most() {
    let portal = Portal::start().await;
    let mut token = token_session(&portal).await;
    portal.clock.advance(TimeDelta::minutes(60) - SECOND);
    assert_eq!(token.get(CONSOLE).await.status, 200);
    portal.clock.advance(TimeDelta::minutes(60));
    assert_eq!(token.get(CONSOLE).await.status, 401);
}

#[tokio::test]
async fn a_shorter_setting_ends_open_sessions() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await.client;
    let mut unused = portal.owner("unused@shop.example").await.client;
    let mut token = token_session(&portal).await;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "viewer").await;
    let mut settings = portal.settings.clone();
    settings.sessions.user_idle_minutes = 10;
    settings.sessions.staff_max_minutes = 20;
    settings.sessions.staff_idle_minutes = 20;
    let shorter = portal.with_settings(settings);
    portal.clock.advance(TimeDelta::minutes(10) - SECOND);
    let mut elsewhere = owner.clone().at(shorter.public);
    let seen = elsewhere.get("/v1/portal/sessions").await;
    assert_eq!(seen.status, 200, "{seen:?}");
    portal.clock.advance(TimeDelta::minutes(10));
    assert_eq!(elsewhere.get(SESSION).await.status, 401, "idle for ten minutes");
    assert_eq!(unused.clone().at(shorter.public).get(SESSION).await.status, 401, "stored with twelve hours");
    assert_eq!(unused.get(SESSION).await.status, 200, "at an instance with the former setting");
    portal.clock.advance(SECOND);
    for console in [&mut token, &mut asha] {
        assert_eq!(console.clone().at(shorter.public).get(CONSOLE).await.status, 401);
        assert_eq!(console.get(CONSOLE).await.status, 200);
    }
}

/// Open pages refresh themselves. Nobody sits in front of them.
#[tokio::test]
async fn calls_of_unattended_pages_keep_no_session_open() {
    let portal = with(&[
        ("WAYBILL_SESSIONS__USER_IDLE_MINUTES", "30"),
        ("WAYBILL_SESSIONS__STAFF_IDLE_MINUTES", "30"),
    ])
    .await;
    let owner = portal.owner("owner@shop.example").await.client;
    let (asha, _) = person(&portal, "asha@carrier.example", "viewer").await;
    let token = token_session(&portal).await;
    let unattended = |client: &Client| client.clone().with_header("unattended", "true");
    for minutes in [10, 10, 9] {
        portal.clock.advance(TimeDelta::minutes(minutes));
        assert_eq!(unattended(&owner).get("/v1/portal/status").await.status, 200);
        for console in [&asha, &token] {
            assert_eq!(unattended(console).get("/v1/operator/businesses").await.status, 200);
        }
    }
    portal.clock.advance(TimeDelta::minutes(1));
    for client in [&owner, &asha, &token] {
        assert_eq!(client.clone().get("/v1/portal/session").await.status, 401);
        assert_eq!(client.clone().get(CONSOLE).await.status, 401);
    }
}
