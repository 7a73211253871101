//! Orders that ended without a delivery, and the list by the last change.

use diesel::sql_types::Text;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use domain::Clock;
use reqwest::Method;
use serde_json::{Value, json};

use crate::after_failure::portal;
use crate::business::Business;
use crate::harness::{OrderApi, text};

const FEE: i64 = 4_900;
/// Before every change.
const ALWAYS: &str = "2000-01-01T00:00:00Z";

async fn view(business: &Business, order: &str) -> anyhow::Result<Value> {
    business.live()?.call(Method::GET, &format!("/{order}"), None).await?.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_cash_is_awaited_and_the_refund_is_shown() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let cancelled = business.place("ended-cancelled").await?;
    let before = view(&business, &cancelled).await?;
    assert_eq!((&before["codStatus"], &before["refundedPaise"]), (&json!("pending"), &json!(0)));
    let cancel = format!("/{cancelled}/cancel");
    let answer = business.live()?.call(Method::POST, &cancel, None).await?.expect(200)?;
    assert_eq!(answer["codStatus"], "not_applicable");
    let returned = business.place("ended-returned").await?;
    let way = ["driver.assigned", "order.picked_up", "order.failed", "order.returned"];
    business.fleet.drive(&returned, &way, 0).await?;

    for (order, refunded) in [(&cancelled, before["feeChargedPaise"].clone()), (&returned, json!(0))] {
        let after = view(&business, order).await?;
        assert_eq!((&after["codStatus"], &after["refundedPaise"]), (&json!("not_applicable"), &refunded));
        assert_eq!(after["feeChargedPaise"], before["feeChargedPaise"]);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_says_who_cancelled() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let [by_key, by_person, by_fleet] = [
        business.place("by-key").await?,
        business.place("by-person").await?,
        business.place("by-fleet").await?,
    ];
    let cancel = format!("/{by_key}/cancel");
    business
        .live()?
        .call(Method::POST, &cancel, Some(&json!({ "reason": "sold out" })))
        .await?
        .expect(200)?;
    portal(&service)?.cancel(business.id, &by_person, &json!({})).await?;
    business.fleet.drive(&by_fleet, &["order.cancelled"], 0).await?;
    for (order, data) in [
        (by_key, json!({ "reason": "sold out", "requestedBy": "api_key" })),
        (by_person, json!({ "requestedBy": "portal" })),
        (by_fleet, json!({})),
    ] {
        let timeline =
            business.live()?.call(Method::GET, &format!("/{order}/events"), None).await?.expect(200)?;
        let entries = timeline["data"].as_array().into_iter().flatten();
        let cancelled: Vec<_> = entries.filter(|entry| entry["event"] == "order.cancelled").collect();
        let told: Vec<_> = cancelled.iter().filter(|entry| entry["type"] == "status").collect();
        assert_eq!((told.len(), &told[0]["data"]), (1, &data), "{order}");
    }
    Ok(())
}

/// The time of the last change comes from the database. Only a change updates it.
#[tokio::test(flavor = "multi_thread")]
async fn orders_are_found_by_their_last_change() -> anyhow::Result<()> {
    let service = OrderApi::on_clock(Clock::system(), &[]).await;
    let business = service.business(FEE * 10);
    let moved = business.place("changed").await?;
    let still = business.place("unchanged").await?;
    let placed = text(&view(&business, &still).await?, "updatedAt");
    business.live()?.call(Method::POST, &format!("/{moved}/cancel"), None).await?.expect(200)?;
    let changed = text(&view(&business, &moved).await?, "updatedAt");
    let found = async |after: &str| {
        let query = format!("?updatedAfter={}", after.replace('+', "%2B"));
        business.live()?.call(Method::GET, &query, None).await?.expect(200)
    };
    assert_eq!(ids(&found(&placed).await?), [moved.as_str()]);
    assert_eq!(ids(&found(&changed).await?), Vec::<&str>::new());
    let all = found(ALWAYS).await?;
    assert_eq!(
        (ids(&all), &all["next"]),
        (vec![still.as_str(), &moved], &Value::Null),
        "the oldest change first"
    );
    let newest = business.live()?.call(Method::GET, "", None).await?.expect(200)?;
    assert_eq!(
        (ids(&newest), &newest["next"]),
        (vec![still.as_str(), &moved], &Value::Null),
        "the newest first"
    );
    let refused = business.live()?.call(Method::GET, "?updatedAfter=yesterday", None).await?;
    assert_eq!((refused.status.as_u16(), &refused.body["errors"][0]["field"]), (400, &json!("updatedAfter")));
    Ok(())
}

fn ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().into_iter().flatten().filter_map(|order| order["id"].as_str()).collect()
}

