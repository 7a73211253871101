//! The portal's functions for single orders: the original request, another attempt, and evidence of the recommended
//! retries.

use anyhow::Context;
use chrono::{DateTime, TimeDelta};
use demo::clients::Fleet;
use demo::{SAMPLE_CASH_PAISE, eventually, sample_order};
use local_stack::{Servers, Service, Stack, StackOptions};
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, PATIENCE, smallest_order, text};

const FEE: i64 = 4_900;
/// Of another attempt.
const OF_ATTEMPT: i64 = 3_000;

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_explained_and_attempted_again_in_the_portal() -> anyhow::Result<()> {
    let directory = Stack::test_directory()?;
    let options = StackOptions::on_test_servers(&directory, Servers::for_tests().await?).variable(
        Service::OrderApi,
        "WAYBILL_DELIVERY__REATTEMPT_FEE_PAISE",
        OF_ATTEMPT.to_string(),
    );
    let stack = Stack::start_for_test(options).await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(100_000).await?;
    let stranger = Business::sign_up(&stack).await?;
    an_order_shows_its_original_request(&business, &stranger).await?;
    a_failed_delivery_is_attempted_again_for_the_announced_fee(&business).await?;
    stack.shut_down().await
}

fn ids(page: &Value) -> Vec<String> {
    let orders = page["data"].as_array().into_iter().flatten();
    orders.filter_map(|order| order["id"].as_str()).map(str::to_owned).collect()
}

async fn an_order_shows_its_original_request(business: &Business, stranger: &Business) -> anyhow::Result<()> {
    let test_key = business.integration(&business.test_key)?;
    let mut body = smallest_order("explained");
    body["notes"] = json!({ "internalNote": "shelf 4" });
    body["unknown"] = json!("dropped");
    let sent = test_key.create("explained-key", &body).await?;
    let request_id = sent.header("Request-Id").context("a request id")?.to_owned();
    let order = sent.expect(201)?;
    let path = format!("/orders/{}/request", text(&order, "id")?);
    let request = business.portal.get(&path).await?;
    assert_eq!(request["requestId"], request_id.as_str());
    assert_eq!(request["idempotencyKey"], "explained-key");
    let time = |value: &Value| anyhow::Ok(DateTime::parse_from_rfc3339(value.as_str().context("a time")?)?);
    let took = time(&order["createdAt"])? - time(&request["receivedAt"])?;
    assert!((TimeDelta::zero()..TimeDelta::seconds(60)).contains(&took), "{took}");
    assert_eq!(request["body"]["orderReference"], "explained");
    assert_eq!(request["body"]["customer"]["phone"], "+919800000001");
    assert_eq!(request["body"]["payment"]["deliveryFeePaise"], FEE);
    assert_eq!(request["body"]["notes"]["internalNote"], "shelf 4");
    assert!(request["body"]["unknown"].is_null());
    assert_eq!(request["keyPrefix"], "sk_test_waybill_");
    assert_eq!(request["keyLastFour"], business.test_key[business.test_key.len() - 4..]);
    test_key.create("explained-key", &body).await?.expect(201)?;
    assert_eq!(business.portal.get(&path).await?, request, "a replay does not replace the original request");
    let refused = stranger.portal.call(Method::GET, &path, None).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (404, "order_not_found"));
    Ok(())
}

