//! Names of users and of the business, its contact, and the notes of the staff.

use chrono::TimeDelta;
use serde_json::json;

use crate::mail_folder::MailFolder;
use crate::portal::{Owner, Portal, sign_up_body};

const NAME: &str = "/v1/portal/name";
const BUSINESS: &str = "/v1/portal/business";
const SESSION: &str = "/v1/portal/session";

#[tokio::test]
async fn a_users_name_is_shown_in_the_team_and_in_the_audit_log() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    assert_eq!(viewer.get(SESSION).await.body["name"], json!(null));
    assert_eq!(viewer.put(NAME, json!({ "name": " Asha Rao " })).await.status, 204);
    assert_eq!(viewer.put(NAME, json!({ "name": "Asha Rao" })).await.status, 204, "it is so already");
    assert_eq!(viewer.get(SESSION).await.body["name"], "Asha Rao");
    let of_operator = format!("/v1/operator/businesses/{}", owner.business);
    for (client, path) in [
        (&mut owner.client, "/v1/portal/users".to_owned()),
        (&mut portal.operator(), format!("{of_operator}/users")),
    ] {
        let users = client.get(&path).await.body["data"].clone();
        assert_eq!((&users[0]["name"], &users[1]["name"]), (&json!(null), &json!("Asha Rao")), "{path}");
    }
    for (client, path) in [
        (&mut owner.client, "/v1/portal/audit-log?action=user.name_changed".to_owned()),
        (&mut portal.operator(), format!("{of_operator}/audit-log?action=user.name_changed")),
    ] {
        let log = client.get(&path).await.body["data"].clone();
        assert_eq!(log.as_array().unwrap().len(), 1, "{log}");
        assert_eq!(log[0]["actor"]["name"], "Asha Rao", "{log}");
        assert_eq!(log[0]["details"], json!({ "from": null, "to": "Asha Rao" }));
    }
    let joined = owner.client.get("/v1/portal/audit-log?action=account.created").await.body["data"].clone();
    assert_eq!(joined[0]["actor"].get("name"), None, "the owner has none: {joined}");

    assert_eq!(viewer.put(NAME, json!({ "name": null })).await.status, 204);
    assert_eq!(viewer.get(SESSION).await.body["name"], json!(null));
}

#[tokio::test]
async fn an_owner_renames_the_business_everywhere() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut other = portal.owner("owner@other.example").await;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    let renamed = json!({ "businessName": "Malabar Coffee" });
    let refused = viewer.put(BUSINESS, renamed.clone()).await;
    assert_eq!((refused.status, refused.code()), (403, "role_insufficient"));
    for _ in 0..2 {
        assert_eq!(owner.client.put(BUSINESS, renamed.clone()).await.status, 204);
    }
    for client in [&mut owner.client, &mut viewer] {
        assert_eq!(client.get(SESSION).await.body["businessName"], "Malabar Coffee");
    }
    assert_eq!(other.client.get(SESSION).await.body["businessName"], "Corner Shop");
    let listed = portal.operator().get("/v1/operator/businesses?search=malabar").await.body;
    assert_eq!(listed["data"][0]["name"], "Malabar Coffee", "{listed}");
    let token = portal.invite(&mut owner, "guest@shop.example", "viewer").await;
    let found = portal.stranger().post("/v1/portal/invitations/look-up", json!({ "token": token })).await;
    assert_eq!(found.body["businessName"], "Malabar Coffee");
    let log = owner.client.get("/v1/portal/audit-log?action=business.renamed").await.body["data"].clone();
    assert_eq!(log.as_array().unwrap().len(), 1, "{log}");
    assert_eq!(log[0]["details"], json!({ "from": "Corner Shop", "to": "Malabar Coffee" }));
    assert_eq!(portal.stranger().put(BUSINESS, renamed).await.status, 401);
}

#[tokio::test]
async fn a_business_is_renamed_within_the_rules_of_the_sign_up() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    for name in ["", "shop.example", "a\u{202e}b", "a\nb", &"x".repeat(121)] {
        let renamed = owner.put(BUSINESS, json!({ "businessName": name })).await;
        let mut body = sign_up_body("new@shop.example");
        body["businessName"] = json!(name);
        let signed_up = portal.stranger().post("/v1/portal/accounts", body).await;
        assert_eq!(renamed.status, 400, "{name:?}");
        assert_eq!(renamed.body["errors"], signed_up.body["errors"], "{name:?}");
    }
    assert_eq!(owner.get(SESSION).await.body["businessName"], "Corner Shop");
}

/// Mail programs decode encoded words (RFC 2047): this one says "URGENT".
#[tokio::test]
async fn a_name_is_not_decoded_in_a_subject() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let Owner { client: mut owner, business } = portal.owner("owner@shop.example").await;
    let path = format!("/v1/operator/businesses/{business}");
    assert_eq!(portal.operator().patch(&path, json!({ "status": "active" })).await.status, 200);
    let body = json!({ "businessName": "=?utf-8?B?VVJHRU5U?=" });
    assert_eq!(owner.put(BUSINESS, body).await.status, 204);
    folder.confirmations("owner@shop.example", 1).await;
    let body = json!({ "email": "guest@shop.example", "role": "viewer" });
    assert_eq!(owner.post("/v1/portal/invitations", body).await.status, 201);
    let invitation = folder.wait_for(1).await.remove(0);
    assert!(invitation.subject.starts_with("= ?utf-8?B?VVJHRU5U?="), "{}", invitation.subject);
}

