//! The lists of sessions with addresses and browsers, and who may end whose sessions.

use serde_json::{Value, json};

use crate::client::Client;
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{SESSION as CONSOLE, STAFF, log_in, person};

const SESSIONS: &str = "/v1/portal/sessions";
const CONSOLE_SESSIONS: &str = "/v1/operator/sessions";
const BUSINESSES: &str = "/v1/operator/businesses";
const FIREFOX: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0";

async fn behind_a_proxy() -> Portal {
    Portal::with(&[
        ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
        ("WAYBILL_LIMITS__TRUSTED_PROXIES", "127.0.0.0/8"),
    ])
    .await
}

fn from(client: Client, address: &str) -> Client {
    client.with_header("user-agent", FIREFOX).with_header("x-forwarded-for", address)
}

async fn list(client: &mut Client, path: &str) -> Vec<Value> {
    let answer = client.get(path).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["data"].as_array().unwrap().clone()
}

async fn actions(portal: &Portal, query: &str) -> Vec<Value> {
    list(&mut portal.operator(), &format!("/v1/operator/audit-log?action=session.revoked{query}")).await
}

#[tokio::test]
async fn a_user_sees_where_each_session_comes_from() {
    let portal = behind_a_proxy().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let right = json!({ "email": "owner@shop.example", "password": "correct horse" });
    let mut elsewhere = from(portal.stranger(), "2001:db8:1:2:3:4:5:6");
    portal.clock.advance(chrono::TimeDelta::seconds(1));
    assert_eq!(elsewhere.post("/v1/portal/session", right).await.status, 200);
    let listed = list(&mut owner.client, SESSIONS).await;
    assert_eq!((listed.len(), &listed[0]["address"]), (2, &json!("2001:db8:1:2::")), "{listed:?}");
    assert_eq!(
        (&listed[0]["browser"], &listed[0]["userAgent"], &listed[0]["current"]),
        (&json!("Firefox on Windows"), &json!(FIREFOX), &json!(false))
    );
    assert_eq!((&listed[1]["address"], &listed[1]["current"]), (&json!("127.0.0.1"), &json!(true)));

    let log = list(&mut owner.client, "/v1/portal/audit-log?action=session.opened").await;
    assert_eq!(log[0]["address"], "2001:db8:1:2::");
    for (address, found) in [("2001:db8:1:2:ffff::1", 1), ("2001:db8:1:3::", 0), ("127.0.0.1", 1)] {
        let log = list(&mut owner.client, &format!("/v1/portal/audit-log?address={address}")).await;
        assert_eq!(log.len(), found, "{address}");
    }
    let log = list(&mut owner.client, "/v1/portal/audit-log?actor=owner@shop.example").await;
    assert_eq!(log.len(), 2);
    let refused = owner.client.get("/v1/portal/audit-log?address=here&actor=").await;
    assert_eq!(refused.invalid_fields(), ["actor", "address"]);
}

#[tokio::test]
async fn a_person_of_the_staff_lists_and_ends_their_own_sessions() {
    let portal = behind_a_proxy().await;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "viewer").await;
    portal.clock.advance(chrono::TimeDelta::seconds(1));
    let mut second = from(portal.stranger(), "203.0.113.9");
    let right = json!({ "email": "asha@carrier.example", "password": "battery staple" });
    assert_eq!(second.post(CONSOLE, right).await.status, 200);
    portal.clock.advance(chrono::TimeDelta::seconds(1));
    let mut third = log_in(&portal, "asha@carrier.example").await;

    let listed = list(&mut asha, CONSOLE_SESSIONS).await;
    assert_eq!(
        (&listed[1]["browser"], &listed[1]["address"]),
        (&json!("Firefox on Windows"), &json!("203.0.113.9"))
    );
    let current: Vec<_> = listed.iter().map(|session| session["current"] == true).collect();
    assert_eq!(current, [false, false, true]);
    let page = asha.get(&format!("{CONSOLE_SESSIONS}?limit=2")).await.body;
    assert_eq!((page["data"].as_array().unwrap().len(), &page["hasMore"]), (2, &json!(true)));
    let cursor = page["data"][1]["id"].as_str().unwrap();
    let rest = list(&mut asha, &format!("{CONSOLE_SESSIONS}?limit=2&startingAfter={cursor}")).await;
    assert_eq!(rest, listed[2..]);
    for bad in ["startingAfter=x", "startingAfter=ses_00000000000000000000000000", "limit=0", "page=1"] {
        assert_eq!(asha.get(&format!("{CONSOLE_SESSIONS}?{bad}")).await.status, 400, "{bad}");
    }

    let path = format!("{CONSOLE_SESSIONS}/{cursor}");
    assert_eq!(asha.delete(&path).await.status, 204);
    assert_eq!(second.get(CONSOLE).await.status, 401);
    for ended in [&path, &format!("{CONSOLE_SESSIONS}/x")] {
        assert_eq!(asha.delete(ended).await.code(), "session_not_found");
    }
    let others = asha.press(&format!("{CONSOLE_SESSIONS}/revoke-others")).await;
    assert_eq!((others.status, &others.body), (200, &json!({ "revoked": 1 })));
    assert_eq!(third.get(CONSOLE).await.status, 401);
    assert_eq!(actions(&portal, "&actor=asha@carrier.example").await.len(), 2);
    let own = format!("{CONSOLE_SESSIONS}/{}", listed[2]["id"].as_str().unwrap());
    let ended = asha.delete(&own).await;
    assert!(ended.status == 204 && ended.header("set-cookie").contains("Max-Age=0"), "{ended:?}");
    assert_eq!(asha.get(CONSOLE_SESSIONS).await.status, 401);
}