/// The portal asks, the fleet comes again, and the wallet takes the announced fee and records the cash of the second attempt.
async fn a_failed_delivery_is_attempted_again_for_the_announced_fee(
    business: &Business,
) -> anyhow::Result<()> {
    let before = business.balance().await?;
    let order = sample_order("second-try");
    let fee = order["payment"]["deliveryFeePaise"].as_i64().context("a fee")?;
    let id = business.place(&order).await?;
    let way = ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.failed"];
    business.fleet.drive(&id, &way, 0).await?;
    let listed = business.portal.get("/exceptions").await?;
    assert_eq!((ids(&listed), &listed["counts"]["failed"]), (vec![id.clone()], &json!(1)));
    assert_eq!(listed["data"][0]["reattemptFeePaise"], OF_ATTEMPT, "before anybody asks");
    let path = format!("/orders/{id}/reattempt");
    let asked = business.portal.post(&path, &json!({ "note": "Ring twice" })).await?.expect(200)?;
    assert_eq!(asked["reattempt"]["feePaise"], OF_ATTEMPT);
    assert_eq!(business.balance().await?, before - fee, "nothing before the attempt begins");
    assert_eq!(ids(&business.portal.get("/exceptions").await?), Vec::<String>::new());
    for event in ["driver.assigned", "order.out_for_delivery", "order.delivered", "cod.collected"] {
        let mut report = Fleet::progress(&id, event, SAMPLE_CASH_PAISE);
        report["eventId"] = json!(format!("{id}-{event}-2"));
        business.fleet.send(&id, &report).await?.expect(200)?;
    }
    eventually("the cash of the second attempt", PATIENCE, || async {
        let cash = business.portal.get("/cod").await?;
        let mut rows = cash["data"].as_array().into_iter().flatten();
        Ok(rows.any(|row| row["orderId"] == json!(id) && row["status"] == "collected").then_some(()))
    })
    .await?;
    eventually("the fee of the attempt", PATIENCE, || async {
        Ok((business.balance().await? == before - fee - OF_ATTEMPT).then_some(()))
    })
    .await?;
    let statement = business.portal.get("/wallet/entries?kind=operator_debit").await?;
    let lines = statement["data"].as_array().context("no lines")?;
    assert_eq!(lines.len(), 1, "{statement}");
    assert_eq!(
        (&lines[0]["amountPaise"], &lines[0]["reference"], &lines[0]["reason"]),
        (
            &json!(-OF_ATTEMPT),
            &json!(format!("attempt-2-{id}")),
            &json!("Fee of attempt 2 at order second-try")
        )
    );
    let of_order = (&lines[0]["orderId"], &lines[0]["orderReference"]);
    assert_eq!(of_order, (&json!(id), &json!("second-try")));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_are_proved_and_the_operator_finds_any_order() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    let stranger = Business::sign_up(&stack).await?;
    retries_are_proved_by_their_requests(&business).await?;
    a_receiver_that_verifies_is_proved(&business).await?;
    let untried = advice(&stranger).await?;
    assert!(untried.iter().all(|item| item["done"] == false), "another business tried nothing: {untried:?}");
    business.go_live(100_000).await?;
    the_operator_finds_any_order_and_the_status_of_its_business(&business, &stranger).await?;
    stack.shut_down().await
}

async fn advice(business: &Business) -> anyhow::Result<Vec<Value>> {
    let status = business.portal.get("/status").await?;
    Ok(status["advice"].as_array().context("advice")?.clone())
}

