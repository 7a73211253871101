//! An owner removes a user whose person belongs to other businesses too.

use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::authenticator::{Enrolled, FACTOR, SECOND_STEP, SESSION, STEP, challenged, code, enrol};
use crate::portal::Portal;
use crate::two_businesses::{ASHA, Two, USERS, go_to, join, right, switch};

/// Asha's home, Ravi's and a third business, where she is now.
async fn three(portal: &Portal) -> (Two, Enrolled, String) {
    let mut two = Two::start(portal, "developer").await;
    let enrolled = enrol(portal, &mut two.asha).await;
    portal.clock.advance(chrono::TimeDelta::milliseconds(1));
    let third = two.asha.post("/v1/portal/businesses", json!({ "businessName": "Third" })).await;
    let third = third.body["businessId"].as_str().unwrap().to_owned();
    (two, enrolled, third)
}

/// Asha still has the password, the address and the second factor, in the businesses that are left.
async fn is_whole(portal: &Portal, two: &mut Two, enrolled: &Enrolled, third: &str) {
    let session = two.asha.get(SESSION).await.body;
    assert_eq!((&session["businessId"], &session["email"]), (&json!(third), &json!(ASHA)), "{session}");
    let left: Vec<_> =
        session["memberships"].as_array().unwrap().iter().map(|one| &one["businessId"]).collect();
    assert_eq!(left.len(), 2, "{session}");
    assert!(left.contains(&&json!(third)) && left.contains(&&json!(two.ravi.business)));
    assert_eq!(two.asha.get(FACTOR).await.body["enrolled"], true);

    let mut login = challenged(portal, ASHA).await;
    assert_eq!(login.post(SECOND_STEP, code(&enrolled.app.wrong(&portal.clock))).await.status, 422);
    let opened = login.post(SECOND_STEP, code(&enrolled.app.now(&portal.clock))).await;
    assert_eq!((opened.status, &opened.body["businessId"]), (200, &json!(third)), "{opened:?}");
    let mut second = challenged(portal, ASHA).await;
    assert_eq!(second.post(SECOND_STEP, code(&enrolled.recovery_codes[0])).await.status, 200);
    let mut again = challenged(portal, ASHA).await;
    assert_eq!(again.post(SECOND_STEP, code(&enrolled.recovery_codes[0])).await.status, 422, "used");
    go_to(portal, &mut login, &two.ravi.business).await;
    assert_eq!(switch(&mut login, &two.home).await.code(), "business_not_found");

    let change = json!({ "currentPassword": "correct horse", "newPassword": "other horse battery" });
    assert_eq!(login.put("/v1/portal/password", change).await.status, 204);
    assert_eq!(two.asha.get(SESSION).await.status, 401);
    let email = json!({ "email": "new@shop.example" });
    portal.clock.advance(STEP);
    let confirm = json!({ "password": "other horse battery", "code": enrolled.app.now(&portal.clock) });
    assert_eq!(login.post("/v1/portal/session/confirm", confirm).await.status, 204);
    assert_eq!(login.put("/v1/portal/email", email).await.status, 200);
    let new = json!({ "email": "new@shop.example", "password": "other horse battery" });
    assert_eq!(portal.stranger().post(SESSION, new).await.status, 202);
    assert_eq!(login.delete(FACTOR).await.status, 204);
}

#[tokio::test]
async fn an_account_survives_the_removal_from_its_first_business() {
    let portal = Portal::with_factors(&[]).await;
    let (mut two, enrolled, third) = three(&portal).await;
    let mut at_home = {
        let mut client = challenged(&portal, ASHA).await;
        assert_eq!(client.post(SECOND_STEP, code(&enrolled.recovery_codes[1])).await.status, 200);
        go_to(&portal, &mut client, &two.home).await;
        client
    };
    go_to(&portal, &mut two.asha, &third).await;
    let removed = two.boss.delete(&format!("{USERS}/{}", two.users[0])).await;
    assert_eq!(removed.status, 200, "{removed:?}");
    assert_eq!(at_home.get(SESSION).await.status, 401);
    is_whole(&portal, &mut two, &enrolled, &third).await;
}

#[tokio::test]
async fn an_account_ends_with_its_last_business() {
    let portal = Portal::with_factors(&[]).await;
    let mut two = Two::start(&portal, "developer").await;
    enrol(&portal, &mut two.asha).await;
    assert_eq!(two.boss.delete(&format!("{USERS}/{}", two.users[0])).await.status, 200);
    assert_eq!(challenged(&portal, ASHA).await.get(SESSION).await.status, 401, "the account is there");
    assert_eq!(two.ravi.client.delete(&format!("{USERS}/{}", two.users[1])).await.status, 200);
    assert_eq!(portal.stranger().post(SESSION, right(ASHA)).await.code(), "invalid_credentials");
    let fresh = portal.newcomer(ASHA).await.client.get(FACTOR).await.body;
    assert_eq!(fresh["enrolled"], Value::Bool(false), "the address is free");
}

#[tokio::test]
async fn a_removed_person_is_invited_again() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "owner").await;
    assert_eq!(two.boss.delete(&format!("{USERS}/{}", two.users[0])).await.status, 200);
    let last = two.ravi.client.get(SESSION).await.body["userId"].as_str().unwrap().to_owned();
    let mut boss = crate::portal::Owner { client: two.boss, business: two.home.clone() };
    let token = portal.invite(&mut boss, ASHA, "support").await;
    let joined = join(&mut two.asha, &token).await;
    assert_eq!((joined.status, &joined.body["role"]), (201, &json!("support")), "{joined:?}");
    // The owner elsewhere may leave there as well.
    go_to(&portal, &mut two.asha, &two.ravi.business).await;
    assert_eq!(two.asha.delete(&format!("{USERS}/{last}")).await.status, 200);
    let itself = two.asha.delete(&format!("{USERS}/{}", two.users[1])).await;
    assert_eq!((itself.status, itself.code()), (409, "last_owner"), "an owner elsewhere does not count");
}

#[tokio::test]
async fn no_statement_combines_realms_businesses_or_ways_to_log_in() {
    let portal = Portal::start().await;
    let two = Two::start(&portal, "viewer").await;
    let [home, there] = two.users.clone();
    let account = format!("(SELECT account_id FROM memberships WHERE id = '{home}')");
    for statement in [
        format!("UPDATE accounts SET realm = 'staff', name = 'Asha' WHERE id = {account}"),
        format!("INSERT INTO staff_roles (account_id, role) VALUES ({account}, 'administrator')"),
        format!("UPDATE accounts SET provider_of = '{}' WHERE id = {account}", two.home),
        format!("UPDATE accounts SET provider_of = '{}', email_key = NULL WHERE id = {account}", two.home),
        format!("UPDATE memberships SET business_id = '{}' WHERE id = '{there}'", two.home),
        format!("UPDATE sessions SET business_id = '{}' WHERE user_id = '{there}'", two.home),
        "UPDATE sessions SET account_id = (SELECT min(id) FROM accounts WHERE id <> account_id)".to_owned(),
    ] {
        let outcome = portal.connect().await.batch_execute(&statement).await;
        assert!(outcome.is_err(), "{statement}");
    }
}
