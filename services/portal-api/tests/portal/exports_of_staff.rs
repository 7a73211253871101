//! Exports of the operator's staff.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::answers::cash;
use crate::exports::{EXPORTS, done, list_of, orders};
use crate::office::BUSINESSES;
use crate::peers::answer_of;
use crate::portal::Portal;
use crate::staff::person;

const OF_STAFF: &str = "/v1/operator/exports";

#[tokio::test]
async fn the_staff_exports_orders_with_an_entry_that_hides_the_search() {
    let settings = [("WAYBILL_LIMITS__PER_ADDRESS", "false"), ("WAYBILL_MFA__RECENT_MINUTES", "15")];
    let portal = Portal::with(&settings).await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.peers.answer(list_of(&owner.business), 200, orders());
    let (mut support, _) = person(&portal, "support@carrier.example", "support").await;
    let (mut viewer, _) = person(&portal, "viewer@carrier.example", "viewer").await;
    let call = format!("{BUSINESSES}/{}/orders/exports?search=9876543210", owner.business);
    let refused = viewer.post(&call, json!({})).await;
    assert_eq!((refused.status, refused.code()), (403, "permission_missing"));
    let begun = support.post(&call, json!({})).await;
    assert_eq!(begun.status, 202, "{begun:?}");
    let path = format!("{OF_STAFF}/{}", begun.body["id"].as_str().unwrap());
    let ended = done(&mut support, &path).await;
    assert_eq!((&ended["state"], &ended["businessName"]), (&json!("done"), &json!("Corner Shop")));
    let text = support.get(&format!("{path}/file")).await.body.as_str().unwrap().to_owned();
    assert!(text.contains("'+919876543210"), "{text}");

    // Nobody else: neither a colleague, nor the business.
    assert_eq!(viewer.get(&path).await.code(), "export_not_found");
    assert_eq!(viewer.get(OF_STAFF).await.body, json!({ "data": [] }));
    assert_eq!(owner.client.get(EXPORTS).await.body, json!({ "data": [] }));
    assert_eq!(support.get(OF_STAFF).await.body["data"][0]["id"], begun.body["id"]);

    let log = portal.operator().get("/v1/operator/audit-log?actor=support@carrier.example").await.body;
    let entry = |action: &str| -> Value {
        let entries = log["data"].as_array().unwrap();
        entries.iter().find(|entry| entry["action"] == action).unwrap().clone()
    };
    assert_eq!(entry("export.downloaded")["target"]["id"], begun.body["id"]);
    let details = &entry("export.created")["details"];
    assert_eq!(details["search"].as_str().unwrap().len(), 12, "a digest");
    assert!(!log.to_string().contains("9876543210"), "{log}");

    // A session that was confirmed long ago exports and fetches nothing.
    portal.clock.advance(TimeDelta::minutes(15));
    for refused in [support.post(&call, json!({})).await, support.get(&format!("{path}/file")).await] {
        assert_eq!((refused.status, refused.code()), (403, "recent_authentication_required"));
    }
}

#[tokio::test]
async fn a_failed_export_of_a_search_is_in_the_log_once() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let (mut support, _) = person(&portal, "support@carrier.example", "support").await;
    portal.peers.answer(list_of(&owner.business), 503, json!({}));
    let path = format!("{BUSINESSES}/{}/orders/exports", owner.business);
    for search in ["?search=9876543210", "?search=9876543210", "?status=failed"] {
        let failed = support.post(&format!("{path}{search}"), json!({})).await;
        assert!(failed.status >= 500, "{search}: {failed:?}");
    }
    let log = portal.operator().get("/v1/operator/audit-log?actor=support@carrier.example").await.body;
    let entries = log["data"].as_array().unwrap().iter();
    let failed: Vec<_> = entries.filter(|entry| entry["action"] == "export.created").collect();
    assert_eq!(failed.len(), 1, "{log}");
    let details = &failed[0]["details"];
    assert_eq!((&details["failed"], &details["filters"]), (&json!(true), &json!(["search"])));
    assert_eq!(details["search"].as_str().unwrap().len(), 12, "a digest");
    assert!(!log.to_string().contains("9876543210"), "{log}");
}

#[tokio::test]
async fn all_of_the_staff_exports_cash() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let list = format!("GET /wallet/internal/wallets/{}/cash", owner.business);
    let mut found = answer_of(&cash());
    found["data"][0]["remittance"] =
        json!({ "id": "rem_01ARZ3NDEKTSV4RRFFQ69G5FAV", "bankReference": "UTR 7", "paidOn": "2026-01-09" });
    found["data"][0]["difference"] =
        json!({ "reportedPaise": null, "owner": "Ravi", "note": "asked", "resolution": "found" });
    found["data"][0]["reportedSettledPaise"] = json!(900);
    portal.peers.answer(list, 200, found);
    let (mut viewer, _) = person(&portal, "viewer@carrier.example", "viewer").await;
    let call = format!("{BUSINESSES}/{}/cod/exports?status=collected", owner.business);
    let begun = viewer.post(&call, json!({})).await;
    assert_eq!(begun.status, 202, "{begun:?}");
    let path = format!("{OF_STAFF}/{}", begun.body["id"].as_str().unwrap());
    assert_eq!(done(&mut viewer, &path).await["rows"], 1);
    let text = viewer.get(&format!("{path}/file")).await.body.as_str().unwrap().to_owned();
    assert!(text.contains(",shop-1,collected,11.00,10.00,,,yes,2026-01-01 05:30:00,"), "{text}");
    assert!(text.ends_with(",2026-01-08,UTR 7,-1.00,2026-01-09,9.00,Ravi,asked,found\r\n"), "{text}");
    // A business does not learn who clears it.
    let mut client = owner.client;
    let begun = client.post("/v1/portal/cod/exports", json!({})).await;
    let own = format!("/v1/portal/exports/{}", begun.body["id"].as_str().unwrap());
    assert_eq!(done(&mut client, &own).await["rows"], 1);
    let text = client.get(&format!("{own}/file")).await.body.as_str().unwrap().to_owned();
    assert!(text.ends_with(",2026-01-08,UTR 7,-1.00,2026-01-09,9.00\r\n"), "{text}");
    assert_eq!(viewer.delete(&path).await.status, 204);
    let unknown = format!("{BUSINESSES}/biz_01ARZ3NDEKTSV4RRFFQ69G5FAV/cod/exports");
    assert_eq!(viewer.post(&unknown, json!({})).await.code(), "business_not_found");
}
