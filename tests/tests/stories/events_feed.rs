//! The events feed of a whole stack has the bytes that webhook-dispatcher stores and sends, also after an erasure.
//! order-api's `feed` tests which events a reader sees.

use std::collections::BTreeMap;

use demo::clients::{COD_DELIVERY, Fleet};
use demo::{SAMPLE_CASH_PAISE, eventually, sample_order};
use local_stack::{Service, Stack};
use reqwest::Method;
use waybill_tests::{Business, PATIENCE, wait_until_quiet};

#[tokio::test(flavor = "multi_thread")]
async fn an_event_has_the_bytes_of_its_webhook() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(10_000_000).await?;
    let delivered = business.place(&sample_order("delivered")).await?;
    business.fleet.drive(&delivered, &COD_DELIVERY, SAMPLE_CASH_PAISE).await?;
    place_with_odd_times(&business).await?;
    wait_until_quiet(&stack).await?;
    let stored =
        "SELECT string_agg(event_id, ' ' ORDER BY feed_at, order_events.order_id, order_events.sequence)
        FROM order_events JOIN orders ON orders.id = order_events.order_id WHERE mode = 'live'";
    let stored = stack.query(Service::OrderApi, stored).await?;
    let ids: Vec<String> = stored.split_whitespace().map(str::to_owned).collect();
    bytes_are_those_of_webhooks(&stack, &business, &ids).await?;

    let path = format!("/orders/{delivered}/erase-personal-data");
    let erased = business.portal.call(Method::POST, &path, None).await?;
    assert!(erased.status.is_success(), "{}", erased.text);
    let copies = format!(
        "SELECT count(*) FROM events WHERE order_id = '{delivered}' AND convert_from(body, 'UTF8') LIKE '%personalDataErasedAt%'"
    );
    // The driver, and the evidence of the delivery.
    eventually("the dispatcher to erase its copies", PATIENCE, || async {
        Ok((stack.query(Service::WebhookDispatcher, &copies).await?.trim() == "2").then_some(()))
    })
    .await?;
    bytes_are_those_of_webhooks(&stack, &business, &ids).await?;
    stack.shut_down().await
}

/// Times that PostgreSQL stores in another form.
async fn place_with_odd_times(business: &Business) -> anyhow::Result<()> {
    let order = business.place(&sample_order("odd-times")).await?;
    for (event, occurred_at) in [
        ("driver.assigned", "1999-12-31T23:59:59.9999999Z"),
        ("order.picked_up", "2016-12-31T23:59:60.5Z"),
        ("order.failed", "0000-01-01T00:00:00Z"),
    ] {
        let mut report = Fleet::progress(&order, event, 0);
        report["occurredAt"] = occurred_at.into();
        business.fleet.send(&order, &report).await?.expect(200)?;
    }
    Ok(())
}

/// In lists and single events.
async fn bytes_are_those_of_webhooks(
    stack: &Stack,
    business: &Business,
    ids: &[String],
) -> anyhow::Result<()> {
    eventually("the dispatcher to have all events", PATIENCE, || async {
        let count = "SELECT count(*) FROM events WHERE mode = 'live'";
        let count = stack.query(Service::WebhookDispatcher, count).await?;
        Ok((count.trim() == ids.len().to_string()).then_some(()))
    })
    .await?;
    let sql = "SELECT event_id || ' ' || encode(body, 'hex') FROM events WHERE mode = 'live'";
    let sent = stack.query(Service::WebhookDispatcher, sql).await?;
    let sent: BTreeMap<&str, &str> = sent.lines().filter_map(|line| line.trim().split_once(' ')).collect();
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut bodies = Vec::new();
    for id in ids {
        let reply = business.live()?.events(&format!("/{id}")).await?;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(Some(&*hex(&reply.text)), sent.get(id.as_str()).copied(), "{}", reply.text);
        bodies.push(reply.text);
    }
    let list = business.live()?.events("?limit=100").await?;
    let start = format!("{{\"data\":[{}],\"hasMore\":", bodies[..bodies.len().min(100)].join(","));
    assert!(list.text.starts_with(&start), "{}", list.text);
    Ok(())
}
