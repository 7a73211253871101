//! One order per reference and key, whatever is sent how often (`design.md` §5): replays, reuse, conflicts, scope, and
//! failures that leave no trace. The bodies of the errors are kept here as they are told.

use demo::clients::Reply;
use futures_util::future::try_join_all;
use local_stack::{Service, Stack};
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, smallest_order};

const FEE: i64 = 4_900;

#[tokio::test(flavor = "multi_thread")]
async fn one_order_per_reference_and_key() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    locked_live_orders_leave_nothing(&stack, &mut business).await?;
    a_hundred_at_once_are_one_order(&stack, &business).await?;
    replays_are_byte_identical(&business).await?;
    a_key_is_for_one_body_and_a_reference_for_one_key(&business).await?;
    modes_and_businesses_do_not_meet(&stack, &business).await?;
    failures_free_key_and_reference(&stack, &business).await?;
    stack.shut_down().await
}

/// The body as told, without what differs each time.
fn told(reply: &Reply) -> String {
    let mut body = reply.body.clone();
    assert_eq!(reply.header("Request-Id"), body["requestId"].as_str(), "{}", reply.text);
    body["requestId"] = json!("req_…");
    if let Some(order) = body.get_mut("order").and_then(Value::as_object_mut) {
        for name in ["id", "serviceOrderId", "trackingCode", "trackingUrl"] {
            assert!(order.get(name).is_some_and(Value::is_string), "{name}");
            order.insert(name.to_owned(), json!("…"));
        }
    }
    format!("{} {body:#}", reply.status.as_u16())
}

async fn stored(stack: &Stack, reference: &str) -> anyhow::Result<String> {
    let sql = format!("SELECT count(*) FROM orders WHERE order_reference = '{reference}'");
    Ok(stack.query(Service::OrderApi, &sql).await?.trim().to_owned())
}

/// A live key is given only once all is done; here an item is undone again, and done.
async fn locked_live_orders_leave_nothing(stack: &Stack, business: &mut Business) -> anyhow::Result<()> {
    business.go_live(FEE * 10).await?;
    allow_live(business, "inactive").await?;
    let live = business.live()?;
    let refused = demo::eventually("live orders to be locked", waybill_tests::PATIENCE, || async {
        // A body that is no order: read first, judged later, so that a locked business hears of the lock alone.
        let refused = live.create("locked", &json!({})).await?;
        Ok((refused.status == 403).then_some(refused))
    })
    .await?;
    insta::assert_snapshot!(told(&refused), @r#"
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
    assert_eq!(stored(stack, "locked").await?, "0");
    allow_live(business, "active").await?;
    demo::eventually("live orders to be unlocked", waybill_tests::PATIENCE, || async {
        let asked = live.create("locked", &json!({})).await?;
        Ok((asked.status == 400).then_some(()))
    })
    .await
}

async fn allow_live(business: &Business, access: &str) -> anyhow::Result<()> {
    let path = format!("/businesses/{}", business.portal.business_id);
    business.operator.call(Method::PATCH, &path, &json!({ "liveAccess": access })).await?.expect(200)?;
    Ok(())
}

async fn a_hundred_at_once_are_one_order(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let before = business.balance().await?;
    let live = business.live()?;
    let body = smallest_order("hundred");
    let answers = try_join_all((0..100).map(|_| live.create("hundred", &body))).await?;
    for answer in &answers {
        assert_eq!((answer.status.as_u16(), &answer.text), (201, &answers[0].text));
    }
    let first = answers.iter().filter(|answer| answer.header("Idempotent-Replayed").is_none()).count();
    assert!(first <= 1, "{first} answers claim to be the first");
    assert_eq!(stored(stack, "hundred").await?, "1");
    let id = answers[0].body["id"].as_str().unwrap_or_default();
    assert_eq!(business.entries_of(id).await?, [("delivery_fee".to_owned(), -FEE)]);
    assert_eq!(business.balance().await?, before - FEE);
    Ok(())
}

async fn replays_are_byte_identical(business: &Business) -> anyhow::Result<()> {
    let test = business.integration(&business.test_key)?;
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
    for key in [business.test_key.as_str(), business.live_key.as_deref().unwrap_or_default()] {
        let api = business.integration(key)?;
        let placed = api.create("held", &smallest_order("held")).await?.expect(201)?;
        let mut other_body = smallest_order("held");
        other_body["customer"]["name"] = json!("Someone Else");
        // A body that is no order at all is another body as well.
        for other in [other_body, smallest_order("held-2"), json!({})] {
            let refused = api.create("held", &other).await?;
            insta::allow_duplicates! { insta::assert_snapshot!(told(&refused), @r#"
    422 {
      "code": "idempotency_key_reused",
      "message": "This Idempotency-Key was used for another request. Use one key per order, and send the same body when you retry.",
      "requestId": "req_…"
    }
    "#) };
        }
        let refused = api.create("another key", &smallest_order("held")).await?;
        insta::allow_duplicates! { insta::assert_snapshot!(told(&refused), @r#"
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

async fn modes_and_businesses_do_not_meet(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let neighbour = Business::sign_up(stack).await?;
    let callers = [
        business.integration(&business.test_key)?,
        business.live()?,
        neighbour.integration(&neighbour.test_key)?,
    ];
    let mut ids = Vec::new();
    for caller in &callers {
        let placed = caller.create("scope", &smallest_order("scope")).await?;
        assert_eq!(placed.header("Idempotent-Replayed"), None);
        ids.push(placed.expect(201)?["id"].clone());
    }
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!(stored(stack, "scope").await?, "3");
    Ok(())
}

async fn failures_free_key_and_reference(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let live = business.live()?;
    let test = business.integration(&business.test_key)?;
    let mut faulty = smallest_order("fails");
    faulty["payment"]["deliveryFeePaise"] = json!(0);
    faulty["customer"]["phone"] = json!("12345");
    faulty["package"] = json!({ "items": [{}, {}, { "quantity": "2" }] });
    for api in [&live, &test] {
        let refused = api.create("fails", &faulty).await?;
        insta::allow_duplicates! { insta::assert_snapshot!(told(&refused), @r#"
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
          "message": "package.items[2].quantity must be a whole number."
        },
        {
          "code": "out_of_range",
          "field": "payment.deliveryFeePaise",
          "message": "payment.deliveryFeePaise must be between 1 and 100000000000."
        }
      ],
      "message": "customer.phone must be a valid phone number with country code, such as +919812345678. There are 2 more faults; see errors.",
      "requestId": "req_…"
    }
    "#) };
    }
    assert_eq!(stored(stack, "fails").await?, "0");

    let balance = business.balance().await?;
    let mut dear = smallest_order("fails");
    dear["payment"]["deliveryFeePaise"] = json!(balance + 100);
    let refused = live.create("fails", &dear).await?;
    insta::assert_snapshot!(told(&refused), @r#"
    402 {
      "balancePaise": 34300,
      "code": "insufficient_wallet_balance",
      "message": "The wallet holds ₹343.00 and the delivery costs ₹344.00. Top it up and retry.",
      "requestId": "req_…",
      "requiredPaise": 34400,
      "shortfallPaise": 100
    }
    "#);
    assert_eq!(business.balance().await?, balance);
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
    assert_eq!(business.balance().await?, balance - FEE);
    Ok(())
}