#[tokio::test]
async fn the_sessions_of_the_configured_token_are_listed_apart() {
    let portal = Portal::start().await;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "administrator").await;
    let mut console = portal.stranger();
    assert_eq!(console.post(CONSOLE, json!({ "token": OPERATOR_TOKEN })).await.status, 200);
    for client in [&mut console, &mut asha] {
        assert_eq!(list(client, CONSOLE_SESSIONS).await.len(), 1);
        let others = client.press(&format!("{CONSOLE_SESSIONS}/revoke-others")).await;
        assert_eq!(others.body["revoked"], 0);
    }
    let token = portal.operator().get(CONSOLE_SESSIONS).await;
    assert_eq!(token.code(), "not_logged_in", "a token is no session");
}

#[tokio::test]
async fn an_owner_ends_the_sessions_of_a_user_of_the_business() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut asha = portal.member(&mut owner, "asha@shop.example", "developer").await;
    let mut stranger = portal.owner("owner@other.example").await;
    let id = asha.get("/v1/portal/session").await.body["userId"].as_str().unwrap().to_owned();
    let path = format!("/v1/portal/users/{id}/sessions");
    assert_eq!(asha.delete(&path).await.code(), "role_insufficient");
    assert_eq!(stranger.client.delete(&path).await.code(), "user_not_found", "of another business");
    assert_eq!(owner.client.delete("/v1/portal/users/x/sessions").await.status, 404);
    let ended = owner.client.delete(&path).await;
    assert_eq!((ended.status, &ended.body), (200, &json!({ "revoked": 1 })));
    assert_eq!(asha.get("/v1/portal/session").await.status, 401);
    assert_eq!(owner.client.get("/v1/portal/session").await.status, 200);
    assert_eq!(owner.client.delete(&path).await.body["revoked"], 0);
    let log = list(&mut owner.client, "/v1/portal/audit-log?action=session.revoked").await;
    assert_eq!((log.len(), &log[0]["target"]["id"]), (1, &json!(id)), "what changes nothing is no act");
    assert_eq!(
        (&log[0]["actor"]["email"], &log[0]["details"]),
        (&json!("owner@shop.example"), &json!({ "sessions": 1 }))
    );
}

#[tokio::test]
async fn an_administrator_ends_the_sessions_of_a_person() {
    let portal = Portal::start().await;
    let (mut admin, _) = person(&portal, "admin@carrier.example", "administrator").await;
    let (mut asha, id) = person(&portal, "asha@carrier.example", "support").await;
    let path = format!("{STAFF}/{id}/sessions");
    assert_eq!(asha.delete(&path).await.code(), "permission_missing");
    for unknown in ["stf_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"] {
        assert_eq!(admin.delete(&format!("{STAFF}/{unknown}/sessions")).await.code(), "staff_not_found");
    }
    assert_eq!(admin.delete(&path).await.body, json!({ "revoked": 1 }));
    assert_eq!(asha.get(BUSINESSES).await.status, 401);
    assert_eq!(admin.get(BUSINESSES).await.status, 200);
    let log = actions(&portal, "").await;
    assert_eq!((&log[0]["target"]["id"], &log[0]["details"]), (&json!(id), &json!({ "sessions": 1 })));
}
