//! Wrong passwords and codes in open sessions are in the audit logs.

use serde_json::{Value, json};
use test_kit::Authenticator;

use crate::authenticator::code;
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
    let wrong = code(&app.wrong(&portal.clock));
    let refused = client.post(&format!("{scope}/second-factor/confirm"), wrong).await;
    assert_eq!((refused.status, refused.code()), (422, "code_wrong"), "{refused:?}");
    let right = code(&app.now(&portal.clock));
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
async fn the_entries_name_the_person_the_address_and_the_time() {
    let portal = Portal::with_factors(&[]).await;
    let owner = portal.owner("owner@shop.example").await.client;
    let user = owner.clone().get("/v1/portal/session").await.body["userId"].clone();
    let (asha, id) = person(&portal, "asha@carrier.example", "viewer").await;
    for (mut client, mut reader, scope, actor_id, id) in [
        (owner.clone(), owner, "/v1/portal", "userId", user),
        (asha, portal.operator(), "/v1/operator", "id", json!(id)),
    ] {
        enter_wrong_proofs(&portal, &mut client, scope).await;
        let entries = failures(&mut reader, &format!("{scope}/audit-log")).await;
        assert_eq!(entries.iter().map(|entry| entry["details"].clone()).collect::<Vec<_>>(), details());
        for entry in &entries {
            assert_eq!((&entry["actor"][actor_id], &entry["target"]["id"]), (&id, &id), "{entry}");
            assert_eq!(entry["address"], "127.0.0.1", "{entry}");
            assert!(entry["at"].is_string() && entry["requestId"].is_string(), "{entry}");
        }
        let factor = client.get(&format!("{scope}/second-factor")).await.body;
        assert_eq!(factor["enrolled"], true, "the right code is accepted");
    }
}
