//! The events feed: a reader misses no event, whatever commits when, and sees only its own.

mod of_business;
mod reader;
mod waiting;

use std::collections::HashMap;

use diesel_async::SimpleAsyncConnection;
use domain::Clock;
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::{Gate, until};

use self::reader::{Reader, ids, place, simulate};
use crate::harness::{OrderApi, text};

/// More calls than the default limit allows.
const UNLIMITED: [(&str, &str); 1] = [("WAYBILL_LIMITS__REQUESTS_PER_SECOND", "100000")];

const STEPS: [&str; 4] = ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"];

#[tokio::test(flavor = "multi_thread")]
async fn all_errors_of_a_call_are_named() {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let reader = Reader::new(&service, &business.test_key);
    for (query, named) in [
        ("limit=101", &["limit"][..]),
        ("types=", &["types"]),
        ("types=order.created,order.lost", &["types"]),
        ("types=wallet.low_balance", &["types"]),
        ("types=order.created&types=order.failed", &["types"]),
        ("since=yesterday", &["since"]),
        ("waitSeconds=26", &["waitSeconds"]),
        ("waitSeconds=soon", &["waitSeconds"]),
        ("type=order.created", &["type"]),
        ("startingAfter=at_nonsense", &["startingAfter"]),
        ("startingAfter=evt_01ARZ3NDEKTSV4RRFFQ69G5FAV", &["startingAfter"]),
        ("startingAfter=ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", &["startingAfter"]),
        ("limit=0&waitSeconds=-1&since=1&types=x&y=1", &["limit", "waitSeconds", "since", "types", "y"]),
    ] {
        let refused = reader.get(&format!("?{query}")).await;
        assert_eq!((refused.status.as_u16(), refused.code()), (400, "invalid_request"), "{query}");
        let errors = refused.body["errors"].as_array().unwrap();
        let fields: Vec<_> = errors.iter().map(|error| text(error, "field")).collect();
        assert_eq!(fields, named, "{query}");
    }
    let missing = reader.get("/evt_01ARZ3NDEKTSV4RRFFQ69G5FAV").await;
    assert_eq!((missing.status.as_u16(), missing.code()), (404, "event_not_found"));
    let empty = reader.get("").await;
    assert_eq!(empty.header("webhook-header-prefix"), Some("Service"));
    let empty = empty.expect(200).unwrap();
    assert_eq!((&empty["data"], &empty["hasMore"]), (&json!([]), &json!(false)));
    let next = text(&empty, "next");
    assert_eq!(reader.page(&format!("?startingAfter={next}")).await["next"], next);
}

