//! The personal data of orders is erased, by age, by command and on a business's request; in every database, and from
//! later redeliveries. Money, status and times stay exactly the same, and everything continues to work.

use demo::eventually;
use local_stack::{Servers, Service, Stack, StackOptions};
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, Gate, PATIENCE, smallest_order, text, wait_until_quiet};

const FEE: i64 = 4_900;
const CASH: i64 = 94_900;
/// Personal words that occur only in these orders.
const PERSONAL_WORDS: [&str; 13] = [
    "Quentina",
    "+919811122233",
    "quentina@example.com",
    "Banyan Court",
    "Near the lighthouse",
    "Udupi",
    "insulin pens",
    "knock like Bruno",
    "shelf forty",
    "Driver Zubin",
    "+919844455566",
    "handed to the neighbour",
    "Neighbour Xerxes",
];

fn order_with_personal_data(reference: &str) -> Value {
    json!({
        "orderReference": reference,
        "customer": { "name": "Quentina", "phone": "+919811122233", "email": "quentina@example.com" },
        "delivery": {
            "addressLine1": "Banyan Court", "landmark": "Near the lighthouse", "city": "Udupi", "state": "Karnataka",
            "pincode": "576101", "latitude": 13.34, "longitude": 74.74,
        },
        "package": { "items": [{ "name": "insulin pens", "quantity": 2, "pricePaise": 45_000 }], "weightKg": 0.4 },
        "payment": { "paymentType": "cod", "deliveryFeePaise": FEE, "codAmountPaise": CASH },
        "notes": { "customerNote": "knock like Bruno", "internalNote": "shelf forty" },
    })
}

async fn stack() -> anyhow::Result<Stack> {
    let directory = Stack::test_directory()?;
    let options = StackOptions::on_test_servers(&directory, Servers::for_tests().await?).variable(
        Service::OrderApi,
        "WAYBILL_PERSONAL_DATA__INTERVAL_SECONDS",
        "0.2",
    );
    Stack::start_for_test(options).await
}

/// Places a live order with personal data. Returns its response.
async fn place(business: &Business, reference: &str) -> anyhow::Result<Value> {
    business.live()?.create(reference, &order_with_personal_data(reference)).await?.expect(201)
}

fn report(order: &str, event: &str) -> Value {
    let mut report = json!({
        "eventId": format!("{order}-{event}"), "event": event, "occurredAt": "2026-01-31T09:30:00Z",
        "driver": { "name": "Driver Zubin", "phone": "+919844455566" }, "reason": "handed to the neighbour",
    });
    if event.starts_with("cod.") {
        report["codAmountPaise"] = json!(CASH);
    }
    if event == "order.delivered" {
        report["evidence"] = json!({ "recipientName": "Neighbour Xerxes", "recipientRelation": "neighbour" });
    }
    report
}

async fn deliver(business: &Business, order: &str) -> anyhow::Result<()> {
    for event in ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"] {
        business.fleet.send(order, &report(order, event)).await?.expect(200)?;
    }
    Ok(())
}

async fn read(business: &Business, order: &str) -> anyhow::Result<Value> {
    business.portal.get(&format!("/orders/{order}")).await
}