/// An order that changes between two pages is listed again, and hides no other order.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_changed_orders_miss_no_order() -> anyhow::Result<()> {
    let service = OrderApi::on_clock(Clock::system(), &[]).await;
    let business = service.business(FEE * 10);
    let mut orders = Vec::new();
    for number in 0..4 {
        orders.push(business.place(&format!("changed-{number}")).await?);
    }
    let changed = async |more: &str| {
        let query = format!("?updatedAfter={ALWAYS}&limit=2{more}");
        business.live()?.call(Method::GET, &query, None).await?.expect(200)
    };
    let first = changed("").await?;
    assert_eq!((ids(&first), &first["hasMore"]), (vec![orders[0].as_str(), &orders[1]], &json!(true)));
    business.live()?.call(Method::POST, &format!("/{}/cancel", orders[1]), None).await?.expect(200)?;
    let next = text(&first, "next");
    let second = changed(&format!("&startingAfter={next}")).await?;
    assert_eq!((ids(&second), &second["hasMore"]), (vec![orders[2].as_str(), &orders[3]], &json!(true)));
    let last = changed(&format!("&startingAfter={}", text(&second, "next"))).await?;
    assert_eq!(
        (ids(&last), &last["hasMore"], &last["next"]),
        (vec![orders[1].as_str()], &json!(false), &Value::Null)
    );
    let by_id = changed(&format!("&startingAfter={}", orders[3])).await?;
    assert_eq!(ids(&by_id), [orders[1].as_str()], "an id stands for the order's place");

    // The position is valid only in the list of changes.
    for query in
        [format!("?startingAfter={next}"), format!("?updatedAfter={ALWAYS}&startingAfter=at_nonsense")]
    {
        let refused = business.live()?.call(Method::GET, &query, None).await?;
        assert_eq!(
            (refused.status.as_u16(), &refused.body["errors"][0]["field"]),
            (400, &json!("startingAfter"))
        );
    }
    Ok(())
}

/// A business with a million orders polls each minute: the plan must read only the changed orders, also as a generic
/// plan.
#[tokio::test(flavor = "multi_thread")]
async fn changed_orders_are_found_by_an_index() -> anyhow::Result<()> {
    #[derive(diesel::QueryableByName)]
    struct Line {
        #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
        line: String,
    }
    let service = OrderApi::start().await;
    let mut conn = service.connection().await;
    conn.batch_execute(
        "SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan;
        PREPARE changed (text, text, timestamptz, timestamptz, text) AS SELECT id FROM orders
            WHERE business_id = $1 AND placement = 'placed' AND mode = $2 AND updated_at > $3
                AND updated_at >= $4 AND (updated_at > $4 OR (updated_at = $4 AND id > $5))
            ORDER BY updated_at, id LIMIT 20",
    )
    .await?;
    let explain = "EXPLAIN (COSTS OFF) EXECUTE changed ('bus', 'live', now(), now(), 'ord')";
    let lines: Vec<Line> = diesel::sql_query(explain).load(&mut conn).await?;
    let plan: String = lines.into_iter().map(|line| line.line + "\n").collect();
    assert!(plan.contains("orders_changed") && !plan.contains("Sort"), "{plan}");
    assert!(plan.contains("Index Cond: ((business_id = $1) AND (mode = $2) AND (updated_at >"), "{plan}");
    Ok(())
}
