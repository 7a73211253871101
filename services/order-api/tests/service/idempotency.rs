//! One order per reference and key (SPECIFICATION §10.4): replays, reused keys, conflicts, scope, and failures that leave
//! no trace. Snapshots contain the bodies of the errors.

use std::collections::BTreeSet;

use demo::clients::Reply;
use demo::eventually;
use domain::GoLiveItem;
use futures_util::future::try_join_all;
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::{PATIENCE, smallest_order};

use crate::business::Business;
use crate::harness::{OrderApi, text};

const FEE: i64 = 4_900;

#[tokio::test(flavor = "multi_thread")]
async fn one_order_per_reference_and_key() -> anyhow::Result<()> {
    let service = OrderApi::connected().await;
    let business = service.business(FEE * 10);
    locked_live_orders_leave_nothing(&service, &business).await?;
    a_hundred_at_once_are_one_order(&service, &business).await?;
    replays_are_byte_identical(&business).await?;
    a_key_is_for_one_body_and_a_reference_for_one_key(&business).await?;
    modes_and_businesses_are_separate(&service, &business).await?;
    failures_free_key_and_reference(&service, &business).await?;
    another_notation_is_the_same_request(&business).await?;
    a_cancelled_order_asks_for_a_new_reference(&business).await?;
    withdrawn_live_access_names_the_contact(&service, &business).await?;
    a_business_that_is_being_closed_reads_so(&service).await
}

/// Status and body, without the values that differ each time.
fn stable(reply: &Reply) -> String {
    let mut body = reply.body.clone();
    assert_eq!(reply.header("Request-Id"), body["requestId"].as_str(), "{}", reply.text);
    body["requestId"] = json!("req_…");
    if let (Some(id), Some(message)) = (reply.body["order"]["id"].as_str(), reply.body["message"].as_str()) {
        body["message"] = json!(message.replace(id, "ord_…"));
    }
    if let Some(order) = body.get_mut("order").and_then(Value::as_object_mut) {
        for name in ["id", "serviceOrderId", "trackingCode", "trackingUrl"] {
            assert!(order.get(name).is_some_and(Value::is_string), "{name}");
            order.insert(name.to_owned(), json!("…"));
        }
    }
    format!("{} {body:#}", reply.status.as_u16())
}

async fn stored(service: &OrderApi, reference: &str) -> i64 {
    service.count(&format!("orders WHERE order_reference = '{reference}'")).await
}

/// Withdraws live access; the refusal of a live order from then on.
async fn locked(service: &OrderApi, business: &Business) -> anyhow::Result<Reply> {
    let live = business.live()?;
    service.set_missing(business, &[GoLiveItem::LiveAccessActive]).await;
    eventually("live orders to be locked", PATIENCE, || async {
        // The body is no order: that is reported only once the business may order, so a locked one gets 403.
        let refused = live.create("locked", &json!({})).await?;
        Ok((refused.status == 403).then_some(refused))
    })
    .await
}