/// The number of rows that contain one of the words, in any column, as text or bytes, of each table that has such rows.
async fn rows_with_personal_data(stack: &Stack, services: &[Service]) -> anyhow::Result<Vec<String>> {
    let hex = |word: &str| word.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let like = |word: &str| format!("row::text LIKE '%{word}%' OR row::text LIKE '%{}%'", hex(word));
    let condition = PERSONAL_WORDS.map(like).join(" OR ");
    let mut found = Vec::new();
    for service in services {
        let tables =
            stack.query(*service, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'").await?;
        // One statement for all: a connection for each table takes longer than the rest of the test.
        let counts = tables.split_whitespace().map(|table| {
            format!(
                "SELECT '{service:?}.{table}: ' || count(*) FROM \"{table}\" AS row WHERE {condition} HAVING count(*) > 0"
            )
        });
        let counts = stack.query(*service, &Vec::from_iter(counts).join(" UNION ALL ")).await?;
        found.extend(counts.lines().map(str::to_owned));
    }
    Ok(found)
}

const ALL: [Service; 5] = [
    Service::OrderApi,
    Service::WebhookDispatcher,
    Service::PortalApi,
    Service::Wallet,
    Service::KeyManagement,
];

async fn until_no_personal_data_is_left(stack: &Stack) -> anyhow::Result<()> {
    let erased = eventually("every copy to be erased", PATIENCE, || async {
        Ok(rows_with_personal_data(stack, &ALL).await?.is_empty().then_some(()))
    });
    match erased.await {
        Ok(()) => Ok(()),
        Err(error) => {
            Err(error.context(format!("left in {:?}", rows_with_personal_data(stack, &ALL).await?)))
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completed_order_is_erased_everywhere_and_still_works() -> anyhow::Result<()> {
    let stack = stack().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(100_000).await?;
    let stranger = Business::sign_up(&stack).await?;
    let receipt = place(&business, "telling").await?;
    let id = text(&receipt, "id")?;
    let path = format!("/orders/{id}/erase-personal-data");
    let too_early = business.portal.call(Method::POST, &path, None).await?;
    assert_eq!((too_early.status.as_u16(), too_early.code()), (409, "order_not_completed"));
    assert_eq!(too_early.body["status"], "created");
    let foreign = stranger.portal.call(Method::POST, &path, None).await?;
    assert_eq!((foreign.status.as_u16(), foreign.code()), (404, "order_not_found"));
    deliver(&business, &id).await?;
    business.webhooks_of("telling", 5).await?;
    wait_until_quiet(&stack).await?;
    let before = rows_with_personal_data(&stack, &ALL).await?;
    assert!(before.iter().any(|place| place.starts_with("OrderApi.orders:")), "{before:?}");
    assert!(before.iter().any(|place| place.starts_with("OrderApi.order_events:")), "{before:?}");
    assert!(before.iter().any(|place| place.starts_with("OrderApi.delivery_evidence:")), "{before:?}");
    assert!(before.iter().any(|place| place.starts_with("WebhookDispatcher.events:")), "{before:?}");

    let (order, money) = (read(&business, &id).await?, business.entries_of(&id).await?);
    let timeline = business.portal.get(&format!("/orders/{id}/events?limit=100")).await?;
    let erased = business.portal.call(Method::POST, &path, None).await?.expect(200)?;
    until_no_personal_data_is_left(&stack).await?;
    let again = business.portal.call(Method::POST, &path, None).await?.expect(200)?;
    assert_eq!(again, erased, "repeated");
    assert_eq!(read(&business, &id).await?, erased);
    everything_else_is_unchanged(&order, &erased);
    assert_eq!(business.entries_of(&id).await?, money);
    let after = business.portal.get(&format!("/orders/{id}/events?limit=100")).await?;
    let bare = |timeline: &Value| {
        let entries = timeline["data"].as_array().cloned().unwrap_or_default().into_iter();
        Vec::from_iter(entries.filter(|entry| entry["type"] != "webhook").map(|mut entry| {
            entry["data"] = Value::Null;
            entry
        }))
    };
    assert_eq!(bare(&after), bare(&timeline), "times, events and money");
    let evidence = business.portal.get(&format!("/orders/{id}/evidence")).await?;
    assert_eq!((&evidence["intact"], &evidence["attempts"][0]["personal"]), (&json!(true), &Value::Null));
    let audit = business.portal.get("/audit-log").await?;
    assert_eq!(audit["data"][0]["action"], "order.personal_data_erased");

    the_erased_order_still_works(&stack, &business, &receipt).await?;
    until_no_personal_data_is_left(&stack).await?;
    for service in ALL {
        let log = std::fs::read_to_string(stack.log(service))?;
        assert!(
            PERSONAL_WORDS.iter().all(|word| !log.contains(word)),
            "{service:?}'s log contains personal data"
        );
    }
    stack.shut_down().await
}

fn everything_else_is_unchanged(before: &Value, erased: &Value) {
    for name in [
        "id",
        "serviceOrderId",
        "orderReference",
        "orderSource",
        "trackingCode",
        "trackingUrl",
        "status",
        "codStatus",
        "mode",
        "payment",
        "feeChargedPaise",
        "codCollectedPaise",
        "codDiscrepancyPaise",
        "createdAt",
        "updatedAt",
    ] {
        assert_eq!(erased[name], before[name], "{name}");
    }
    assert!(before["personalDataErasedAt"].is_null() && erased["personalDataErasedAt"].is_string());
    assert_eq!(erased["customer"], json!({ "name": null, "phone": null, "email": null }));
    assert_eq!(erased["delivery"]["pincode"], "576101");
    assert_eq!(erased["package"]["items"], json!([{ "name": null, "quantity": 2, "pricePaise": 45_000 }]));
    for path in
        ["/delivery/city", "/delivery/latitude", "/pickup/contactName", "/pickup/phone", "/driver", "/reason"]
    {
        assert_eq!(erased.pointer(path), Some(&Value::Null), "{path}");
    }
}

/// The order can still be replayed, tracked, found, updated and redelivered.
async fn the_erased_order_still_works(
    stack: &Stack,
    business: &Business,
    receipt: &Value,
) -> anyhow::Result<()> {
    let id = text(receipt, "id")?;
    let live = business.live()?;
    let replay = live.create("telling", &order_with_personal_data("telling")).await?;
    assert_eq!(replay.header("Idempotent-Replayed"), Some("true"));
    assert_eq!(&replay.expect(201)?, receipt);
    let other = live.create("telling", &order_with_personal_data("another")).await?;
    assert_eq!((other.status.as_u16(), other.code()), (422, "idempotency_key_reused"));
    let taken = live.create("another-key", &order_with_personal_data("telling")).await?;
    assert_eq!((taken.status.as_u16(), taken.code()), (409, "order_reference_exists"));

    let code = text(receipt, "trackingCode")?;
    for url in [
        format!("{}/track/{code}", stack.order_api_origin()),
        format!("{}/tracking/{code}", stack.order_api()),
    ] {
        assert_eq!(reqwest::get(&url).await?.status(), 200, "{url}");
    }
    let found = business.portal.get("/orders?search=telling").await?;
    assert_eq!(found["data"][0]["id"], id.as_str());
    for name in ["Quentina", "%2B919811122233"] {
        let none = business.portal.get(&format!("/orders?search={name}")).await?;
        assert_eq!(none["data"], json!([]), "{name}");
    }
    let request = business.portal.get(&format!("/orders/{id}/request")).await?;
    assert!(request["personalDataErasedAt"].is_string() && request["body"]["customer"]["name"].is_null());
    let fleet = business.fleet.orders("?status=delivered").await?.expect(200)?;
    assert!(fleet["data"][0]["personalDataErasedAt"].is_string(), "{fleet}");

    // A repeated report is recognised although its content is erased; the cash continues without names.
    business.fleet.send(&id, &report(&id, "order.delivered")).await?.expect(200)?;
    for event in ["cod.collected", "cod.handed_over", "cod.settled"] {
        let moved = business.fleet.send(&id, &report(&id, event)).await?.expect(200)?;
        assert!(moved["driver"].is_null() && moved["reason"].is_null(), "{moved}");
    }
    business.webhooks_of("telling", 8).await?;
    assert_eq!(read(business, &id).await?["codSettledPaise"], CASH);

    let log = business
        .portal
        .get(&format!("/webhook-endpoints/{}/deliveries?event=driver.assigned", business.endpoint_id))
        .await?;
    let delivery = text(&log["data"][0], "id")?;
    business
        .portal
        .call(Method::POST, &format!("/webhook-deliveries/{delivery}/redeliver"), None)
        .await?
        .expect(202)?;
    let path = format!("/webhook-deliveries/{delivery}");
    eventually("the redelivery", PATIENCE, || async {
        let sent = business.portal.get(&path).await?;
        Ok((sent["status"] == "succeeded" && sent["attempts"] == 2).then_some(()))
    })
    .await?;
    let sent = business.portal.get(&path).await?;
    let body: Value = serde_json::from_str(&text(&sent, "requestBody")?)?;
    assert!(body["personalDataErasedAt"].is_string() && body["data"] == json!({}), "{body}");
    let books = stack.run(Service::Wallet, &["reconcile"]).await?;
    assert_eq!(books.status.code(), Some(0), "{}", String::from_utf8_lossy(&books.stdout));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn old_orders_are_erased_automatically_and_recent_or_open_ones_are_kept() -> anyhow::Result<()> {
    let stack = stack().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(3 * FEE + 100).await?;
    let ids = |orders: [&Value; 5]| -> anyhow::Result<Vec<String>> {
        orders.into_iter().map(|order| text(order, "id")).collect()
    };
    let (old, young, under_way) = (
        place(&business, "old").await?,
        place(&business, "young").await?,
        place(&business, "under-way").await?,
    );
    let test_key = business.integration(&business.test_key)?;
    let old_test = test_key.create("old-test", &order_with_personal_data("old-test")).await?.expect(201)?;
    let young_test =
        test_key.create("young-test", &order_with_personal_data("young-test")).await?.expect(201)?;
    let ids = ids([&old, &young, &under_way, &old_test, &young_test])?;
    deliver(&business, &ids[0]).await?;
    deliver(&business, &ids[1]).await?;
    let live = business.live()?;
    live.create("refused", &order_with_personal_data("refused")).await?.expect(402)?;
    let aged = format!(
        "UPDATE orders SET updated_at = now() - interval '181 days' WHERE id IN ('{}', '{}', '{}') OR placement = 'released'",
        ids[0], ids[2], ids[3]
    );
    stack.query(Service::OrderApi, &aged).await?;
    let erased_at = "SELECT order_reference FROM orders WHERE personal_data_erased_at IS NOT NULL ORDER BY 1";
    eventually("old orders to be erased", PATIENCE, || async {
        let erased = stack.query(Service::OrderApi, erased_at).await?;
        Ok((erased.split_whitespace().collect::<Vec<_>>() == ["old", "old-test", "refused"]).then_some(()))
    })
    .await?;
    for (index, gone) in [true, false, false, true, false].into_iter().enumerate() {
        assert_eq!(read(&business, &ids[index]).await?["customer"]["name"].is_null(), gone, "{index}");
    }
    let metrics =
        reqwest::get(format!("{}/metrics", stack.management_url(Service::OrderApi))).await?.text().await?;
    assert!(
        metrics.lines().any(|line| line.starts_with("personal_data_erased_total") && line.ends_with(" 3")),
        "{metrics}"
    );
    assert!(
        metrics.contains("\npersonal_data_erasure_overdue_seconds{service=\"order-api\"} 0\n"),
        "{metrics}"
    );

    // A released order's row is reused as if it had not existed.
    business.top_up(100_000).await?;
    let taken_over = live.create("refused", &order_with_personal_data("refused")).await?.expect(201)?;
    let id = text(&taken_over, "id")?;
    let taken_over = read(&business, &id).await?;
    assert_eq!(taken_over["customer"]["name"], "Quentina");
    assert!(taken_over["personalDataErasedAt"].is_null());
    business.fleet.send(&id, &report(&id, "driver.assigned")).await?.expect(200)?;
    let webhooks = business.webhooks_of("refused", 2).await?;
    let body: Value = serde_json::from_slice(&webhooks[1].body)?;
    assert_eq!(body["data"]["driver"]["name"], "Driver Zubin", "{body}");
    stack.shut_down().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_requested_erasure_survives_a_kill_and_the_command_reports_its_result() -> anyhow::Result<()> {
    let stack = stack().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(100_000).await?;
    assert!(business.portal.get("/personal-data-erasure").await?["erasure"].is_null());
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(text(&place(&business, &format!("wished-{number}")).await?, "id")?);
    }
    for id in &ids[..3] {
        deliver(&business, id).await?;
    }
    wait_until_quiet(&stack).await?;

    let gate = Gate::close(stack.database_url(Service::OrderApi), "erasures", "UPDATE", "TRUE").await;
    let begun = business.portal.call(Method::POST, "/personal-data-erasure", None).await?.expect(202)?;
    assert!(begun["completedAt"].is_null(), "{begun}");
    gate.reached().await;
    stack.kill(Service::OrderApi).await?;
    gate.open().await;
    let done = eventually("the erasure to complete", PATIENCE, || async {
        let Ok(latest) = business.portal.get("/personal-data-erasure").await else { return Ok(None) };
        Ok(Some(latest["erasure"].clone()).filter(|erasure| erasure["completedAt"].is_string()))
    })
    .await?;
    assert_eq!(done["requestedAt"], begun["requestedAt"]);
    // The first test order, and the one that waits for its driver.
    assert_eq!((&done["erased"], &done["notCompleted"]), (&json!(3), &json!(2)), "{done}");
    for (id, gone) in ids.iter().zip([true, true, true, false]) {
        assert_eq!(read(&business, id).await?["customer"]["name"].is_null(), gone, "{id}");
    }

    let run = async |arguments: &[&str], code: i32| -> anyhow::Result<String> {
        let output = stack.run(Service::OrderApi, &[&["erase-personal-data"], arguments].concat()).await?;
        let text = String::from_utf8(output.stdout)?;
        assert_eq!(output.status.code(), Some(code), "{text}");
        Ok(text)
    };
    let last = ids[3].as_str();
    assert!(run(&["--order", last], 1).await?.contains("not completed"));
    assert!(run(&["--order", "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV"], 1).await?.contains("no such order"));
    run(&["--everything", "yes"], 2).await?;
    deliver(&business, last).await?;
    assert!(run(&["--order", last], 0).await?.contains("personal data erased at 20"));
    let cancelled = business.live()?.create("later", &smallest_order("later")).await?.expect(201)?;
    business
        .portal
        .call(Method::POST, &format!("/orders/{}/cancel", text(&cancelled, "id")?), None)
        .await?
        .expect(200)?;
    let business_id = business.portal.business_id.clone();
    let text = run(&["--business", &business_id], 0).await?;
    assert!(text.contains("erased of 1 orders") && text.contains("1 orders are not completed"), "{text}");
    let test = stack.query(Service::OrderApi, "SELECT count(*) FROM orders WHERE mode = 'test'").await?;
    eventually("the command to succeed", PATIENCE, || async {
        let output = stack
            .run(Service::OrderApi, &["erase-personal-data", "--before", "2026-01-01T00:00:00Z"])
            .await?;
        Ok((output.status.code() == Some(0)).then_some(()))
    })
    .await?;
    assert_eq!(test.trim(), "1");
    let operators = format!("/businesses/{business_id}/personal-data-erasure");
    business.operator.call(Method::POST, &operators, &json!({})).await?.expect(202)?;
    until_no_personal_data_is_left(&stack).await?;
    stack.shut_down().await
}
