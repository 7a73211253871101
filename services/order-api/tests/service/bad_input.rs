//! Invalid keys and fields: a 4xx that names all errors, and no stored row (SPECIFICATION §2.1, §7). Invalid headers and
//! bodies that are not JSON are in `error_bodies.rs`.

use anyhow::Context;
use demo::eventually;
use events::{ApiKeyRevoked, Body};
use internal_api::ordering::PickupProfile;
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::{PATIENCE, smallest_order};

use crate::business::{Business, pickup_profile};
use crate::harness::OrderApi;

#[tokio::test(flavor = "multi_thread")]
async fn bad_orders_are_refused_and_leave_nothing() -> anyhow::Result<()> {
    let service = OrderApi::connected().await;
    let business = service.business(0);
    bad_keys(&business).await?;
    bad_fields(&business).await?;
    every_fault_at_once(&business).await?;
    cash_without_an_amount(&business).await?;
    assert_eq!(service.count("orders").await, 0, "a refused order left something behind");
    revoked_keys(&service, &business).await
}

async fn bad_keys(business: &Business) -> anyhow::Result<()> {
    let mut mistyped = business.test_key.clone();
    mistyped.replace_range(20..21, if &mistyped[20..21] == "A" { "B" } else { "A" });
    let unknown = "sk_test_waybill_000000000000000000000000000000000000";
    for key in [mistyped.as_str(), unknown, "nonsense", "sk_test_waybill_"] {
        let refused = business.integration(key)?.create("k", &smallest_order("r")).await?;
        assert_eq!((refused.status.as_u16(), refused.code()), (401, "invalid_api_key"), "{key}");
        assert!(refused.body["message"].is_string() && refused.body["requestId"].is_string());
    }
    let api = business.integration("")?.api;
    let bare = api.send(api.request(Method::POST, "/integration/orders").json(&json!({}))).await?;
    assert_eq!(bare.status, 401, "{}", bare.text);
    Ok(())
}

async fn bad_fields(business: &Business) -> anyhow::Result<()> {
    let integration = business.test()?;
    let cases: [(&str, Value, &str); 20] = [
        ("/orderReference", json!(null), "required"),
        ("/orderReference", json!("x".repeat(129)), "too_long"),
        ("/orderReference", json!("a\u{0}b"), "invalid_format"),
        ("/customer", json!(null), "required"),
        ("/customer", json!("Asha"), "invalid_type"),
        ("/customer/name", json!("  "), "required"),
        ("/customer/phone", json!("9800000001"), "invalid_format"),
        ("/delivery", json!(null), "required"),
        ("/delivery/addressLine1", json!(null), "required"),
        ("/delivery/pincode", json!("ABC"), "invalid_format"),
        ("/payment", json!(null), "required"),
        ("/payment/paymentType", json!("card"), "invalid_value"),
        ("/payment/deliveryFeePaise", json!(null), "required"),
        ("/payment/deliveryFeePaise", json!(0), "out_of_range"),
        ("/payment/deliveryFeePaise", json!(-1), "out_of_range"),
        ("/payment/deliveryFeePaise", json!(100.0), "invalid_type"),
        ("/payment/deliveryFeePaise", json!("4900"), "invalid_type"),
        ("/payment/deliveryFeePaise", json!(u64::MAX), "out_of_range"),
        ("/payment/codAmountPaise", json!(1), "invalid_value"),
        ("/payment/currency", json!("USD"), "invalid_value"),
    ];
    for (pointer, value, code) in cases {
        let mut body = smallest_order("r");
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        if let Some(parent) = body.pointer_mut(parent).and_then(Value::as_object_mut) {
            parent.insert(name.to_owned(), value.clone());
        }
        let refused = integration.create("k", &body).await?;
        assert_eq!(refused.status, 400, "{pointer} = {value}: {}", refused.text);
        let field = pointer.trim_start_matches('/').replace('/', ".");
        let errors = refused.body["errors"].as_array().cloned().unwrap_or_default();
        let named: Vec<_> =
            errors.iter().map(|error| (error["field"].as_str(), error["code"].as_str())).collect();
        let (first, rest) = named.split_first().context("no errors")?;
        assert_eq!(*first, (Some(&*field), Some(code)), "{}", refused.text);
        // For a missing section, its required fields are named too.
        let within = |name: Option<&str>| name.is_some_and(|name| name.starts_with(&format!("{field}.")));
        assert!(
            rest.iter().all(|(name, code)| within(*name) && *code == Some("required")),
            "{}",
            refused.text
        );
    }
    let mut body = smallest_order("r");
    body["customer"]["phone"] = json!("098000 00001");
    let refused = integration.create("k", &body).await?;
    let message = refused.body["message"].as_str().unwrap_or_default();
    assert!(message.ends_with("If the number is Indian, send +919800000001."), "{message}");
    Ok(())
}