async fn locked_live_orders_leave_nothing(service: &OrderApi, business: &Business) -> anyhow::Result<()> {
    let live = business.live()?;
    // Fills the cache, so that the lock has to invalidate it.
    assert_eq!(live.create("unlocked", &json!({})).await?.status, 400);
    let refused = locked(service, business).await?;
    insta::assert_snapshot!(stable(&refused), @r#"
    403 {
      "code": "live_api_locked",
      "message": "Live orders are locked until these are done: Live access is active. Until then, use the Test key.",
      "missing": [
        "live_access_active"
      ],
      "requestId": "req_…"
    }
    "#);
    assert_eq!(live.create("locked", &smallest_order("locked")).await?.status, 403);
    assert_eq!(stored(service, "locked").await, 0);
    service.set_missing(business, &[]).await;
    eventually("live orders to be unlocked", PATIENCE, || async {
        let asked = live.create("locked", &json!({})).await?;
        Ok((asked.status == 400).then_some(()))
    })
    .await
}

async fn a_hundred_at_once_are_one_order(service: &OrderApi, business: &Business) -> anyhow::Result<()> {
    let before = business.balance();
    let live = business.live()?;
    let body = smallest_order("hundred");
    let answers = try_join_all((0..100).map(|_| live.create("hundred", &body))).await?;
    for answer in &answers {
        assert_eq!((answer.status.as_u16(), &answer.text), (201, &answers[0].text));
    }
    let first = answers.iter().filter(|answer| answer.header("Idempotent-Replayed").is_none()).count();
    assert!(first <= 1, "{first} answers claim to be the first");
    assert_eq!(stored(service, "hundred").await, 1);
    let id = answers[0].body["id"].as_str().unwrap_or_default();
    assert_eq!(business.entries_of(id)?, [("delivery_fee".to_owned(), -FEE)]);
    assert_eq!(business.balance(), before - FEE);
    Ok(())
}

async fn replays_are_byte_identical(business: &Business) -> anyhow::Result<()> {
    let test = business.test()?;
    let placed = test.create("replay", &smallest_order("replay")).await?;
    assert_eq!((placed.status.as_u16(), placed.header("Idempotent-Replayed")), (201, None));
    assert_eq!(
        placed.header("Location"),
        Some(&*format!("/v1/integration/orders/{}", placed.body["id"].as_str().unwrap_or_default()))
    );
    let mut with_nulls = smallest_order("replay");
    with_nulls["notes"] = Value::Null;
    with_nulls["customer"]["email"] = Value::Null;
    for same in [smallest_order("replay"), with_nulls] {
        let again = test.create("replay", &same).await?;
        assert_eq!((again.status, &again.text), (placed.status, &placed.text));
        assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
        assert_eq!(again.header("Location"), placed.header("Location"));
    }
    Ok(())
}

async fn a_key_is_for_one_body_and_a_reference_for_one_key(business: &Business) -> anyhow::Result<()> {
    for api in [business.test()?, business.live()?] {
        let placed = api.create("held", &smallest_order("held")).await?.expect(201)?;
        let mut other_body = smallest_order("held");
        other_body["customer"]["name"] = json!("Someone Else");
        let several = {
            let mut body = smallest_order("held-2");
            body["payment"]["deliveryFeePaise"] = json!(5_000);
            body["notes"] = json!({ "customerNote": "Ring twice" });
            body
        };
        for (other, differences) in [
            (other_body, json!(["customer.name"])),
            (several, json!(["orderReference", "payment.deliveryFeePaise", "notes.customerNote"])),
            // An invalid body is another body too.
            (json!({}), Value::Null),
        ] {
            let refused = api.create("held", &other).await?;
            assert_eq!((refused.status.as_u16(), refused.code()), (422, "idempotency_key_reused"));
            assert_eq!(refused.body["differences"], differences);
            for name in ["id", "orderReference", "trackingCode"] {
                assert_eq!(refused.body["order"][name], placed[name], "{name}");
            }
        }
        let refused = api.create("held", &smallest_order("held-2")).await?;
        insta::allow_duplicates! { insta::assert_snapshot!(stable(&refused), @r#"
    422 {
      "code": "idempotency_key_reused",
      "differences": [
        "orderReference"
      ],
      "message": "This Idempotency-Key was used for another request: it holds the order held (ord_…). This request differs in orderReference. Use one key per order, and send the same body when you retry.",
      "order": {
        "id": "…",
        "orderReference": "held",
        "serviceOrderId": "…",
        "status": "created",
        "trackingCode": "…",
        "trackingUrl": "…"
      },
      "requestId": "req_…"
    }
    "#) };
        let refused = api.create("another key", &smallest_order("held")).await?;
        insta::allow_duplicates! { insta::assert_snapshot!(stable(&refused), @r#"
    409 {
      "code": "order_reference_exists",
      "message": "An order with this orderReference exists. Use its tracking details, or retry with the Idempotency-Key it was placed with.",
      "order": {
        "id": "…",
        "orderReference": "held",
        "serviceOrderId": "…",
        "status": "created",
        "trackingCode": "…",
        "trackingUrl": "…"
      },
      "requestId": "req_…"
    }
    "#) };
        for name in ["id", "serviceOrderId", "orderReference", "trackingCode", "trackingUrl", "status"] {
            assert_eq!(refused.body["order"][name], placed[name], "{name}");
        }
    }
    Ok(())
}

async fn modes_and_businesses_are_separate(service: &OrderApi, business: &Business) -> anyhow::Result<()> {
    let neighbour = service.business(0);
    let callers = [business.test()?, business.live()?, neighbour.test()?];
    let mut ids = BTreeSet::new();
    for caller in &callers {
        let placed = caller.create("scope", &smallest_order("scope")).await?;
        assert_eq!(placed.header("Idempotent-Replayed"), None);
        ids.insert(text(&placed.expect(201)?, "id"));
    }
    assert_eq!(ids.len(), 3);
    assert_eq!(stored(service, "scope").await, 3);
    Ok(())
}

async fn failures_free_key_and_reference(service: &OrderApi, business: &Business) -> anyhow::Result<()> {
    let live = business.live()?;
    let test = business.test()?;
    let mut faulty = smallest_order("fails");
    faulty["payment"]["deliveryFeePaise"] = json!(0);
    faulty["customer"]["phone"] = json!("12345");
    faulty["package"] = json!({ "items": [{}, {}, { "quantity": "2" }] });
    for api in [&live, &test] {
        let refused = api.create("fails", &faulty).await?;
        insta::allow_duplicates! { insta::assert_snapshot!(stable(&refused), @r#"
    400 {
      "code": "invalid_request",
      "errors": [
        {
          "code": "invalid_format",
          "field": "customer.phone",
          "message": "customer.phone must be a valid phone number with country code, such as +919812345678."
        },
        {
          "code": "invalid_type",
          "field": "package.items[2].quantity",
          "message": "package.items[2].quantity must be a whole number, without quotes."
        },
        {
          "code": "out_of_range",
          "field": "payment.deliveryFeePaise",
          "message": "payment.deliveryFeePaise must be between 1 and 100000000000."
        }
      ],
      "message": "customer.phone must be a valid phone number with country code, such as +919812345678. There are 2 more errors; see errors.",
      "requestId": "req_…"
    }
    "#) };
    }
    assert_eq!(stored(service, "fails").await, 0);

    let balance = business.balance();
    let mut dear = smallest_order("fails");
    dear["payment"]["deliveryFeePaise"] = json!(balance + 100);
    let refused = live.create("fails", &dear).await?;
    insta::assert_snapshot!(stable(&refused), @r#"
    402 {
      "balancePaise": 34300,
      "code": "insufficient_wallet_balance",
      "message": "The wallet holds ₹343.00 and the delivery costs ₹344.00. Top it up and retry.",
      "requestId": "req_…",
      "requiredPaise": 34400,
      "shortfallPaise": 100
    }
    "#);
    service.peers.set_debt(business.id, 6_000);
    let owing = live.create("fails", &dear).await?.body;
    assert_eq!(owing["shortfallPaise"], 6_100);
    assert!(text(&owing, "message").contains("also owes ₹60.00"), "{owing}");
    assert_eq!(business.balance(), balance);
    assert_eq!(live.call(Method::GET, "?orderReference=fails", None).await?.body["data"], json!([]));

    // The same key, the same reference, now with a good body; in each mode.
    for api in [&live, &test] {
        let placed = api.create("fails", &smallest_order("fails")).await?;
        assert_eq!(
            (placed.status.as_u16(), placed.header("Idempotent-Replayed")),
            (201, None),
            "{}",
            placed.text
        );
    }
    assert_eq!(business.balance(), balance - FEE);
    Ok(())
}

async fn another_notation_is_the_same_request(business: &Business) -> anyhow::Result<()> {
    let mut first = smallest_order("written");
    first["customer"]["name"] = json!("Asha Rao ");
    first["payment"]["currency"] = json!("INR");
    let mut again = smallest_order("written");
    again["delivery"]["pincode"] = json!("560 038");
    let test = business.test()?;
    let placed = test.create("written", &first).await?;
    assert_eq!(placed.status, 201, "{}", placed.text);
    for same in [&again, &first] {
        let replay = test.create("written", same).await?;
        assert_eq!((replay.status.as_u16(), &replay.text), (201, &placed.text));
        assert_eq!(replay.header("Idempotent-Replayed"), Some("true"));
    }
    Ok(())
}

async fn a_cancelled_order_asks_for_a_new_reference(business: &Business) -> anyhow::Result<()> {
    let test = business.test()?;
    let id = text(&test.create("dropped", &smallest_order("dropped")).await?.expect(201)?, "id");
    test.call(Method::POST, &format!("/{id}/cancel"), None).await?.expect(200)?;
    let refused = test.create("dropped again", &smallest_order("dropped")).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (409, "order_reference_exists"));
    assert_eq!(refused.body["order"]["status"], "cancelled");
    assert_eq!(
        text(&refused.body, "message"),
        "The order with this orderReference is cancelled. To have it delivered after all, send it with a new orderReference \
         and a new Idempotency-Key."
    );
    Ok(())
}

async fn withdrawn_live_access_names_the_contact(
    service: &OrderApi,
    business: &Business,
) -> anyhow::Result<()> {
    let refused = locked(service, business).await?;
    insta::assert_snapshot!(stable(&refused), @r#"
    403 {
      "code": "live_api_locked",
      "message": "Live orders of this business are stopped until these are true again: Live access is active. Contact Waybill. Once they are true, retry with the same Idempotency-Key.",
      "missing": [
        "live_access_active"
      ],
      "requestId": "req_…"
    }
    "#);
    Ok(())
}

/// It has nothing to complete, and cannot top up once its closing is completed.
async fn a_business_that_is_being_closed_reads_so(service: &OrderApi) -> anyhow::Result<()> {
    let business = service.business(FEE);
    service.peers.begin_closing(business.id);
    let refused = business.live()?.create("closing", &smallest_order("closing")).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (403, "live_api_locked"));
    assert_eq!(refused.body["missing"], json!(["live_access_active"]));
    assert_eq!(
        text(&refused.body, "message"),
        "The business is being closed: it places no live orders any more. If it should stay, contact Waybill; an owner can \
         withdraw a closing that an owner began. Afterwards, retry with the same Idempotency-Key."
    );
    Ok(())
}
