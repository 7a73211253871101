//! Password changes, and the list of sessions.

use chrono::TimeDelta;
use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::client::Client;
use crate::portal::Portal;

const PASSWORD: &str = "/v1/portal/password";
const SESSION: &str = "/v1/portal/session";
const SESSIONS: &str = "/v1/portal/sessions";

fn change(current: &str, new: &str) -> Value {
    json!({ "currentPassword": current, "newPassword": new })
}

async fn log_in(client: &mut Client, password: &str) -> u16 {
    client.post(SESSION, json!({ "email": "owner@shop.example", "password": password })).await.status
}

#[tokio::test]
async fn a_new_password_ends_every_other_session() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    let mut elsewhere = portal.stranger();
    assert_eq!(log_in(&mut elsewhere, "correct horse").await, 200);
    let mut copy = owner.clone();
    let changed = owner.put(PASSWORD, change("correct horse", "battery staple")).await;
    assert_eq!(changed.status, 204, "{changed:?}");
    assert!(changed.header("set-cookie").contains("HttpOnly"));
    assert_eq!(owner.get(SESSION).await.status, 200, "this browser goes on, under a new secret");
    assert_eq!(copy.get(SESSION).await.status, 401);
    assert_eq!(elsewhere.get(SESSION).await.status, 401);
    assert_eq!(log_in(&mut portal.stranger(), "correct horse").await, 401);
    assert_eq!(log_in(&mut portal.stranger(), "battery staple").await, 200);
}

#[tokio::test]
async fn a_wrong_current_password_counts_like_a_log_in_that_failed() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    for _ in 0..10 {
        let refused = owner.put(PASSWORD, change("wrong", "battery staple")).await;
        assert_eq!((refused.status, refused.code()), (422, "password_wrong"));
    }
    let refused = owner.put(PASSWORD, change("correct horse", "battery staple")).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_log_ins"));
    assert_eq!(log_in(&mut owner, "correct horse").await, 429, "nor does this browser log in");
    portal.clock.advance(TimeDelta::minutes(15));
    assert_eq!(owner.put(PASSWORD, change("correct horse", "battery staple")).await.status, 204);
    let same = owner.put(PASSWORD, change("battery staple", "battery staple")).await;
    assert_eq!(
        (same.status, same.invalid_fields()),
        (400, vec!["newPassword"]),
        "nobody is logged out for nothing"
    );
    let email = owner.put(PASSWORD, change("battery staple", "Owner@shop.example")).await;
    assert_eq!((email.status, email.invalid_fields()), (400, vec!["newPassword"]));
    let faulty = owner.put(PASSWORD, json!({ "newPassword": "short" })).await;
    assert_eq!((faulty.status, faulty.invalid_fields()), (400, vec!["currentPassword", "newPassword"]));
}

#[tokio::test]
async fn of_two_changes_at_once_one_succeeds() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await.client;
    let (mut one, mut other) = (owner.clone(), owner);
    let (a, b) = tokio::join!(
        one.put(PASSWORD, change("correct horse", "battery staple one")),
        other.put(PASSWORD, change("correct horse", "battery staple two"))
    );
    let mut statuses = [a.status, b.status];
    statuses.sort_unstable();
    assert_eq!(statuses[0], 204, "{a:?} {b:?}");
    assert!([401, 422].contains(&statuses[1]), "{a:?} {b:?}");
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one_or_all_but_this_one() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    let mut others = Vec::new();
    for agent in ["Phone", "Tablet", "Desk"] {
        portal.clock.advance(TimeDelta::seconds(1));
        let mut client = portal.stranger().with_header("user-agent", agent);
        assert_eq!(log_in(&mut client, "correct horse").await, 200);
        others.push(client);
    }
    let listed = owner.get(SESSIONS).await.body["data"].clone();
    let agents: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["userAgent"].clone()).collect();
    assert_eq!(agents, [json!("Desk"), json!("Tablet"), json!("Phone"), Value::Null]);
    assert_eq!((&listed[0]["current"], &listed[3]["current"]), (&json!(false), &json!(true)));
    let page = owner.get(&format!("{SESSIONS}?limit=3")).await;
    assert_eq!(page.body["hasMore"], true);

    let path = format!("{SESSIONS}/{}", listed[0]["id"].as_str().unwrap());
    assert_eq!(owner.delete(&path).await.status, 204);
    assert_eq!(others[2].get(SESSION).await.status, 401);
    assert_eq!(owner.delete(&path).await.code(), "session_not_found");
    let revoked = owner.post(&format!("{SESSIONS}/revoke-others"), json!({})).await;
    assert_eq!((revoked.status, &revoked.body["revoked"]), (200, &json!(2)));
    assert_eq!(others[0].get(SESSION).await.status, 401);
    assert_eq!(owner.get(SESSIONS).await.body["data"].as_array().unwrap().len(), 1);
    let own = format!("{SESSIONS}/{}", listed[3]["id"].as_str().unwrap());
    let out = owner.delete(&own).await;
    assert!(out.status == 204 && out.header("set-cookie").contains("Max-Age=0"), "{out:?}");
    assert_eq!(owner.get(SESSION).await.status, 401);
}

#[tokio::test]
async fn a_user_holds_a_hundred_sessions_at_most() {
    // As if the user had logged in so often since.
    const MORE: &str = "INSERT INTO sessions
        SELECT (jsonb_populate_record(session, jsonb_build_object(
            'id', 'ses_7' || lpad(number::text, 25, '0'), 'token_hash', '\\x' || repeat(lpad(number::text, 4, '0'), 16)))).*
        FROM sessions AS session, generate_series(1, 99) AS number";
    let portal = Portal::start().await;
    let mut first = portal.owner("owner@shop.example").await.client;
    portal.connect().await.batch_execute(MORE).await.unwrap();
    assert_eq!(first.get(SESSION).await.status, 200);
    portal.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(log_in(&mut portal.stranger(), "correct horse").await, 200);
    assert_eq!(first.get(SESSION).await.status, 401, "the oldest has ended");
}
