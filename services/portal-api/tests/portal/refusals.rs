//! What the operator refuses a business, and how the business asks again.

use diesel_async::SimpleAsyncConnection;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::closings::of_operator;
use crate::portal::Portal;

const REFUSAL: &str = "/v1/portal/business/refusal";
const CLOSING: &str = "/v1/portal/business/closing";
const ASK: &str = "/v1/portal/business/refusal/ask-again";

/// The businesses that wait for their approval, the newest first.
async fn waiting(operator: &mut Client) -> Vec<Value> {
    listed(operator, "signUps").await
}

/// Those of one list of the operator's home.
async fn listed(operator: &mut Client, list: &str) -> Vec<Value> {
    let home = operator.get("/v1/operator/home").await.body;
    home[list].as_array().unwrap().iter().map(|business| business["id"].clone()).collect()
}

/// Of each business of the list, the newest first.
async fn refused_and_asked(operator: &mut Client) -> Vec<(bool, bool)> {
    let page = operator.get("/v1/operator/businesses").await.body;
    let of = |business: &Value| (business["refused"] == true, business["askedAgain"] == true);
    page["data"].as_array().unwrap().iter().map(of).collect()
}

#[tokio::test]
async fn a_refused_sign_up_reads_why_and_asks_again() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut other = portal.owner("owner@other.example").await;
    let mut operator = portal.operator();
    let (path, id, other_id) = (of_operator(&owner.business), json!(owner.business), json!(other.business));
    let refusal = format!("{path}/refusal");
    assert_eq!(owner.client.post(ASK, json!({})).await.code(), "nothing_refused");
    assert_eq!(operator.post(&refusal, json!({})).await.invalid_fields(), ["reason"]);
    assert_eq!(waiting(&mut operator).await, [other_id.clone(), id.clone()]);

    let reason = json!({ "reason": "The GSTIN is missing." });
    assert_eq!(operator.post(&refusal, reason.clone()).await.status, 204);
    let read = owner.client.get(REFUSAL).await.body["refusal"].clone();
    assert_eq!((&read["reason"], &read["askedAgainAt"]), (&reason["reason"], &Value::Null), "{read}");
    assert_eq!(operator.get(&path).await.body["refusal"], read);
    assert_eq!(other.client.get(REFUSAL).await.body, json!({ "refusal": null }), "of another business");
    assert_eq!(other.client.post(ASK, json!({})).await.code(), "nothing_refused");
    assert_eq!(waiting(&mut operator).await, std::slice::from_ref(&other_id));
    assert_eq!(refused_and_asked(&mut operator).await, [(false, false), (true, false)]);

    let long = json!({ "note": "x".repeat(501) });
    assert_eq!(owner.client.post(ASK, long).await.invalid_fields(), ["note"]);
    for note in ["The GSTIN is in our contact now.", "A repetition"] {
        assert_eq!(owner.client.post(ASK, json!({ "note": note })).await.status, 204);
    }
    let asked = owner.client.get(REFUSAL).await.body["refusal"].clone();
    assert!(asked["askedAgainAt"].is_string(), "{asked}");
    assert_eq!(asked["note"], "The GSTIN is in our contact now.");
    assert_eq!(operator.get(&path).await.body["refusal"], asked);
    assert_eq!(waiting(&mut operator).await, [other_id.clone(), id.clone()]);
    let sign_ups = operator.get("/v1/operator/home").await.body["signUps"].clone();
    assert_eq!((&sign_ups[0]["askedAgain"], &sign_ups[1]["askedAgain"]), (&json!(false), &json!(true)));
    assert_eq!(refused_and_asked(&mut operator).await, [(false, false), (false, true)]);
    let log = owner.client.get("/v1/portal/audit-log").await.body;
    for action in ["business.refused", "business.asked_again"] {
        let entries = log["data"].as_array().unwrap().iter();
        assert_eq!(entries.filter(|entry| entry["action"] == action).count(), 1, "{action}: {log}");
    }
    let of_staff = operator.get("/v1/operator/audit-log").await.body;
    for log in [&log, &of_staff] {
        assert!(!log.to_string().contains("GSTIN"), "an erasure cannot remove it: {log}");
    }
    assert_eq!(operator.post(&refusal, reason).await.status, 204, "once more");
    let again = owner.client.get(REFUSAL).await.body["refusal"].clone();
    assert_eq!((&again["askedAgainAt"], &again["note"]), (&Value::Null, &Value::Null));
    assert_eq!(waiting(&mut operator).await, std::slice::from_ref(&other_id));
    assert_eq!(operator.patch(&path, json!({ "status": "active" })).await.status, 200);
    assert_eq!(owner.client.get(REFUSAL).await.body["refusal"], Value::Null, "the approval ends it");
    let unknown = of_operator("biz_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_eq!(operator.post(&format!("{unknown}/refusal"), json!({ "reason": "x" })).await.status, 404);
}

