//! Corrections of a phone or an address.

use demo::sample_order;
use serde_json::{Value, json};

use crate::after_failure::{again, failed, portal, post, refusal, view};
use crate::harness::OrderApi;

const FEE: i64 = 4_900;

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_corrected_until_the_delivery_ends() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let order = failed(&business, "corrected").await?;
    let before = view(&business, &order).await?;
    let address = json!({
        "addressLine1": "7, Residency Road", "city": "Bengaluru", "state": "Karnataka", "pincode": "560 025"
    });
    let body = json!({ "phone": "+91 98000-00009", "delivery": address });
    let corrected = post(&business, &order, "delivery-details", body.clone()).await?;
    let shown = &corrected.body;
    assert_eq!(shown["customer"]["phone"], "+919800000009", "{}", corrected.text);
    assert_eq!(
        (&shown["delivery"]["addressLine1"], &shown["delivery"]["pincode"]),
        (&json!("7, Residency Road"), &json!("560025"))
    );
    assert_eq!(shown["delivery"]["landmark"], Value::Null, "the whole address is replaced");
    assert_eq!(
        (&shown["customer"]["name"], &shown["payment"]),
        (&before["customer"]["name"], &before["payment"])
    );
    assert_eq!(post(&business, &order, "delivery-details", body).await?.text, corrected.text);
    // What was sent stays as it was sent.
    let request = portal(&service)?.request(business.id, &order).await?;
    let accepted = request.body;
    for (section, sent) in [("customer", &before["customer"]), ("delivery", &before["delivery"])] {
        assert_eq!(&accepted[section], sent);
    }
    assert_eq!(accepted["asSent"], Value::Null);
    // The correction is listed once, without values.
    let [correction] = shown["corrections"].as_array().unwrap().as_slice() else {
        anyhow::bail!("one correction: {}", corrected.text);
    };
    assert_eq!(correction["keyId"], json!(request.key_id));
    let fields = correction["fields"].as_array().unwrap();
    for field in ["phone", "delivery.addressLine1", "delivery.pincode"] {
        assert!(fields.contains(&json!(field)), "{field}: {correction}");
    }
    assert!(!fields.contains(&json!("delivery.city")), "it is the same: {correction}");
    assert!(!correction.to_string().contains("Residency"), "{correction}");
    let mut other = sample_order("corrected");
    other["customer"]["name"] = json!("Meera");
    let reused = business.live()?.create("corrected", &other).await?;
    assert_eq!(
        (refusal(&reused), &reused.body["differences"]),
        ((422, "idempotency_key_reused"), &json!(["customer.name"]))
    );
    assert_eq!(business.place("corrected").await?, order, "a retry is answered as before");
    let fleet = again(&business, &order, 2, "driver.assigned").await?;
    assert_eq!((&fleet["customer"], &fleet["delivery"]), (&shown["customer"], &shown["delivery"]));

    for (body, field, code) in [
        (json!({}), "delivery", "required"),
        (json!({ "phone": "9800000009" }), "phone", "invalid_format"),
        (json!({ "delivery": {} }), "delivery.addressLine1", "required"),
        (json!({ "delivery": "Residency Road" }), "delivery", "invalid_type"),
        (json!({ "phone": "+919800000010", "deliver": {} }), "deliver", "unknown_field"),
        (json!({ "delivery": { "citty": "Kochi" } }), "delivery.citty", "unknown_field"),
    ] {
        let refused = post(&business, &order, "delivery-details", body.clone()).await?;
        assert_eq!(refusal(&refused), (400, "invalid_request"), "{body}");
        let error = &refused.body["errors"][0];
        assert_eq!((&error["field"], &error["code"]), (&json!(field), &json!(code)), "{body}");
    }
    for event in ["order.out_for_delivery", "order.delivered"] {
        again(&business, &order, 2, event).await?;
    }
    let late = post(&business, &order, "delivery-details", json!({ "phone": "+919800000010" })).await?;
    assert_eq!(refusal(&late), (409, "delivery_not_correctable"));
    Ok(())
}