async fn every_fault_at_once(business: &Business) -> anyhow::Result<()> {
    let body = json!({
        "customer": { "name": 7 },
        "delivery": { "city": "Bengaluru", "pincode": "1" },
        "package": { "items": [{ "quantity": 1 }, { "quantity": "2" }] },
        "payment": { "paymentType": "cod", "prepaidAmountPaise": 5 }
    });
    let refused = business.test()?.create("k", &body).await?;
    assert_eq!(refused.status, 400);
    let mut fields: Vec<_> =
        refused.body["errors"].as_array().into_iter().flatten().map(|error| error["field"].clone()).collect();
    fields.sort_by_key(ToString::to_string);
    assert_eq!(
        json!(fields),
        json!([
            "customer.name",
            "customer.phone",
            "delivery.addressLine1",
            "delivery.pincode",
            "delivery.state",
            "orderReference",
            "package.items[1].quantity",
            "payment.codAmountPaise",
            "payment.deliveryFeePaise",
            "payment.prepaidAmountPaise"
        ])
    );
    Ok(())
}

async fn cash_without_an_amount(business: &Business) -> anyhow::Result<()> {
    let mut body = smallest_order("cash");
    body["payment"] = json!({ "paymentType": "cod", "deliveryFeePaise": 4_900, "codAmount": 50_000 });
    for api in [business.test()?, business.live()?] {
        let refused = api.create("cash", &body).await?;
        assert_eq!((refused.status.as_u16(), refused.code()), (400, "invalid_request"), "{}", refused.text);
        let first =
            |list: &str| (refused.body[list][0]["field"].clone(), refused.body[list][0]["code"].clone());
        assert_eq!(first("errors"), (json!("payment.codAmountPaise"), json!("cod_amount_required")));
        assert_eq!(first("warnings"), (json!("payment.codAmount"), json!("unknown_field")));
        let hint = refused.body["warnings"][0]["message"].as_str().unwrap_or_default();
        assert!(hint.ends_with("Did you mean `codAmountPaise`?"), "{hint}");
    }
    Ok(())
}

async fn revoked_keys(service: &OrderApi, business: &Business) -> anyhow::Result<()> {
    let integration = business.test()?;
    integration.create("k", &smallest_order("r")).await?.expect(201)?;
    // The clock stands still, so the cached key stays fresh until the event.
    let key = service.peers.forget_key(&business.test_key);
    integration.create("k", &smallest_order("r")).await?.expect(201)?;
    let revoked = ApiKeyRevoked { key_id: key.key_id, mode: key.mode };
    service.publish(business.id, Body::ApiKeyRevoked(revoked)).await;
    eventually("the revoked key to be refused", PATIENCE, || async {
        Ok((integration.create("k", &smallest_order("r")).await?.status == 401).then_some(()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_misleading_pickup_profile_causes_a_warning() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(10_000);
    let swapped = PickupProfile { latitude: Some(77.6), longitude: Some(12.9), ..pickup_profile() };
    service.peers.set_ordering(business.id, &[], Some(swapped));
    let placed = business.live()?.create("swapped", &smallest_order("swapped")).await?.expect(201)?;
    assert_eq!(placed["warnings"][0]["code"], "coordinates_swapped", "{placed}");
    Ok(())
}
