//! The operator records bank transfers that pay out cash, and businesses see them.

use serde_json::{Value, json};

use crate::office::BUSINESSES;
use crate::portal::Portal;
use crate::staff::person;

const REMITTANCE: &str = "rem_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const ORDER: &str = "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// The wallet's answer.
fn recorded() -> Value {
    json!({
        "id": REMITTANCE, "bankReference": "UTR 7", "paidOn": "2026-01-31", "orders": 2, "totalPaise": 2_050,
        "createdBy": "asha@carrier.example", "createdAt": "2026-02-01T00:00:00Z", "alreadyRecorded": false,
        "lines": [
            { "orderId": ORDER, "orderReference": "=1+1", "handedOverPaise": 1_000, "amountPaise": 1_000, "note": null },
            { "orderId": ORDER, "orderReference": "shop-2", "handedOverPaise": 1_100, "amountPaise": 1_050, "note": "torn" },
        ],
    })
}

fn transfer(csv: &str) -> Value {
    json!({ "bankReference": "UTR 7", "paidOn": "2026-01-31", "csv": csv })
}

fn errors(body: &Value) -> Vec<(&str, &str)> {
    body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["field"].as_str().unwrap(), error["message"].as_str().unwrap()))
        .collect()
}

#[tokio::test]
async fn a_remittance_is_forwarded_once_and_logged() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "finance").await;
    let path = format!("{BUSINESSES}/{}/remittances", owner.business);
    let call = format!("POST /wallet/internal/wallets/{}/remittances", owner.business);
    portal.peers.answer(&call, 201, recorded());
    let csv = format!("order,amount,note\n{ORDER}\nshop-2,10.50,torn\n");
    let made = asha.post(&path, transfer(&csv)).await;
    assert_eq!((made.status, &made.body), (201, &recorded()));
    let wanted = json!({
        "bankReference": "UTR 7", "paidOn": "2026-01-31", "createdBy": "asha@carrier.example",
        "orders": [{ "order": ORDER }, { "order": "shop-2", "amountPaise": 1_050, "note": "torn" }],
    });
    assert_eq!(portal.peers.asked(&call)[0].body, wanted);
    let mut again = recorded();
    again["alreadyRecorded"] = json!(true);
    portal.peers.answer(&call, 200, again);
    assert_eq!(asha.post(&path, transfer(&csv)).await.status, 200);

    let log = portal.operator().get("/v1/operator/audit-log?actor=asha@carrier.example").await.body;
    let count = |action: &str| {
        log["data"].as_array().unwrap().iter().filter(|entry| entry["action"] == action).count()
    };
    assert_eq!((count("remittance.requested"), count("remittance.recorded")), (1, 1));
    let mut client = owner.client;
    let log = client.get("/v1/portal/audit-log").await.body;
    let entry = log["data"].as_array().unwrap().iter().find(|entry| entry["action"] == "remittance.recorded");
    assert_eq!(
        entry.unwrap()["details"],
        json!({ "totalPaise": 2_050, "orders": 2, "paidOn": "2026-01-31" })
    );
}

#[tokio::test]
async fn every_error_names_its_line() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let path = format!("{BUSINESSES}/{}/remittances", owner.business);
    let mut operator = portal.operator();
    let refused = operator.post(&path, transfer("order\na,0\nb\n,5")).await;
    let expected = [
        ("csv[2]", "Line 2: The amount must be rupees above 0, such as 1250.50."),
        ("csv[4]", "Line 4: The order is missing."),
    ];
    assert_eq!((refused.status, errors(&refused.body)), (400, expected.to_vec()));
    let refused = operator
        .post(&path, json!({ "bankReference": "", "paidOn": "1/2/26", "csv": 7, "orders": [] }))
        .await;
    let fields: Vec<_> = errors(&refused.body).into_iter().map(|(field, _)| field.to_owned()).collect();
    assert_eq!(fields, ["orders", "bankReference", "paidOn", "csv"]);
    assert!(portal.peers.calls().iter().all(|call| !call.ends_with("/remittances")));

    // The wallet counts orders; the file has a line more.
    let call = format!("POST /wallet/internal/wallets/{}/remittances", owner.business);
    let of_wallet = json!({
        "code": "invalid_request", "message": "Invalid.",
        "errors": [{ "field": "orders[1]", "code": "already_settled", "message": "It is settled." }],
    });
    portal.peers.answer(&call, 400, of_wallet);
    let refused = operator.post(&path, transfer("order\na\nb")).await;
    assert_eq!(errors(&refused.body), [("csv[3]", "Line 3, b: It is settled.")]);
    // One entry, which says that nothing was booked.
    let log = operator.get("/v1/operator/audit-log?withoutReads=true").await.body;
    let newest = &log["data"][0];
    let details = json!({ "bankReference": "UTR 7", "orders": 2, "refused": "invalid_request" });
    assert_eq!((&newest["action"], &newest["details"]), (&json!("remittance.refused"), &details));
    assert_ne!(log["data"][1]["action"], "remittance.requested");
    let checked = json!({
        "totalPaise": 5, "orders": [],
        "refused": [{ "position": 1, "code": "repeated", "message": "Twice." }],
    });
    portal.peers.answer(format!("{call}/check"), 200, checked);
    let seen = operator.post(&format!("{path}/check"), json!({ "csv": "order\na\na" })).await;
    assert_eq!((seen.status, &seen.body["refused"][0]["position"]), (200, &json!(3)));
    assert_eq!(seen.body["refused"][0]["message"], "a: Twice.");
}

