//! Reading orders: filters, and the timeline with money and webhooks. Reads never cross tenants or modes.

use std::collections::BTreeSet;

use anyhow::Context;
use demo::clients::{Integration, Reply};
use demo::{eventually, sample_prepaid_order};
use local_stack::{Service, Stack};
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, PATIENCE, smallest_order, text};

const FEE: i64 = 4_900;

#[tokio::test(flavor = "multi_thread")]
async fn orders_and_their_timelines_are_read_by_their_own_business() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(100_000).await?;
    let stranger = Business::sign_up(&stack).await?;

    filters_find_one_and_wrong_values_are_refused(&business, &stranger).await?;
    let order = a_timeline_lists_moves_money_and_webhooks(&business).await?;
    a_timeline_is_the_same_page_by_page(&business, &order).await?;
    no_other_business_can_read_it(&business, &stranger, &order).await?;
    an_outage_is_reported_and_hides_no_move(&stack, &business, &order).await?;
    stack.shut_down().await
}

async fn get(key: &Integration, path: &str) -> anyhow::Result<Reply> {
    key.call(Method::GET, path, None).await
}

fn entries(page: &Value) -> Vec<Value> {
    page["data"].as_array().cloned().unwrap_or_default()
}

async fn filters_find_one_and_wrong_values_are_refused(
    business: &Business,
    stranger: &Business,
) -> anyhow::Result<()> {
    let test = business.integration(&business.test_key)?;
    let (live, other) = (business.live()?, stranger.integration(&stranger.test_key)?);
    let order = test.create("filtered", &smallest_order("a b&c=ü")).await?.expect(201)?;
    let (id, code) = (text(&order, "id")?, text(&order, "trackingCode")?);
    let found = |page: &Value| entries(page).iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
    for query in [
        "?orderReference=a%20b%26c%3D%C3%BC".to_owned(),
        format!("?trackingCode={code}"),
        // As people type it, and as the tracking page accepts it.
        format!("?trackingCode=%20{}", code.to_lowercase()),
        format!("?trackingCode={code}&status=created"),
    ] {
        assert_eq!(found(&get(&test, &query).await?.expect(200)?), [json!(id)], "{query}");
        for stranger in [&live, &other] {
            assert_eq!(found(&get(stranger, &query).await?.expect(200)?), [] as [Value; 0], "{query}");
        }
    }
    let none = get(&test, &format!("?trackingCode={code}&status=delivered")).await?.expect(200)?;
    assert_eq!(none, json!({ "data": [], "hasMore": false }));

    let foreign = get(&other, &format!("?startingAfter={id}")).await?;
    assert_eq!(foreign.status, 400, "another tenant's order is no cursor");
    assert_eq!(get(&live, &format!("?startingAfter={id}")).await?.status, 400, "nor another mode's");
    let too_long = format!("orderReference={}", "x".repeat(129));
    for (query, field) in [
        ("status=lost", "status"),
        ("status=", "status"),
        ("status=created&status=failed", "status"),
        ("trackingCode=TEST-1234", "trackingCode"),
        ("orderReference=", "orderReference"),
        (too_long.as_str(), "orderReference"),
        ("orderReference=%00", "orderReference"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=ten", "limit"),
        ("limit=%2B5", "limit"),
        ("limit=5&limit=5", "limit"),
        ("orderReference=a%E2%80%8Bb", "orderReference"),
        ("statsu=created", "statsu"),
        ("mode=live", "mode"),
        ("startingAfter=", "startingAfter"),
        ("startingAfter=ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", "startingAfter"),
    ] {
        let refused = get(&test, &format!("?{query}")).await?;
        assert_eq!(refused.status, 400, "{query}: {}", refused.text);
        assert_eq!(refused.body["errors"][0]["field"], field, "{query}");
    }
    let all = get(&test, "?limit=0&status=lost&orderReference=&page=2&startingAfter=x").await?;
    let found: Vec<_> =
        all.body["errors"].as_array().into_iter().flatten().map(|error| error["field"].clone()).collect();
    // The cursor is checked only after all other parameters are valid.
    assert_eq!(found, ["limit", "orderReference", "status", "page"], "all errors at once: {}", all.text);
    for query in ["limit=101", "since=1"] {
        let refused = get(&test, &format!("/{id}/events?{query}")).await?;
        assert_eq!((refused.status.as_u16(), refused.code()), (400, "invalid_request"), "{query}");
    }
    for path in [format!("/{id}"), format!("/{id}/events")] {
        assert_eq!(get(&test, &path).await?.status, 200);
        assert_eq!(get(&live, &path).await?.code(), "order_not_found", "the other mode: {path}");
        assert_eq!(get(&other, &path).await?.code(), "order_not_found", "another tenant: {path}");
    }
    Ok(())
}

/// A cancelled live order: its fee, three moves, their webhooks, and the refund.
async fn a_timeline_lists_moves_money_and_webhooks(business: &Business) -> anyhow::Result<String> {
    let order = business.place(&sample_prepaid_order("timeline-1")).await?;
    business.fleet.report(&order, "driver.assigned", 0).await?.expect(200)?;
    let live = business.live()?;
    live.call(Method::POST, &format!("/{order}/cancel"), None).await?.expect(200)?;
    let page = eventually("the whole timeline", PATIENCE, || async {
        let page = get(&live, &format!("/{order}/events")).await?.expect(200)?;
        let found = entries(&page).iter().filter(|entry| entry["status"] == "succeeded").count();
        let refunded = entries(&page).iter().any(|entry| entry["kind"] == "refund");
        Ok((found == 3 && refunded).then_some(page))
    })
    .await?;
    assert!(page.get("incomplete").is_none() && page["hasMore"] == false);
    let all = entries(&page);
    let of = |kind: &str| all.iter().filter(|entry| entry["type"] == kind).collect::<Vec<_>>();
    let moves: Vec<_> =
        of("status").iter().map(|entry| (entry["event"].clone(), entry["sequence"].clone())).collect();
    assert_eq!(
        moves,
        [
            (json!("order.created"), json!(1)),
            (json!("driver.assigned"), json!(2)),
            (json!("order.cancelled"), json!(3))
        ]
    );
    let money: Vec<_> =
        of("money").iter().map(|entry| (entry["kind"].clone(), entry["amountPaise"].clone())).collect();
    assert_eq!(money, [(json!("delivery_fee"), json!(-FEE)), (json!("refund"), json!(FEE))]);
    assert_eq!(all[0]["kind"], "delivery_fee", "an order is paid before it is placed");
    for webhook in of("webhook") {
        assert_eq!(webhook["state"], webhook["status"], "the former name stays");
        assert_eq!((&webhook["attempts"], &webhook["lastResponseStatus"]), (&json!(1), &json!(200)));
        assert_eq!(webhook["endpointId"], json!(business.endpoint_id));
        let place = |id: &Value| all.iter().position(|entry| entry["id"] == *id).context("not in the list");
        assert!(place(&webhook["eventId"])? < place(&webhook["id"])?, "a webhook follows its event");
    }
    assert!(all.iter().all(|entry| entry["recordedAt"].is_string()), "{all:?}");

    let portal = business.portal.get(&format!("/orders/{order}/events")).await?;
    assert_eq!(portal["data"], page["data"], "the portal shows the same");
    Ok(order)
}

async fn a_timeline_is_the_same_page_by_page(business: &Business, order: &str) -> anyhow::Result<()> {
    let live = business.live()?;
    let whole = entries(&get(&live, &format!("/{order}/events")).await?.expect(200)?);
    for limit in [1, 2, 3, 7] {
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let page = get(&live, &format!("/{order}/events?limit={limit}{after}")).await?.expect(200)?;
            seen.extend(entries(&page));
            if page["hasMore"] == false {
                break;
            }
            after = format!("&startingAfter={}", text(seen.last().context("no page is empty")?, "id")?);
        }
        assert_eq!(seen, whole, "by {limit}");
    }
    let last = text(whole.last().context("entries")?, "id")?;
    let portal = business.portal.get(&format!("/orders/{order}/events?limit=3&startingAfter={last}")).await?;
    assert_eq!(portal, json!({ "data": [], "hasMore": false }));
    Ok(())
}

