//! What the portal does with orders beside listing them: finds one by any of its names, shows the request that it was
//! accepted from, calls it off; and proves the retries that a business is advised to try.

use anyhow::Context;
use demo::eventually;
use local_stack::Stack;
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, PATIENCE, smallest_order, text};

const FEE: i64 = 4_900;

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_found_explained_and_called_off_in_the_portal() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(100_000).await?;
    let stranger = Business::sign_up(&stack).await?;
    an_order_is_found_by_each_of_its_names(&business, &stranger).await?;
    an_order_shows_the_request_that_it_comes_from(&business, &stranger).await?;
    an_order_is_called_off_until_its_pickup(&business, &stranger).await?;
    stack.shut_down().await
}

fn ids(page: &Value) -> Vec<String> {
    let orders = page["data"].as_array().into_iter().flatten();
    orders.filter_map(|order| order["id"].as_str()).map(str::to_owned).collect()
}

async fn search(business: &Business, text: &str, more: &str) -> anyhow::Result<Vec<String>> {
    let text: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    Ok(ids(&business.portal.get(&format!("/orders?search={text}{more}")).await?))
}

async fn an_order_is_found_by_each_of_its_names(
    business: &Business,
    stranger: &Business,
) -> anyhow::Result<()> {
    let test_key = business.integration(&business.test_key)?;
    let body = smallest_order("searched #1");
    let test = test_key.create("searched-1", &body).await?.expect(201)?;
    let live = business.live()?.create("searched-1", &body).await?.expect(201)?;
    let theirs = stranger.integration(&stranger.test_key)?.create("searched-1", &body).await?.expect(201)?;
    let (test_id, live_id) = (text(&test, "id")?, text(&live, "id")?);
    for name in ["id", "trackingCode"] {
        assert_eq!(search(business, &text(&test, name)?, "").await?, [test_id.as_str()], "{name}");
        assert_eq!(search(business, &text(&live, name)?, "&mode=live").await?, [live_id.as_str()], "{name}");
        assert!(search(business, &text(&live, name)?, "&mode=test").await?.is_empty(), "{name}");
        assert!(search(business, &text(&theirs, name)?, "").await?.is_empty(), "another business's");
    }
    assert_eq!(search(business, "  searched #1 ", "").await?, [live_id.as_str(), test_id.as_str()]);
    assert_eq!(search(business, "searched #1", "&mode=test&status=created").await?, [test_id.as_str()]);
    assert!(search(business, "searched #1", "&status=delivered").await?.is_empty());
    let first = business.portal.get("/orders?search=searched+%231&limit=1").await?;
    assert_eq!((ids(&first), &first["hasMore"]), (vec![live_id.clone()], &json!(true)));
    let path = format!("/orders?search=searched+%231&startingAfter={live_id}");
    assert_eq!(ids(&business.portal.get(&path).await?), [test_id]);
    for nothing in ["searched", "SEARCHED #1", "%", "ord_"] {
        assert!(search(business, nothing, "").await?.is_empty(), "{nothing}");
    }
    let refused = business.portal.call(Method::GET, "/orders?search=+", None).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (400, "invalid_request"));
    Ok(())
}

async fn an_order_shows_the_request_that_it_comes_from(
    business: &Business,
    stranger: &Business,
) -> anyhow::Result<()> {
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
    assert_eq!(request["receivedAt"], order["createdAt"]);
    assert_eq!(request["body"]["orderReference"], "explained");
    assert_eq!(request["body"]["customer"]["phone"], "+919800000001");
    assert_eq!(request["body"]["payment"]["deliveryFeePaise"], FEE);
    assert_eq!(request["body"]["notes"]["internalNote"], "shelf 4");
    assert!(request["body"]["unknown"].is_null());
    assert_eq!(request["keyPrefix"], "sk_test_waybill_");
    assert_eq!(request["keyLastFour"], business.test_key[business.test_key.len() - 4..]);
    test_key.create("explained-key", &body).await?.expect(201)?;
    assert_eq!(business.portal.get(&path).await?, request, "a replay is no new request");
    let refused = stranger.portal.call(Method::GET, &path, None).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (404, "order_not_found"));
    Ok(())
}

async fn an_order_is_called_off_until_its_pickup(
    business: &Business,
    stranger: &Business,
) -> anyhow::Result<()> {
    let placed = business.live()?.create("called-off", &smallest_order("called-off")).await?.expect(201)?;
    let id = text(&placed, "id")?;
    let path = format!("/orders/{id}/cancel");
    let refused = stranger.portal.call(Method::POST, &path, None).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (404, "order_not_found"));
    let faulty = business.portal.post(&path, &json!({ "reason": 7 })).await?;
    assert_eq!((faulty.status.as_u16(), faulty.code()), (400, "invalid_request"));
    let before = business.balance().await?;
    let cancelled = business.portal.post(&path, &json!({ "reason": "Out of stock" })).await?.expect(200)?;
    assert_eq!((&cancelled["status"], &cancelled["reason"]), (&json!("cancelled"), &json!("Out of stock")));
    let again = business.portal.call(Method::POST, &path, None).await?.expect(200)?;
    assert_eq!(again, cancelled, "repeated, without a body");
    eventually("the fee to come back", PATIENCE, || async {
        Ok((business.balance().await? == before + FEE).then_some(()))
    })
    .await?;

    let test_key = business.integration(&business.test_key)?;
    let order = test_key.create("picked-up", &smallest_order("picked-up")).await?.expect(201)?;
    let id = text(&order, "id")?;
    for event in ["driver.assigned", "order.picked_up"] {
        business
            .portal
            .post(&format!("/orders/{id}/simulate"), &json!({ "event": event }))
            .await?
            .expect(200)?;
    }
    let refused = business.portal.call(Method::POST, &format!("/orders/{id}/cancel"), None).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (409, "order_not_cancellable"));
    Ok(())
}
