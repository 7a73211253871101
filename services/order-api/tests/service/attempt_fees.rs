//! What another attempt costs: announced with the request, and due when the attempt begins.

use std::collections::HashMap;

use demo::clients::Reply;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use domain::Paise;
use events::{AttemptBegun, Body, Envelope};
use order_api::settings::OrderApiSettings;
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::smallest_order;

use crate::after_failure::{again, failed, post, view};
use crate::business::Business;
use crate::harness::{OrderApi, text};

const FEE: i64 = 4_900;
const OF_ATTEMPT: i64 = 3_000;

async fn with_a_fee() -> OrderApi {
    OrderApi::with(&[
        ("WAYBILL_DELIVERY__REATTEMPT_FEE_PAISE", "3000"),
        ("WAYBILL_DELIVERY__ATTEMPTS_MAX", "5"),
        ("WAYBILL_EVENTS__ATTEMPTS", "true"),
    ])
    .await
}

#[derive(diesel::QueryableByName)]
struct Stored {
    #[diesel(sql_type = Text)]
    body: String,
}

/// The attempts that order-api announces to wallet: the number and the fee of each.
async fn due(service: &OrderApi, business: &Business, order: &str) -> Vec<(u32, i64)> {
    let query = "SELECT body FROM outbox_messages WHERE routing_key = 'order.attempt_begun' ORDER BY id";
    let stored: Vec<Stored> = diesel::sql_query(query).load(&mut service.connection().await).await.unwrap();
    let told = |stored: Stored| {
        let envelope: Envelope = serde_json::from_str(&stored.body).unwrap();
        let Body::AttemptBegun(begun) = envelope.body else { panic!("{}", stored.body) };
        let AttemptBegun { order_id, order_reference, attempt, fee_paise } = begun;
        assert_eq!((envelope.business_id, order_id.to_string().as_str()), (business.id, order));
        assert_eq!(order_reference, "paid");
        (attempt, fee_paise.get())
    };
    stored.into_iter().map(told).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_announced_fee_is_due_when_the_attempt_begins() -> anyhow::Result<()> {
    let service = with_a_fee().await;
    let business = service.business(FEE * 10);
    let order = failed(&business, "paid").await?;
    let before = view(&business, &order).await?;
    assert_eq!((&before["reattempt"], &before["reattemptFeePaise"]), (&Value::Null, &json!(OF_ATTEMPT)));
    // Neither a withdrawn request nor a replaced one costs anything.
    post(&business, &order, "reattempt", json!({})).await?.expect(200)?;
    let back = post(&business, &order, "return", json!({})).await?.expect(200)?;
    assert_eq!(back["reattemptFeePaise"], OF_ATTEMPT);
    post(&business, &order, "reattempt", json!({ "date": "2027-01-16" })).await?.expect(200)?;
    let asked = post(&business, &order, "reattempt", json!({})).await?;
    let reattempt = &asked.body["reattempt"];
    assert_eq!((&reattempt["number"], &reattempt["feePaise"]), (&json!(2), &json!(OF_ATTEMPT)));
    assert_eq!(post(&business, &order, "reattempt", json!({})).await?.text, asked.text);
    assert!(due(&service, &business, &order).await.is_empty());
    let announced =
        "order_events WHERE kind = 'order.reattempt_scheduled' AND data #>> '{reattempt,feePaise}' = '3000'";
    assert_eq!(service.count(announced).await, 3, "one for each request that changed something");

    again(&business, &order, 2, "driver.assigned").await?;
    let second = (2_u32, OF_ATTEMPT);
    assert_eq!(due(&service, &business, &order).await, [second]);
    let shown = view(&business, &order).await?;
    assert_eq!(
        (&shown["reattempt"]["feePaise"], &shown["reattemptFeePaise"]),
        (&json!(OF_ATTEMPT), &json!(0))
    );
    // Its driver drops out: the same attempt begins again, which is due once.
    again(&business, &order, 2, "driver.unassigned").await?;
    again(&business, &order, 3, "driver.assigned").await?;
    assert_eq!(due(&service, &business, &order).await, [second]);

    // The fleet begins the third attempt by itself.
    again(&business, &order, 3, "order.failed").await?;
    again(&business, &order, 4, "driver.assigned").await?;
    again(&business, &order, 4, "order.failed").await?;
    assert_eq!(due(&service, &business, &order).await.len(), 1);
    post(&business, &order, "reattempt", json!({})).await?.expect(200)?;
    again(&business, &order, 5, "driver.assigned").await?;
    assert_eq!(due(&service, &business, &order).await, [second, (4, OF_ATTEMPT)]);
    let public = "order_events WHERE kind = 'driver.assigned' AND data::text LIKE '%ee%aise%'";
    assert_eq!(service.count(public).await, 0, "the event that businesses get does not change");
    Ok(())
}

/// Of the request that stands, of one that is made now, and of attempts that began.
fn fees(order: &Value) -> [Option<i64>; 3] {
    [&order["reattempt"]["feePaise"], &order["reattemptFeePaise"], &order["reattemptFeesPaise"]]
        .map(Value::as_i64)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fee_that_was_taken_stays_taken_when_the_driver_drops_out() -> anyhow::Result<()> {
    let service = with_a_fee().await;
    let business = service.business(FEE * 10);
    let order = failed(&business, "paid").await?;
    let [none, of_one, of_two] = [0, OF_ATTEMPT, 2 * OF_ATTEMPT].map(Some);
    let asked = post(&business, &order, "reattempt", json!({})).await?.expect(200)?;
    assert_eq!(fees(&asked), [of_one, of_one, none]);
    again(&business, &order, 2, "driver.assigned").await?;
    assert_eq!(fees(&view(&business, &order).await?), [of_one, none, of_one]);
    again(&business, &order, 2, "driver.unassigned").await?;
    assert_eq!(fees(&view(&business, &order).await?), [none, none, of_one]);
    let back = post(&business, &order, "return", json!({})).await?.expect(200)?;
    assert_eq!(fees(&back), [None, none, of_one]);
    let anew = post(&business, &order, "reattempt", json!({})).await?.expect(200)?;
    assert_eq!(fees(&anew), [none, none, of_one]);
    again(&business, &order, 3, "driver.assigned").await?;
    again(&business, &order, 3, "order.failed").await?;
    assert_eq!(fees(&view(&business, &order).await?), [None, of_one, of_one]);

    // An instance of release 1.0.0 fails the next attempt.
    post(&business, &order, "reattempt", json!({})).await?.expect(200)?;
    again(&business, &order, 4, "driver.assigned").await?;
    let failure = format!("UPDATE orders SET status = 'failed', reason = 'closed' WHERE id = '{order}'");
    diesel::sql_query(failure).execute(&mut service.connection().await).await?;
    let failed = view(&business, &order).await?;
    assert_eq!((&failed["failedAttempts"], fees(&failed)), (&json!(3), [None, of_one, of_two]));
    assert_eq!(due(&service, &business, &order).await, [(2, OF_ATTEMPT), (3, OF_ATTEMPT)]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_attempt_of_a_test_order_is_free() -> anyhow::Result<()> {
    let service = with_a_fee().await;
    let business = service.business(0);
    let test = business.test()?;
    let order = text(&test.create("paid", &smallest_order("paid")).await?.expect(201)?, "id");
    let call = async |name: &str, body: Value| -> anyhow::Result<Reply> {
        test.call(Method::POST, &format!("/{order}/{name}"), Some(&body)).await
    };
    for event in ["driver.assigned", "order.picked_up", "order.failed"] {
        call("simulate", json!({ "event": event })).await?.expect(200)?;
    }
    let asked = call("reattempt", json!({})).await?.expect(200)?;
    assert_eq!((&asked["reattempt"]["feePaise"], &asked["reattemptFeePaise"]), (&json!(0), &json!(0)));
    call("simulate", json!({ "event": "driver.assigned" })).await?.expect(200)?;
    assert!(due(&service, &business, &order).await.is_empty());
    Ok(())
}

#[test]
fn a_fee_is_an_amount_that_a_request_may_have() {
    let with = |paise: i64| {
        let mut variables = HashMap::from([
            ("WAYBILL_DATABASE__URL".to_owned(), test_kit::unreachable_database().expose().to_owned()),
            ("WAYBILL_BROKER__URL".to_owned(), test_kit::unreachable_broker().expose().to_owned()),
            ("WAYBILL_PUBLIC__URL".to_owned(), "https://orders.example".to_owned()),
        ]);
        for listener in ["PUBLIC", "INTERNAL", "MANAGEMENT"] {
            variables.insert(format!("WAYBILL_HTTP__{listener}"), "127.0.0.1:0".to_owned());
        }
        variables.insert("WAYBILL_DELIVERY__REATTEMPT_FEE_PAISE".to_owned(), paise.to_string());
        settings::load_from::<OrderApiSettings>(variables)
    };
    let most = Paise::REQUEST_MAX.get();
    for (paise, is_accepted) in [(0, true), (most, true), (-1, false), (most + 1, false)] {
        let loaded = with(paise);
        assert_eq!(loaded.is_ok(), is_accepted, "{paise}: {:?}", loaded.err());
    }
}