/// Waits until an item is done. Returns the requests that prove it.
async fn proved(business: &Business, item: usize) -> anyhow::Result<Vec<String>> {
    let found = eventually("the advice to be proved", PATIENCE, || async {
        let item = advice(business).await?.swap_remove(item);
        Ok((item["done"] == true).then_some(item))
    })
    .await?;
    assert!(found["at"].is_string(), "{found}");
    let ids = found["requestIds"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok(ids.map(str::to_owned).collect())
}

async fn retries_are_proved_by_their_requests(business: &Business) -> anyhow::Result<()> {
    let key = business.integration(&business.test_key)?;
    let request_id = |reply: &demo::clients::Reply| reply.header("Request-Id").unwrap_or_default().to_owned();
    let good = smallest_order("retried");

    let mut faulty = good.clone();
    faulty["customer"] = Value::Null;
    key.create("never-retried", &faulty).await?;
    let failed = key.create("retried", &faulty).await?;
    assert_eq!(failed.status.as_u16(), 400);
    key.create("retried", &faulty).await?;
    assert!(
        advice(business).await?.iter().all(|item| item["done"] == false),
        "a failure alone proves nothing"
    );
    let placed = key.create("retried", &good).await?;
    assert_eq!(placed.status.as_u16(), 201);
    let failure = [request_id(&failed), request_id(&placed)];
    assert_eq!(proved(business, 1).await?, failure);
    key.create("fails-again", &faulty).await?;
    assert_eq!(proved(business, 1).await?, failure, "a later failure takes nothing back");

    let replayed = key.create("retried", &good).await?;
    assert_eq!(replayed.header("Idempotent-Replayed"), Some("true"));
    let proof = [request_id(&placed), request_id(&replayed)];
    assert_eq!(proved(business, 0).await?, proof);
    key.create("retried", &good).await?.expect(201)?;
    assert_eq!(proved(business, 0).await?, proof, "the first proof is kept");
    assert_eq!(proved(business, 1).await?, failure);
    Ok(())
}

async fn a_receiver_that_verifies_is_proved(business: &Business) -> anyhow::Result<()> {
    let path = format!("/webhook-endpoints/{}/test", business.endpoint_id);
    let tested = business.portal.call(Method::POST, &path, None).await?.expect(200)?;
    assert_eq!((&tested["succeeded"], &tested["forgedRefused"]), (&json!(true), &json!(true)), "{tested}");
    let ids = proved(business, 2).await?;
    assert_eq!(ids, [text(&tested, "eventId")?, text(&tested, "forgedEventId")?]);
    Ok(())
}

async fn the_operator_finds_any_order_and_the_status_of_its_business(
    business: &Business,
    stranger: &Business,
) -> anyhow::Result<()> {
    let get = async |path: &str| business.operator.call(Method::GET, path, &Value::Null).await?.expect(200);
    let ours = business.live()?.create("shared", &smallest_order("shared")).await?.expect(201)?;
    let key = stranger.integration(&stranger.test_key)?;
    let theirs = key.create("shared", &smallest_order("shared")).await?.expect(201)?;
    let businesses = |found: &Value| -> Vec<String> {
        let found = found["data"].as_array().into_iter().flatten();
        found.filter_map(|found| found["business"]["id"].as_str()).map(str::to_owned).collect()
    };
    let found = get("/orders?code=shared").await?;
    assert_eq!(
        businesses(&found),
        [stranger.portal.business_id.as_str(), business.portal.business_id.as_str()]
    );
    for (order, owner) in [(&ours, business), (&theirs, stranger)] {
        for name in ["id", "trackingCode"] {
            let found = get(&format!("/orders?code={}", text(order, name)?)).await?;
            assert_eq!(businesses(&found), [owner.portal.business_id.as_str()], "{name}");
            assert_eq!(found["data"][0]["order"]["id"], order["id"]);
        }
    }
    assert!(businesses(&get("/orders?code=nothing").await?).is_empty());
    eventually("the operator to find both by name", PATIENCE, || async {
        Ok((businesses(&get("/orders?search=asha+shared").await?).len() == 2).then_some(()))
    })
    .await?;
    let of_one =
        get(&format!("/orders?search=asha+shared&businessId={}", business.portal.business_id)).await?;
    assert_eq!(businesses(&of_one), [business.portal.business_id.as_str()]);
    let timeline = get(&format!("/orders/{}/events", text(&theirs, "id")?)).await?;
    assert_eq!(timeline["data"][0]["event"], "order.created", "{timeline}");

    let health = get(&format!("/businesses/{}/health", business.portal.business_id)).await?;
    assert_eq!(health["incomplete"], json!([]), "{health}");
    assert_eq!(
        (&health["orders"]["live"]["last24h"], &health["orders"]["live"]["pending"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(health["orders"]["live"]["lastAt"], ours["createdAt"]);
    assert_eq!(health["goLive"]["unlocked"], true);
    assert_eq!(health["balancePaise"], 100_000 - FEE);
    assert_eq!(health["endpoints"][0]["id"], business.endpoint_id.as_str());
    let spend = business.portal.get("/wallet/spend?days=2&timeZone=Asia/Kolkata").await?;
    let spent: i64 =
        spend["days"].as_array().into_iter().flatten().filter_map(|day| day["feesPaise"].as_i64()).sum();
    assert_eq!(spent, FEE, "{spend}");
    Ok(())
}
