//! Concurrent log-ins, password changes and resets.

use diesel::sql_types::BigInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use serde_json::json;
use test_kit::until;

use crate::portal::Portal;

#[derive(diesel::QueryableByName)]
pub(crate) struct Count {
    #[diesel(sql_type = BigInt)]
    pub(crate) count: i64,
}

async fn log_in(portal: &Portal, password: &str) -> u16 {
    let body = json!({ "email": "owner@shop.example", "password": password });
    portal.stranger().post("/v1/portal/session", body).await.status
}

/// Commits the transaction when this many other statements wait for locks.
pub(crate) async fn commit_when_awaited(portal: &Portal, transaction: &mut AsyncPgConnection, waiters: i64) {
    let mut looking = portal.connect().await;
    until("the others to wait for a lock", async || {
        let waiting = "SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let waiting: Count = diesel::sql_query(waiting).get_result(&mut looking).await.unwrap();
        waiting.count == waiters
    })
    .await;
    transaction.batch_execute("COMMIT").await.unwrap();
}

/// Each log-in deletes its own attempt and all attempts of the account, and so conflicts with the other one.
#[tokio::test]
async fn two_log_ins_of_one_user_at_once_both_succeed() {
    let portal = Portal::start().await;
    portal.owner("owner@shop.example").await;
    assert_eq!(log_in(&portal, "wrong").await, 401);
    let mut holding = portal.connect().await;
    // Both log-ins delete the failed attempt first.
    holding.batch_execute("BEGIN; SELECT FROM attempts FOR UPDATE").await.unwrap();
    let (one, other, ()) = tokio::join!(
        log_in(&portal, "correct horse"),
        log_in(&portal, "correct horse"),
        commit_when_awaited(&portal, &mut holding, 2)
    );
    assert_eq!((one, other), (200, 200));
}

#[tokio::test]
async fn a_password_that_changes_during_the_log_in_opens_no_session() {
    let portal = Portal::start().await;
    portal.owner("owner@shop.example").await;
    let mut changing = portal.connect().await;
    changing.batch_execute("BEGIN; UPDATE accounts SET password_hash = 'another'").await.unwrap();
    // The old password is checked before this commits, and the session is opened afterwards.
    let (status, ()) =
        tokio::join!(log_in(&portal, "correct horse"), commit_when_awaited(&portal, &mut changing, 1));
    assert_eq!(status, 401);
}

/// An error in the service is not a failed attempt.
#[tokio::test]
async fn a_log_in_that_fails_because_of_the_service_does_not_count() {
    let portal = Portal::start().await;
    portal.owner("owner@shop.example").await;
    let mut holding = portal.connect().await;
    holding.batch_execute("BEGIN; SELECT FROM accounts FOR UPDATE").await.unwrap();
    assert_eq!(log_in(&portal, "correct horse").await, 503, "the user stays locked until the timeout");
    holding.batch_execute("COMMIT").await.unwrap();
    let counted = "SELECT count(*) AS count FROM attempts WHERE scope LIKE 'log_in%'";
    let counted: Count = diesel::sql_query(counted).get_result(&mut holding).await.unwrap();
    assert_eq!(counted.count, 0);
}

/// Each reset deletes the link of the other.
#[tokio::test]
async fn of_two_concurrent_resets_one_succeeds_without_a_deadlock() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let path = format!("/v1/operator/businesses/{}/password-resets", owner.business);
        let issued = portal.operator().post(&path, json!({ "email": "owner@shop.example" })).await;
        let url = issued.body["url"].as_str().unwrap().to_owned();
        tokens.push(url.split_once("#token=").unwrap().1.to_owned());
    }
    let mut holding = portal.connect().await;
    holding.batch_execute("BEGIN; SELECT FROM accounts FOR UPDATE").await.unwrap();
    let use_link = async |token: &str| {
        let body = json!({ "token": token, "password": "battery staple" });
        portal.stranger().post("/v1/portal/password-resets/confirm", body).await.status
    };
    let (one, other, ()) = tokio::join!(
        use_link(&tokens[0]),
        use_link(&tokens[1]),
        commit_when_awaited(&portal, &mut holding, 2)
    );
    let mut statuses = [one, other];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 422]);
}
