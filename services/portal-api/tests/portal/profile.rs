//! The pickup profile and the subscription.

use serde_json::{Value, json};

use crate::portal::Portal;

pub(crate) const PROFILE: &str = "/v1/portal/pickup-profile";
const SUBSCRIPTION: &str = "/v1/portal/subscription";

pub(crate) fn complete_profile() -> Value {
    json!({
        "businessName": "Corner Shop",
        "contactName": "Asha Rao",
        "phone": "+919876543210",
        "addressLine1": "12 MG Road",
        "city": "Bengaluru",
        "state": "Karnataka",
        "pincode": "560001",
    })
}

#[tokio::test]
async fn a_profile_is_empty_and_then_complete() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let empty = owner.client.get(PROFILE).await;
    assert_eq!(empty.status, 200);
    assert_eq!(empty.body["complete"], false);
    assert_eq!(empty.body["phone"], Value::Null);
    assert_eq!(empty.body["missing"].as_array().unwrap().len(), 7);

    let mut profile = complete_profile();
    profile["latitude"] = json!(12.9716);
    profile["longitude"] = json!(77.5946);
    profile["landmark"] = json!("Opposite the metro");
    let written = owner.client.put(PROFILE, profile.clone()).await;
    assert_eq!(written.status, 200, "{written:?}");
    assert_eq!(written.body["complete"], true);
    let read = owner.client.get(PROFILE).await;
    assert_eq!(read.body, written.body);
    for (name, value) in profile.as_object().unwrap() {
        assert_eq!(&read.body[name], value, "{name}");
    }

    let mut broken = complete_profile();
    broken["addressLine1"] = json!("12 MG Road\r\n Floor 3");
    let written = owner.client.put(PROFILE, broken).await;
    assert_eq!(written.body["addressLine1"], "12 MG Road Floor 3", "as in an order: {written:?}");

    // What is left out of the next one is gone.
    let written = owner.client.put(PROFILE, complete_profile()).await;
    assert_eq!(written.body["landmark"], Value::Null);
    assert_eq!(owner.client.get(PROFILE).await.body["latitude"], Value::Null);
}

#[tokio::test]
async fn an_incomplete_or_impossible_profile_is_refused_with_every_fault() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let missing = owner.client.put(PROFILE, json!({ "businessName": "Shop", "city": "" })).await;
    assert_eq!((missing.status, missing.code()), (400, "invalid_request"));
    assert_eq!(
        missing.invalid_fields(),
        ["addressLine1", "city", "contactName", "phone", "pincode", "state"]
    );
    let mut wrong = complete_profile();
    wrong["phone"] = json!("9876543210");
    wrong["pincode"] = json!("056001");
    wrong["latitude"] = json!(91);
    wrong["landmark"] = json!(7);
    let refused = owner.client.put(PROFILE, wrong).await;
    assert_eq!(refused.invalid_fields(), ["landmark", "latitude", "longitude", "phone", "pincode"]);
    assert_eq!(owner.client.get(PROFILE).await.body["complete"], false, "nothing of them was kept");
}

#[tokio::test]
async fn each_business_has_a_profile_of_its_own() {
    let portal = Portal::start().await;
    let mut first = portal.owner("first@shop.example").await;
    let mut second = portal.owner("second@shop.example").await;
    first.client.put(PROFILE, complete_profile()).await;
    assert_eq!(second.client.get(PROFILE).await.body["complete"], false);
    assert_eq!(portal.ordering(&second.business).await["pickup"], Value::Null);
    assert_eq!(portal.ordering(&first.business).await["pickup"]["pincode"], "560001");
}

#[tokio::test]
async fn a_plan_is_requested_and_activated_by_the_operator() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let none = owner.client.get(SUBSCRIPTION).await;
    assert_eq!(
        none.body,
        json!({
            "status": "required", "plan": null, "requestedPlan": null, "plans": ["starter", "growth", "scale"],
        })
    );
    for body in [json!({}), json!({ "plan": "free" }), json!({ "plan": 1 })] {
        let refused = owner.client.put(SUBSCRIPTION, body).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["plan"]));
    }
    let requested = owner.client.put(SUBSCRIPTION, json!({ "plan": "growth" })).await;
    assert_eq!((requested.status, requested.body["status"].as_str()), (200, Some("requested")));
    assert_eq!(requested.body["requestedPlan"], "growth");

    let path = format!("/v1/operator/businesses/{}", owner.business);
    let changed = portal.operator().patch(&path, json!({ "subscription": "active" })).await;
    assert_eq!(changed.body["plan"], "growth");
    assert_eq!(owner.client.get(SUBSCRIPTION).await.body["status"], "active");
    portal.operator().patch(&path, json!({ "subscription": "inactive" })).await;
    let expired = owner.client.get(SUBSCRIPTION).await;
    assert_eq!(
        (expired.body["status"].as_str(), expired.body["plan"].as_str()),
        (Some("expired"), Some("growth"))
    );
}