const CONTACT: &str = "/v1/portal/business/contact";
const GSTIN: &str = "29AAGCB7383J1Z4";

#[tokio::test]
async fn an_owner_and_the_staff_change_the_contact_of_a_business() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut other = portal.owner("owner@other.example").await.client;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    let none = json!({ "name": null, "email": null, "phone": null, "gstin": null });
    assert_eq!(owner.client.get(CONTACT).await.body, none);
    let sent = json!({ "name": "Meera", "email": "m@shop.example", "phone": "+91 98000-00001", "gstin": " 29aagcb7383j1z4 " });
    assert_eq!(viewer.put(CONTACT, sent.clone()).await.code(), "role_insufficient");
    for _ in 0..2 {
        assert_eq!(owner.client.put(CONTACT, sent.clone()).await.status, 204);
    }
    let kept =
        json!({ "name": "Meera", "email": "m@shop.example", "phone": "+919800000001", "gstin": GSTIN });
    assert_eq!(viewer.get(CONTACT).await.body, kept);
    assert_eq!(other.get(CONTACT).await.body, none);
    let of_operator = format!("/v1/operator/businesses/{}", owner.business);
    let mut operator = portal.operator();
    assert_eq!(operator.get(&of_operator).await.body["contact"], kept);
    portal.clock.advance(chrono::TimeDelta::milliseconds(1));
    let changed = operator.put(&format!("{of_operator}/contact"), json!({ "gstin": GSTIN })).await;
    assert_eq!(changed.status, 204);
    let kept = json!({ "name": null, "email": null, "phone": null, "gstin": GSTIN });
    assert_eq!(owner.client.get(CONTACT).await.body, kept);
    let log = owner.client.get("/v1/portal/audit-log?action=business.contact_changed").await.body;
    let log = log["data"].as_array().unwrap();
    assert_eq!(log.len(), 2, "{log:?}");
    assert_eq!(log[0]["details"], json!({ "fields": ["name", "email", "phone"] }));
    assert_eq!(log[1]["details"], json!({ "fields": ["name", "email", "phone", "gstin"] }));

    let refused = owner
        .client
        .put(CONTACT, json!({ "email": "m", "phone": "98", "gstin": "29AAGCB7383J1Z5", "pan": "x" }))
        .await;
    let fields: Vec<_> = refused.body["errors"].as_array().unwrap().iter().map(|one| &one["field"]).collect();
    assert_eq!((refused.status, fields.len()), (400, 4), "{refused:?}");
    let unknown = "/v1/operator/businesses/biz_01ARZ3NDEKTSV4RRFFQ69G5FAV/contact";
    assert_eq!(operator.put(unknown, json!({})).await.code(), "business_not_found");
}

#[tokio::test]
async fn the_staff_notes_something_about_a_business_for_the_staff() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let other = portal.owner("owner@other.example").await.business;
    let notes = format!("/v1/operator/businesses/{}/notes", owner.business);
    let mut operator = portal.operator();
    assert_eq!(operator.get(&notes).await.body, json!({ "data": [], "hasMore": false }));
    for text in ["Pays late", "Called\non Monday"] {
        let added = operator.post(&notes, json!({ "text": text })).await;
        assert_eq!((added.status, &added.body["text"]), (201, &json!(text)), "{added:?}");
        // Entries of one moment have no order among them.
        portal.clock.advance(TimeDelta::milliseconds(1));
    }
    let page = operator.get(&format!("{notes}?limit=1")).await.body;
    assert_eq!((&page["data"][0]["text"], &page["hasMore"]), (&json!("Called\non Monday"), &json!(true)));
    let rest = operator.get(&format!("{notes}?limit=1&startingAfter=2")).await.body;
    assert_eq!((&rest["data"][0]["text"], &rest["hasMore"]), (&json!("Pays late"), &json!(false)));
    assert!(rest["data"][0]["author"].is_string() && rest["data"][0]["createdAt"].is_string());
    assert_eq!(operator.get(&format!("{notes}?startingAfter=x")).await.status, 400);
    let of_other = operator.get(&format!("/v1/operator/businesses/{other}/notes")).await.body;
    assert_eq!(of_other["data"], json!([]));
    for text in ["", " ", &"x".repeat(2_001)] {
        assert_eq!(operator.post(&notes, json!({ "text": text })).await.status, 400);
    }
    let log = operator.get("/v1/operator/audit-log?action=staff_note.added").await.body;
    assert_eq!(
        (log["data"].as_array().unwrap().len(), &log["data"][0]["details"]),
        (2, &json!({ "number": 2 }))
    );
    let own = owner.client.get("/v1/portal/audit-log?limit=100").await.body.to_string();
    assert!(!own.contains("staff_note") && !own.contains("Pays late"), "{own}");
}