#[tokio::test]
async fn live_access_is_refused_and_asked_for_again_too() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (portal.owner("owner@shop.example").await, portal.operator());
    let (path, id) = (of_operator(&owner.business), json!(owner.business));
    let refusal = format!("{path}/refusal");
    assert_eq!(operator.patch(&path, json!({ "status": "active" })).await.status, 200);
    assert!(waiting(&mut operator).await.is_empty());
    let asked = owner.client.put("/v1/portal/subscription", json!({ "plan": "growth" })).await;
    assert_eq!(asked.status, 200, "{asked:?}");
    assert_eq!(listed(&mut operator, "planRequests").await, std::slice::from_ref(&id));
    let reason = json!({ "reason": "Please test cancellations first." });
    assert_eq!(operator.post(&refusal, reason.clone()).await.status, 204);
    for list in ["signUps", "planRequests"] {
        assert!(listed(&mut operator, list).await.is_empty(), "refused: {list}");
    }
    let without_body = owner.client.raw(Method::POST, ASK, "application/json", "").await;
    assert_eq!(without_body.status, 204, "{without_body:?}");
    assert_eq!(listed(&mut operator, "planRequests").await, std::slice::from_ref(&id));
    for status in ["suspended", "active"] {
        assert_eq!(operator.patch(&path, json!({ "status": status })).await.status, 200, "{status}");
    }
    assert_eq!(waiting(&mut operator).await, [id], "also after a suspension");
    assert_eq!(operator.patch(&path, json!({ "liveAccess": "active" })).await.status, 200);
    assert!(waiting(&mut operator).await.is_empty());
    assert_eq!(owner.client.get(REFUSAL).await.body["refusal"], Value::Null);
    for refused in [owner.client.post(ASK, json!({})).await, operator.post(&refusal, reason).await] {
        assert_eq!((refused.status, refused.code()), (409, "business_not_waiting"), "{refused:?}");
    }
    // What was refused before is over, also when live access is withdrawn.
    assert_eq!(operator.patch(&path, json!({ "liveAccess": "inactive" })).await.status, 200);
    assert_eq!(owner.client.get(REFUSAL).await.body["refusal"], Value::Null);
}

#[tokio::test]
async fn a_plan_that_is_requested_after_a_refusal_reaches_the_operator() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut finance = portal.member(&mut owner, "finance@shop.example", "finance").await;
    let (mut operator, id) = (portal.operator(), json!(owner.business));
    let (refusal, reason) =
        (format!("{}/refusal", of_operator(&owner.business)), json!({ "reason": "There is no plan." }));
    let request = async |finance: &mut Client, plan: &str| {
        let asked = finance.put("/v1/portal/subscription", json!({ "plan": plan })).await;
        assert_eq!(asked.status, 200, "{asked:?}");
    };
    assert_eq!(operator.post(&refusal, reason.clone()).await.status, 204);
    request(&mut finance, "growth").await;
    assert_eq!(listed(&mut operator, "planRequests").await, std::slice::from_ref(&id));
    let asked = owner.client.get(REFUSAL).await.body["refusal"].clone();
    assert_eq!((asked["askedAgainAt"].is_string(), &asked["note"]), (true, &Value::Null), "{asked}");
    for note in [json!({ "note": "We chose one." }), json!({ "note": "A repetition" }), json!({})] {
        assert_eq!(owner.client.post(ASK, note).await.status, 204);
    }
    let with_note = owner.client.get(REFUSAL).await.body["refusal"].clone();
    assert_eq!(with_note["note"], "We chose one.", "an owner adds it to what the request asked");

    assert_eq!(operator.post(&refusal, reason.clone()).await.status, 204, "once more");
    request(&mut finance, "growth").await;
    assert!(listed(&mut operator, "planRequests").await.is_empty(), "the same request is no other");
    assert_eq!(owner.client.post(ASK, json!({ "note": "Growth fits us." })).await.status, 204);
    request(&mut finance, "scale").await;
    assert_eq!(owner.client.get(REFUSAL).await.body["refusal"]["note"], "Growth fits us.", "it had asked");

    assert_eq!(operator.post(&refusal, reason).await.status, 204);
    assert!(listed(&mut operator, "planRequests").await.is_empty());
    // As release 1.0.0 approves it, which leaves the refusal.
    let approve = "UPDATE businesses SET active_since = refused_at + interval '1 second' FROM refusals WHERE business_id = id";
    portal.connect().await.batch_execute(approve).await.unwrap();
    assert_eq!(listed(&mut operator, "planRequests").await, [id]);
}

#[tokio::test]
async fn a_business_waits_for_nothing_from_the_beginning_of_its_closing_on() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (portal.owner("owner@shop.example").await, portal.operator());
    let asked = owner.client.put("/v1/portal/subscription", json!({ "plan": "growth" })).await;
    assert_eq!(asked.status, 200, "{asked:?}");
    for list in ["signUps", "planRequests"] {
        assert_eq!(listed(&mut operator, list).await, [json!(owner.business)], "{list}");
        assert_eq!(owner.client.post(CLOSING, json!({})).await.status, 204);
        assert!(listed(&mut operator, list).await.is_empty(), "{list}");
        assert_eq!(owner.client.delete(CLOSING).await.status, 204);
    }
    assert_eq!(waiting(&mut operator).await, [json!(owner.business)], "withdrawn");
}