/// Several orders move at the same time, and the event of one is held in its transaction while later ones commit.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_from_any_cursor_sees_every_event_once() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let reader = Reader::new(&service, &business.test_key);
    let held = place(&business, "held").await;
    reader.events(1).await;

    let condition = format!("NEW.order_id = '{held}'");
    let gate =
        Gate::close(service.settings.database.url.expose(), "order_events", "INSERT", &condition).await;
    let moving = async {
        let late = simulate(&business, &held, STEPS[0]);
        let others = async {
            gate.reached().await;
            let move_one = async |number: usize| {
                let order = place(&business, &format!("order-{number}")).await;
                for step in STEPS {
                    simulate(&business, &order, step).await;
                }
            };
            futures_util::future::join_all((0..6).map(move_one)).await;
            // A second is enough to list these, if that were possible.
            let since = "SELECT 1 WHERE clock_timestamp() > (SELECT max(feed_at) FROM order_events) + interval '1 second'";
            until("a second passes", async || service.count(&format!("({since}) AS passed")).await == 1)
                .await;
            let (seen, next) = reader.all_after("", 100).await;
            assert_eq!(seen.len(), 1, "events after the held one are not listed yet");
            gate.open().await;
            next
        };
        tokio::join!(late, others).1
    };
    // A reader that follows meanwhile, with its own position.
    let following = async {
        let (mut events, mut next) = (Vec::new(), String::new());
        until("the reader sees all", async || {
            let (more, end) = reader.all_after(&next, 3).await;
            events.extend(more);
            next = end;
            events.len() >= 32
        })
        .await;
        events
    };
    let (followed, before_the_held_one) = tokio::join!(following, moving);
    let stored = service.event_ids(&business).await;
    assert_eq!(stored.len(), 32);
    assert_eq!(ids(&followed), stored);
    let rest = reader.all_after(&before_the_held_one, 7).await.0;
    assert_eq!(ids(&rest), stored[1..]);

    let mut sequences: HashMap<String, i64> = HashMap::new();
    for event in &followed {
        let last = sequences.entry(text(&event["order"], "id")).or_default();
        *last += 1;
        assert_eq!(event["sequence"], *last, "{event}");
    }
    for (place, event) in stored.iter().enumerate() {
        let rest = reader.all_after(&format!("&startingAfter={event}"), 100).await.0;
        assert_eq!(ids(&rest), stored[place + 1..], "after {event}");
        let page = reader.page(&format!("?limit={}", place + 1)).await;
        let rest = reader.all_after(&format!("&startingAfter={}", text(&page, "next")), 100).await.0;
        assert_eq!(ids(&rest), stored[place + 1..], "after page {place}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_reads_the_events_of_its_business_and_mode() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let (owner, stranger) = (service.business(100_000), service.business(0));
    place(&owner, "mine").await;
    let reader = Reader::new(&service, &owner.test_key);
    let event = text(&reader.events(1).await[0], "id");
    for key in [&owner.live_key, &stranger.test_key, &stranger.live_key] {
        let other = Reader::new(&service, key);
        assert_eq!(other.page("").await["data"], json!([]));
        assert_eq!(other.get(&format!("?startingAfter={event}")).await.status, 400);
        assert_eq!(other.get(&format!("/{event}")).await.code(), "event_not_found");
    }
    // Single events and lists contain the same bytes.
    let (one, all) = (reader.get(&format!("/{event}")).await, reader.get("").await);
    assert_eq!(one.status, 200);
    assert_eq!(one.header("webhook-header-prefix"), Some("Service"));
    assert!(
        all.text.starts_with(&format!(r#"{{"data":[{}],"hasMore":false,"next":"at_"#, one.text)),
        "{}",
        all.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_times_and_now_select_events() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let reader = Reader::new(&service, &business.test_key);
    let order = place(&business, "filtered").await;
    simulate(&business, &order, "driver.assigned").await;
    reader.events(2).await;
    let now = reader.page("?startingAfter=now").await;
    assert_eq!(now["data"], json!([]));
    let from_now = format!("&startingAfter={}", text(&now, "next"));
    simulate(&business, &order, "order.picked_up").await;
    let all = ids(&reader.events(3).await);
    assert_eq!(ids(&reader.all_after(&from_now, 100).await.0), all[2..]);
    let of_kinds = reader.page("?types=order.picked_up,order.created").await;
    assert_eq!(ids(of_kinds["data"].as_array().unwrap()), [all[0].clone(), all[2].clone()]);
    let time = "(SELECT to_char(feed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM order_events WHERE sequence = 2)";
    let second =
        local_stack::query(service.settings.database.url.expose(), &format!("SELECT {time}")).await.unwrap();
    assert_eq!(ids(&reader.all_after(&format!("&since={second}"), 100).await.0), all[1..]);
    // The later one of both counts.
    let both = format!("&since={second}&startingAfter={}", all[0]);
    assert_eq!(ids(&reader.all_after(&both, 100).await.0), all[1..]);
    let future = reader.page("?since=2100-01-01T00:00:00Z").await;
    assert_eq!((&future["data"], &future["hasMore"]), (&json!([]), &json!(false)));
}

/// Events that a call must pass over are read in parts, so that no call reads all of them.
#[tokio::test(flavor = "multi_thread")]
async fn events_of_the_other_mode_are_passed_over_in_parts() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(100_000);
    let order = place(&business, "many").await;
    let many = format!(
        "INSERT INTO order_events (order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
         SELECT order_id, 1 + n, 'evt_' || lpad(n::text, 26, '0'), business_id, kind, status, cod_status, data, occurred_at, recorded_at
         FROM order_events, generate_series(1, 2100) AS n WHERE order_id = '{order}'"
    );
    service.connection().await.batch_execute(&many).await.unwrap();
    let live = business.live().unwrap();
    let body = test_kit::smallest_order("live");
    live.create("live", &body).await.unwrap().expect(201).unwrap();
    let reader = Reader::new(&service, &business.live_key);
    let all = reader.events(1).await;
    assert_eq!(all[0]["order"]["orderReference"], "live");
    let first = reader.page("?limit=1").await;
    assert_eq!((&first["data"], &first["hasMore"]), (&json!([]), &json!(true)), "the first thousand");
    let explain = format!(
        "SET enable_seqscan = off; SET enable_bitmapscan = off;
         EXPLAIN (COSTS OFF) SELECT event_id FROM order_events
         WHERE business_id = '{}' AND feed_at < now()
             AND (feed_at, order_id, sequence) > (now() - interval '1 hour', '', 0)
         ORDER BY feed_at, order_id, sequence LIMIT 1000",
        business.id
    );
    let plan = local_stack::query(service.settings.database.url.expose(), &explain).await.unwrap();
    assert!(
        plan.contains("order_events_feed") && plan.contains("Index Cond") && plan.contains("ROW("),
        "{plan}"
    );
    assert!(!plan.contains("Sort") && !plan.contains("Filter"), "{plan}");
    // It does not wait while there may be more.
    let waited = reader.page("?limit=1&waitSeconds=25").await;
    assert_eq!(waited, first);
}

/// Plans that were cached while the tables were empty: an index of the business once looked as good as the key.
#[tokio::test(flavor = "multi_thread")]
async fn a_move_does_not_read_the_other_events_of_the_business() {
    const MANY: u64 = 20_000;
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let order = place(&business, "planned").await;
    simulate(&business, &order, STEPS[0]).await;
    let fill = format!(
        "INSERT INTO order_events (order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
         SELECT 'ord_' || n, 2, 'evt_' || n, business_id, kind, status, cod_status, data, occurred_at, recorded_at
         FROM order_events, generate_series(1, {MANY}) AS n WHERE order_id = '{order}' AND sequence = 1"
    );
    service.connection().await.batch_execute(&fill).await.unwrap();
    let read = async |column: &str| {
        let sql = format!("SELECT {column} FROM pg_stat_user_tables WHERE relname = 'order_events'");
        let text = local_stack::query(service.settings.database.url.expose(), &sql).await.unwrap();
        text.parse::<u64>().unwrap()
    };
    let (scans, rows) = (read("idx_scan").await, read("idx_tup_fetch").await);
    for step in &STEPS[1..] {
        simulate(&business, &order, step).await;
    }
    until("the moves are counted", async || read("idx_scan").await >= scans + 3).await;
    let rows = read("idx_tup_fetch").await - rows;
    assert!(rows < MANY, "{rows} rows for three moves");
}

/// When the database's clock was set back, the next event is not listed before its predecessor.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_never_listed_before_its_predecessor() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let order = place(&business, "ahead").await;
    simulate(&business, &order, "driver.assigned").await;
    let ahead = "UPDATE order_events SET feed_at = feed_at + interval '1 second' WHERE sequence = 2";
    service.connection().await.batch_execute(ahead).await.unwrap();
    simulate(&business, &order, "order.picked_up").await;
    let reader = Reader::new(&service, &business.test_key);
    assert_eq!(ids(&reader.events(3).await), service.event_ids(&business).await);
    assert_eq!(service.count("order_events WHERE sequence = 3 AND feed_at >= (SELECT max(feed_at) FROM order_events WHERE sequence = 2)").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_event_is_listed_in_its_erased_form() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let order = place(&business, "erased").await;
    for step in ["driver.assigned", "order.cancelled"] {
        simulate(&business, &order, step).await;
    }
    let reader = Reader::new(&service, &business.test_key);
    let before = reader.events(3).await;
    assert!(before[1]["data"]["driver"].is_object(), "{}", before[1]);
    let internal = demo::clients::Api::new(format!("http://{}", service.internal)).unwrap();
    let path = format!("/internal/businesses/{}/orders/{order}/erase-personal-data", business.id);
    let token = service.settings.internal.token.expose();
    let erased = internal.send(internal.request(Method::POST, &path).bearer_auth(token)).await.unwrap();
    assert!(erased.status.is_success(), "{}", erased.text);
    let after = reader.events(3).await;
    assert_eq!(after[0], before[0], "it had no personal data");
    assert_eq!(after[1]["data"], json!({}));
    assert!(after[1]["personalDataErasedAt"].is_string(), "{}", after[1]);
    let mut unmarked = after[1].clone();
    unmarked.as_object_mut().unwrap().remove("personalDataErasedAt");
    unmarked["data"] = before[1]["data"].clone();
    assert_eq!(unmarked, before[1], "nothing else changed");
    assert_eq!(
        after[2].get("personalDataErasedAt").is_some(),
        before[2]["data"] != Value::from(serde_json::Map::new())
    );
}