async fn no_other_business_can_read_it(
    business: &Business,
    stranger: &Business,
    order: &str,
) -> anyhow::Result<()> {
    let path = format!("/{order}/events");
    for key in [business.integration(&business.test_key)?, stranger.integration(&stranger.test_key)?] {
        let refused = get(&key, &path).await?;
        assert_eq!((refused.status.as_u16(), refused.code()), (404, "order_not_found"));
    }
    let portal = stranger.portal.call(Method::GET, &format!("/orders{path}"), None).await?;
    assert_eq!((portal.status.as_u16(), portal.code()), (404, "order_not_found"));

    // The id of another order's entry is not a valid position in this timeline.
    let live = business.live()?;
    let another = business.place(&sample_prepaid_order("timeline-2")).await?;
    let others = eventually("the other order's entries", PATIENCE, || async {
        let page = get(&live, &format!("/{another}/events")).await?.expect(200)?;
        Ok((entries(&page).len() == 3).then(|| entries(&page)))
    })
    .await?;
    let kinds: BTreeSet<String> =
        others.iter().map(|entry| text(entry, "type")).collect::<anyhow::Result<_>>()?;
    assert_eq!(kinds, BTreeSet::from(["money", "status", "webhook"].map(str::to_owned)));
    let mut cursors: Vec<String> =
        others.iter().map(|entry| text(entry, "id")).collect::<anyhow::Result<_>>()?;
    cursors.extend(
        ["", "1", "evt_", "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV", "whd_01ARZ3NDEKTSV4RRFFQ69G5FAV"]
            .map(str::to_owned),
    );
    for cursor in cursors {
        let refused = get(&live, &format!("{path}?startingAfter={cursor}")).await?;
        assert_eq!(refused.status, 400, "{cursor}: {}", refused.text);
        assert_eq!(refused.body["errors"][0]["field"], "startingAfter");
    }
    Ok(())
}

async fn an_outage_is_reported_and_hides_no_move(
    stack: &Stack,
    business: &Business,
    order: &str,
) -> anyhow::Result<()> {
    let live = business.live()?;
    let path = format!("/{order}/events");
    let webhook = entries(&get(&live, &path).await?.expect(200)?)
        .into_iter()
        .find(|entry| entry["type"] == "webhook")
        .context("a webhook")?;
    stack.stop(Service::WebhookDispatcher).await?;
    // A hanging service is the harder case.
    stack.pause(Service::Wallet)?;
    let page = get(&live, &path).await?.expect(200)?;
    assert_eq!(page["incomplete"], json!(["wallet", "webhook-dispatcher"]));
    assert_eq!(entries(&page).len(), 3);
    assert!(entries(&page).iter().all(|entry| entry["type"] == "status"));
    let unknown = get(&live, &format!("{path}?startingAfter={}", text(&webhook, "id")?)).await?;
    assert_eq!(unknown.status, 503, "its position in the list is unknown: {}", unknown.text);
    stack.resume(Service::Wallet)?;
    stack.bring_up(Service::WebhookDispatcher).await?;
    let page = get(&live, &path).await?.expect(200)?;
    assert_eq!((page.get("incomplete"), entries(&page).len()), (None, 8));
    Ok(())
}
