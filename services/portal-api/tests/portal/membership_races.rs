//! Joins, switches and removals at the same time.

use diesel_async::SimpleAsyncConnection;
use serde_json::json;

use crate::authenticator::SESSION;
use crate::log_in_races::commit_when_awaited;
use crate::portal::Portal;
use crate::two_businesses::{ASHA, BUSINESSES, Two, USERS, join, right, switch};

#[tokio::test]
async fn of_two_joins_at_once_one_succeeds() {
    let portal = Portal::start().await;
    let mut home = portal.owner(ASHA).await;
    let mut ravi = portal.owner("ravi@other.example").await;
    let token = portal.invite(&mut ravi, ASHA, "viewer").await;
    let mut other = portal.stranger();
    other.post(SESSION, right(ASHA)).await;
    let mut holding = portal.connect().await;
    let lock = format!("BEGIN; SELECT FROM businesses WHERE id = '{}' FOR UPDATE", ravi.business);
    holding.batch_execute(&lock).await.unwrap();
    let (one, two, ()) = tokio::join!(
        join(&mut home.client, &token),
        join(&mut other, &token),
        commit_when_awaited(&portal, &mut holding, 2)
    );
    let mut outcomes = [(one.status, one.code().to_owned()), (two.status, two.code().to_owned())];
    outcomes.sort_unstable();
    assert_eq!(outcomes, [(201, String::new()), (422, "invitation_invalid".to_owned())]);
    assert_eq!(ravi.client.get(USERS).await.body["data"].as_array().unwrap().len(), 2);
}

/// Both calls have the same cookie: the second one finds that its session has ended.
#[tokio::test]
async fn of_two_switches_of_one_session_one_succeeds() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "viewer").await;
    let mut tab = two.asha.clone();
    let mut holding = portal.connect().await;
    let lock = format!(
        "BEGIN; SELECT FROM accounts WHERE id = (SELECT account_id FROM memberships WHERE id = '{}') FOR UPDATE",
        two.users[0]
    );
    holding.batch_execute(&lock).await.unwrap();
    let (one, other, ()) = tokio::join!(
        switch(&mut two.asha, &two.home),
        switch(&mut tab, &two.home),
        commit_when_awaited(&portal, &mut holding, 2)
    );
    let mut outcomes = [one.status, other.status];
    outcomes.sort_unstable();
    assert_eq!(outcomes, [200, 401]);
}

#[tokio::test]
async fn a_removal_during_a_switch_leaves_no_session_in_the_business() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "viewer").await;
    crate::two_businesses::go_to(&portal, &mut two.asha, &two.home).await;
    let mut holding = portal.connect().await;
    let lock = format!(
        "BEGIN; SELECT FROM accounts WHERE id = (SELECT account_id FROM memberships WHERE id = '{}') FOR UPDATE",
        two.users[0]
    );
    holding.batch_execute(&lock).await.unwrap();
    let path = format!("{USERS}/{}", two.users[1]);
    let (switched, removed, ()) = tokio::join!(
        switch(&mut two.asha, &two.ravi.business),
        two.ravi.client.delete(&path),
        commit_when_awaited(&portal, &mut holding, 2)
    );
    assert_eq!(removed.status, 200, "{removed:?}");
    assert!(matches!(switched.status, 200 | 404), "{switched:?}");
    let after = two.asha.get(SESSION).await;
    let is_out = after.status == 401 || after.body["businessId"] == two.home;
    assert!(is_out, "{after:?}");
    assert_eq!(switch(&mut two.log_in(&portal).await, &two.ravi.business).await.status, 404);
}

/// The removal of the account's first business passes the account on while a further business is created.
#[tokio::test]
async fn a_removal_during_a_new_membership_keeps_one_account() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "viewer").await;
    let mut holding = portal.connect().await;
    let lock = format!(
        "BEGIN; SELECT FROM accounts WHERE id = (SELECT account_id FROM memberships WHERE id = '{}') FOR UPDATE",
        two.users[0]
    );
    holding.batch_execute(&lock).await.unwrap();
    let path = format!("{USERS}/{}", two.users[0]);
    let (created, removed, ()) = tokio::join!(
        two.asha.post(BUSINESSES, json!({ "businessName": "Third" })),
        two.boss.delete(&path),
        commit_when_awaited(&portal, &mut holding, 2)
    );
    assert_eq!(removed.status, 200, "{removed:?}");
    assert!(matches!(created.status, 201 | 401), "{created:?}");
    let expected = if created.status == 201 { 2 } else { 1 };
    let mut login = two.log_in(&portal).await;
    let session = login.get(SESSION).await.body;
    assert_eq!(session["memberships"].as_array().unwrap().len(), expected, "{session}");
}

/// Two owners of two businesses remove each other at the same time.
#[tokio::test]
async fn owners_who_remove_each_other_in_two_businesses_do_not_block_each_other() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "owner").await;
    let mut home = crate::portal::Owner { client: two.boss.clone(), business: two.home.clone() };
    let token = portal.invite(&mut home, "ravi@other.example", "owner").await;
    let mut ravi_at_home = portal.stranger();
    ravi_at_home.post(SESSION, right("ravi@other.example")).await;
    let ravi_there = ravi_at_home.get(SESSION).await.body["userId"].as_str().unwrap().to_owned();
    assert_eq!(join(&mut ravi_at_home, &token).await.status, 201);
    // Ravi removes Asha's account row at her home; Asha removes Ravi's account row at his.
    let (one, other) = (format!("{USERS}/{}", two.users[0]), format!("{USERS}/{ravi_there}"));
    let (first, second) = tokio::join!(ravi_at_home.delete(&one), two.asha.delete(&other));
    assert_eq!((first.status, second.status), (200, 200), "{first:?} {second:?}");
    for email in [ASHA, "ravi@other.example"] {
        let opened = portal.stranger().post(SESSION, right(email)).await;
        assert_eq!(opened.status, 200, "{opened:?}");
    }
}
