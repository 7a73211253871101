//! An owner removes the user of a business that is the account for others too: the account passes on to another business.

use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::authenticator::{Enrolled, FACTOR, SECOND_STEP, SESSION, STEP, challenged, code, enrol};
use crate::client::Client;
use crate::portal::Portal;
use crate::two_businesses::{ASHA, Two, USERS, go_to, join, right, switch};

/// Also of the only owner, whom the portal does not remove.
async fn remove_row(portal: &Portal, user: &str) {
    let remove = format!(
        "BEGIN; DELETE FROM sessions WHERE user_id = '{user}'; DELETE FROM users WHERE id = '{user}'; COMMIT"
    );
    portal.connect().await.batch_execute(&remove).await.unwrap();
}

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
    assert_eq!(login.post(SECOND_STEP, code(&enrolled.app.wrong(portal))).await.status, 422);
    let opened = login.post(SECOND_STEP, code(&enrolled.app.now(portal))).await;
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
    let confirm = json!({ "password": "other horse battery", "code": enrolled.app.now(portal) });
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

/// From business to business, until nothing is left.
#[tokio::test]
async fn an_account_passes_on_more_than_once_and_ends_with_its_last_business() {
    let portal = Portal::with_factors(&[]).await;
    let (mut two, enrolled, third) = three(&portal).await;
    two.boss.delete(&format!("{USERS}/{}", two.users[0])).await;
    let of_third = two.asha.get(SESSION).await.body["userId"].as_str().unwrap().to_owned();
    remove_row(&portal, &of_third).await;
    assert_eq!(two.asha.get(SESSION).await.status, 401);
    let mut login = challenged(&portal, ASHA).await;
    let opened = login.post(SECOND_STEP, code(&enrolled.app.now(&portal))).await;
    assert_eq!((opened.status, &opened.body["businessId"]), (200, &json!(two.ravi.business)), "{opened:?}");
    assert_ne!(opened.body["businessId"], third);
    two.ravi.client.delete(&format!("{USERS}/{}", two.users[1])).await;
    assert_eq!(login.get(SESSION).await.status, 401);
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

async fn refused(portal: &Portal, statement: &str) {
    let outcome = portal.connect().await.batch_execute(statement).await;
    assert!(outcome.is_err(), "{statement}");
}

#[tokio::test]
async fn no_statement_makes_a_membership_log_in() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "viewer").await;
    let [home, there] = two.users.clone();
    refused(&portal, &format!("UPDATE users SET email_key = 'x@shop.example' WHERE id = '{there}'")).await;
    refused(&portal, &format!("UPDATE users SET account_id = NULL WHERE id = '{there}'")).await;
    let own = "account_business_id = business_id, account_id = id, email_key = id";
    refused(&portal, &format!("UPDATE users SET {own} WHERE id = '{home}'")).await;
    let twice = "INSERT INTO users (id, business_id, email, email_key, password_hash, role, created_at, account_id, account_business_id)
        SELECT 'usr_1', business_id, email, 'usr_1', password_hash, role, created_at, account_id, account_business_id FROM users";
    refused(&portal, &format!("{twice} WHERE id = '{there}'")).await;

    // A password of its own gives no access.
    let set = format!(
        "UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE id = '{home}') WHERE id = '{there}'"
    );
    portal.connect().await.batch_execute(&set).await.unwrap();
    let by_id = json!({ "email": there, "password": "correct horse" });
    assert_eq!(portal.stranger().post(SESSION, by_id).await.status, 400, "no address");
    // A new password of the account ends the sessions of its memberships.
    let set = format!("UPDATE users SET password_hash = password_hash || 'x' WHERE id = '{home}'");
    portal.connect().await.batch_execute(&set).await.unwrap();
    assert_eq!(two.asha.get(SESSION).await.status, 401);
    assert_eq!(sessions_of(&mut two.boss).await, 200, "and of nobody else");
}

async fn sessions_of(client: &mut Client) -> u16 {
    client.get(SESSION).await.status
}