#[tokio::test]
async fn a_file_of_two_thousand_orders_is_accepted_and_other_bodies_stay_short() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let path = format!("{BUSINESSES}/{}/remittances", owner.business);
    let call = format!("POST /wallet/internal/wallets/{}/remittances", owner.business);
    portal.peers.answer(&call, 201, recorded());
    let csv = format!("{ORDER},1250.50\n").repeat(2_000);
    assert_eq!(portal.operator().post(&path, transfer(&csv)).await.status, 201);
    assert_eq!(portal.peers.asked(&call)[0].body["orders"].as_array().unwrap().len(), 2_000);
    let credits = format!("{BUSINESSES}/{}/wallet/credits", owner.business);
    let refused = portal.operator().post(&credits, json!({ "amountPaise": 1, "reference": csv })).await;
    assert_eq!(refused.status, 413);
}

#[tokio::test]
async fn a_business_reads_its_remittances_without_the_staff() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let wallet = format!("GET /wallet/internal/wallets/{}", owner.business);
    let mut listed = recorded();
    for field in ["lines", "alreadyRecorded"] {
        listed.as_object_mut().unwrap().remove(field);
    }
    portal.peers.answer(format!("{wallet}/remittances"), 200, json!({ "data": [listed], "hasMore": false }));
    portal.peers.answer(format!("{wallet}/remittances/{REMITTANCE}"), 200, recorded());
    portal.peers.answer(format!("{wallet}/cash/months"), 200, json!([]));
    let page = owner.client.get("/v1/portal/remittances").await;
    assert_eq!((page.status, &page.body["data"][0]["createdBy"]), (200, &Value::Null));
    let one = owner.client.get(&format!("/v1/portal/remittances/{REMITTANCE}")).await;
    assert_eq!(
        (one.status, &one.body["createdBy"], one.body["lines"].as_array().unwrap().len()),
        (200, &Value::Null, 2)
    );
    let months = owner.client.get("/v1/portal/cod/months").await;
    assert_eq!((months.status, months.body), (200, json!([])));
    let file = owner.client.get(&format!("/v1/portal/remittances/{REMITTANCE}/orders.csv")).await;
    let expected = format!(
        "orderId,orderReference,handedOverPaise,amountPaise,note,handedOverRupees,amountRupees\r\n\
         {ORDER},'=1+1,1000,1000,,10.00,10.00\r\n{ORDER},shop-2,1100,1050,torn,11.00,10.50\r\n"
    );
    assert_eq!((file.status, file.body.as_str().unwrap_or_default()), (200, expected.as_str()));
    let of_operator = format!("{BUSINESSES}/{}/remittances", owner.business);
    let mut operator = portal.operator();
    assert_eq!(operator.get(&of_operator).await.body["data"][0]["createdBy"], "asha@carrier.example");
    let file = operator.get(&format!("{of_operator}/{REMITTANCE}/orders.csv")).await;
    assert_eq!((file.status, file.body), (200, json!(expected)));
}

#[tokio::test]
async fn a_discrepancy_gets_an_owner_that_the_business_does_not_see() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let path = format!("{BUSINESSES}/{}/cod", owner.business);
    let wallet = format!("/wallet/internal/wallets/{}/cash", owner.business);
    let assign = format!("PUT {wallet}/{ORDER}/difference");
    portal.peers.answer(&assign, 204, Value::Null);
    let mut operator = portal.operator();
    let assigned = operator.put(&format!("{path}/{ORDER}/difference"), json!({ "owner": "Ravi" })).await;
    assert_eq!(assigned.status, 204);
    assert_eq!(
        portal.peers.asked(&assign)[0].body,
        json!({ "owner": "Ravi", "note": null, "resolution": null, "reopen": false })
    );
    let mut cash = crate::peers::answer_of(&crate::answers::cash());
    cash["data"][0]["difference"] =
        json!({ "reportedPaise": 5, "owner": "Ravi", "note": null, "resolution": null });
    portal.peers.answer(format!("GET {wallet}"), 200, cash);
    assert_eq!(operator.get(&path).await.body["data"][0]["difference"]["owner"], "Ravi");
    let seen = owner.client.get("/v1/portal/cod").await;
    assert_eq!((seen.status, &seen.body["data"][0]["difference"]), (200, &Value::Null));

    // Entries are in the order of their milliseconds.
    portal.clock.advance(chrono::TimeDelta::milliseconds(1));
    let closing = json!({ "resolution": "Ravi paid it." });
    assert_eq!(operator.put(&format!("{path}/{ORDER}/difference"), closing).await.status, 204);
    let details = |log: Value| [0_usize, 1].map(|entry| log["data"][entry]["details"].clone());
    let of_business = owner.client.get("/v1/portal/audit-log?action=cash_difference.assigned").await.body;
    assert_eq!(details(of_business), [json!({ "closed": true }), json!({ "closed": false })]);
    let log = format!("/v1/operator/audit-log?action=cash_difference.assigned&businessId={}", owner.business);
    let expected = [
        json!({ "closed": true, "owner": null, "resolution": "Ravi paid it." }),
        json!({ "closed": false, "owner": "Ravi", "resolution": null }),
    ];
    assert_eq!(details(operator.get(&log).await.body), expected);
}
