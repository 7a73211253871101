//! The events feed of a whole stack: a reader continues through kills of order-api and sees exactly the events of the
//! orders, with the bytes that webhook-dispatcher stores and sends, also after an erasure.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use demo::clients::{COD_DELIVERY, Fleet, Reply};
use demo::{SAMPLE_CASH_PAISE, eventually, sample_order};
use futures_util::future::{join, try_join_all};
use local_stack::{Service, Stack};
use reqwest::Method;
use serde_json::Value;
use waybill_tests::{Business, PATIENCE, text, wait_until_quiet};

const CALLERS: usize = 4;
const ORDERS_PER_CALLER: usize = 3;
const KILLS: usize = 3;
/// Before a failed call is repeated.
const RETRY: Duration = Duration::from_millis(50);

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_every_event_through_kills() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(10_000_000).await?;
    let is_done = AtomicBool::new(false);
    let working = async {
        let kills = async {
            for _ in 0..KILLS {
                stack.kill(Service::OrderApi).await?;
                stack.wait_ready().await?;
            }
            anyhow::Ok(())
        };
        let callers = try_join_all((0..CALLERS).map(|caller| work(&business, caller)));
        let (killed, orders) = join(kills, callers).await;
        killed?;
        let orders = orders?.concat();
        wait_until_quiet(&stack).await?;
        is_done.store(true, Ordering::Relaxed);
        anyhow::Ok(orders)
    };
    let (orders, followed) = join(working, follow(&business, &is_done)).await;
    let (orders, followed) = (orders?, followed?);

    let stored =
        "SELECT string_agg(event_id, ' ' ORDER BY feed_at, order_events.order_id, order_events.sequence)
        FROM order_events JOIN orders ON orders.id = order_events.order_id WHERE mode = 'live'";
    let stored = stack.query(Service::OrderApi, stored).await?;
    let ids: Vec<String> = followed.iter().map(|event| text(event, "id")).collect::<Result<_, _>>()?;
    assert_eq!(ids, stored.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ids.len(), CALLERS * ORDERS_PER_CALLER * (1 + COD_DELIVERY.len()));
    let mut sequences: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for event in &followed {
        let of_order = sequences.entry(text(&event["order"], "id")?).or_default();
        of_order.extend(event["sequence"].as_i64());
    }
    for (order, sequence) in sequences {
        assert!(
            sequence.iter().copied().eq(1..=1 + i64::try_from(COD_DELIVERY.len())?),
            "{order}: {sequence:?}"
        );
    }

    let odd = place_with_odd_times(&business).await?;
    wait_until_quiet(&stack).await?;
    let of_odd = format!("SELECT event_id FROM order_events WHERE order_id = '{odd}' ORDER BY sequence");
    let of_odd = stack.query(Service::OrderApi, &of_odd).await?;
    let ids: Vec<String> = ids.into_iter().chain(of_odd.split_whitespace().map(str::to_owned)).collect();
    bytes_are_those_of_webhooks(&stack, &business, &ids).await?;

    let path = format!("/orders/{}/erase-personal-data", orders[0]);
    let erased = business.portal.call(Method::POST, &path, None).await?;
    assert!(erased.status.is_success(), "{}", erased.text);
    let copies = format!(
        "SELECT count(*) FROM events WHERE order_id = '{}' AND convert_from(body, 'UTF8') LIKE '%personalDataErasedAt%'",
        orders[0]
    );
    // The driver, and the evidence of the delivery.
    eventually("the dispatcher to erase its copies", PATIENCE, || async {
        Ok((stack.query(Service::WebhookDispatcher, &copies).await?.trim() == "2").then_some(()))
    })
    .await?;
    bytes_are_those_of_webhooks(&stack, &business, &ids).await?;
    stack.shut_down().await
}

/// Times that PostgreSQL stores in another form. Returns the order's id.
async fn place_with_odd_times(business: &Business) -> anyhow::Result<String> {
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
    Ok(order)
}

/// Places live orders and delivers them. Returns their ids.
async fn work(business: &Business, caller: usize) -> anyhow::Result<Vec<String>> {
    let mut orders = Vec::new();
    for number in 0..ORDERS_PER_CALLER {
        let order = sample_order(&format!("fed-{caller}-{number}"));
        let order = business.place_through_faults(&order).await?;
        business.drive_through_faults(&order, &COD_DELIVERY, SAMPLE_CASH_PAISE).await?;
        orders.push(order);
    }
    Ok(orders)
}

async fn get(business: &Business, rest: &str) -> anyhow::Result<Reply> {
    let api = &business.live()?.api;
    let request = api.request(Method::GET, &format!("/integration/events{rest}"));
    api.send(request.bearer_auth(business.live_key.as_deref().unwrap_or_default())).await
}

/// Reads the feed with a wait until there is no more, and repeats calls that fail.
async fn follow(business: &Business, is_done: &AtomicBool) -> anyhow::Result<Vec<Value>> {
    let (mut events, mut next) = (Vec::new(), String::new());
    loop {
        let was_done = is_done.load(Ordering::Relaxed);
        let page = match get(business, &format!("?limit=7&waitSeconds=2{next}")).await {
            Ok(reply) if !reply.status.is_server_error() => reply.expect(200)?,
            _ => {
                tokio::time::sleep(RETRY).await;
                continue;
            }
        };
        let data = page["data"].as_array().cloned().unwrap_or_default();
        next = format!("&startingAfter={}", text(&page, "next")?);
        if was_done && data.is_empty() && page["hasMore"] == false {
            return Ok(events);
        }
        events.extend(data);
    }
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
        let reply = get(business, &format!("/{id}")).await?;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(Some(&*hex(&reply.text)), sent.get(id.as_str()).copied(), "{}", reply.text);
        bodies.push(reply.text);
    }
    let list = get(business, "?limit=100").await?;
    let start = format!("{{\"data\":[{}],\"hasMore\":", bodies[..bodies.len().min(100)].join(","));
    assert!(list.text.starts_with(&start), "{}", list.text);
    Ok(())
}
