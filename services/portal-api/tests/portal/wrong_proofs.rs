//! Wrong passwords and codes in open sessions are in the audit logs.

use serde_json::{Value, json};

use crate::authenticator::{Authenticator, FACTOR, code};
use crate::client::Client;
use crate::portal::Portal;
use crate::staff::person;

/// Enters a wrong password, and a wrong first code of an app.
async fn enter_wrong_proofs(portal: &Portal, client: &mut Client, scope: &str) {
    let change = json!({ "currentPassword": "wrong", "newPassword": "other horse battery" });
    let refused = client.put(&format!("{scope}/password"), change).await;
    assert_eq!((refused.status, refused.code()), (422, "password_wrong"), "{refused:?}");
    let started = client.press(&format!("{scope}/second-factor")).await;
    let app = Authenticator::new(started.body["secret"].as_str().unwrap());
    let wrong = code(&app.wrong(portal));
    let refused = client.post(&format!("{scope}/second-factor/confirm"), wrong).await;
    assert_eq!((refused.status, refused.code()), (422, "code_wrong"), "{refused:?}");
    let right = code(&app.now(portal));
    assert_eq!(client.post(&format!("{scope}/second-factor/confirm"), right).await.status, 200);
}

/// The entries of failed confirmations, by their reason.
async fn failures(client: &mut Client, log: &str) -> Vec<Value> {
    let answer = client.get(&format!("{log}?action=session.confirmation_failed")).await;
    let mut entries = answer.body["data"].as_array().unwrap_or_else(|| panic!("{answer:?}")).clone();
    entries.sort_by_key(|entry| entry["details"]["reason"].to_string());
    entries
}

fn details() -> [Value; 2] {
    [
        json!({ "reason": "wrong_code", "for": "second_factor" }),
        json!({ "reason": "wrong_password", "for": "password_change" }),
    ]
}

#[tokio::test]
async fn those_of_a_user_name_the_person_the_address_and_the_time() {
    let portal = Portal::with_factors(&[]).await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    let user = owner.get("/v1/portal/session").await.body["userId"].clone();
    enter_wrong_proofs(&portal, &mut owner, "/v1/portal").await;
    let entries = failures(&mut owner, "/v1/portal/audit-log").await;
    assert_eq!(entries.iter().map(|entry| entry["details"].clone()).collect::<Vec<_>>(), details());
    for entry in &entries {
        assert_eq!((&entry["actor"]["userId"], &entry["target"]["id"]), (&user, &user), "{entry}");
        assert_eq!(entry["address"], "127.0.0.1", "{entry}");
        assert!(entry["at"].is_string() && entry["requestId"].is_string(), "{entry}");
    }
    assert_eq!(owner.get(FACTOR).await.body["enrolled"], true, "the right code is accepted");
}

#[tokio::test]
async fn those_of_the_staff_are_in_the_log_of_the_operator() {
    let portal = Portal::with_factors(&[]).await;
    let (mut asha, id) = person(&portal, "asha@carrier.example", "viewer").await;
    enter_wrong_proofs(&portal, &mut asha, "/v1/operator").await;
    let entries = failures(&mut portal.operator(), "/v1/operator/audit-log").await;
    assert_eq!(entries.iter().map(|entry| entry["details"].clone()).collect::<Vec<_>>(), details());
    for entry in &entries {
        assert_eq!((&entry["actor"]["id"], &entry["target"]["id"]), (&json!(id), &json!(id)), "{entry}");
        assert_eq!(entry["address"], "127.0.0.1", "{entry}");
    }
}
