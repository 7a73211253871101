//! The log is kept for thirty days and streams for longer; pending deliveries are kept until they complete.

use chrono::TimeDelta;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use domain::{Clock, EventKind, Mode};
use internal_api::webhooks::DeliveryState;
use serde_json::json;
use test_kit::until;

use crate::harness::{Harness, TestOrder};
use crate::receiver::Receiver;

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = Text)]
    word: String,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

async fn words(harness: &Harness, sql: &str) -> Vec<String> {
    let mut conn = harness.connection().await;
    let rows: Vec<Word> = diesel::sql_query(sql).load(&mut conn).await.unwrap();
    rows.into_iter().map(|row| row.word).collect()
}

async fn number(harness: &Harness, sql: &str) -> i64 {
    let mut conn = harness.connection().await;
    diesel::sql_query(sql).get_result::<Number>(&mut conn).await.unwrap().number
}

/// In which partitions attempts are, in the order of their time.
async fn days(harness: &Harness) -> Vec<String> {
    words(harness, "SELECT tableoid::regclass::text AS word FROM attempts ORDER BY started_at").await
}

fn day_of(clock: &Clock) -> String {
    format!("attempts_{}", clock.now().format("%Y%m%d"))
}

#[tokio::test]
async fn completed_deliveries_expire_and_pending_ones_stay() {
    let clock = Clock::manual(Clock::system().now() + TimeDelta::days(2));
    let mut harness = Harness::start_with(|_| {}, clock).await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let resting = harness.create(json!({"url": receiver.url()})).await;
    harness.patch(&resting, json!({"status": "paused"})).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it arrives", async || harness.succeeded(&endpoint).await).await;
    let first_day = day_of(&harness.clock);
    until("its attempt is in its day", async || days(&harness).await == std::slice::from_ref(&first_day))
        .await;

    // This day has no partition: nothing is lost.
    harness.clock.advance(TimeDelta::days(32));
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it arrives as well", async || {
        let log = harness.deliveries(&endpoint).await;
        log.len() == 2 && log.iter().all(|one| one.status == DeliveryState::Succeeded)
    })
    .await;
    let late = harness.deliveries(&endpoint).await.remove(0);
    assert_eq!(days(&harness).await, [first_day.clone(), "attempts_default".to_owned()]);

    harness.crash_and_restart().await;
    until("the first day is gone", async || days(&harness).await == [day_of(&harness.clock)]).await;
    until("so is its delivery", async || harness.deliveries(&endpoint).await.len() == 1).await;
    let tables = "SELECT inhrelid::regclass::text AS word FROM pg_inherits \
                  WHERE inhparent = 'attempts'::regclass ORDER BY 1";
    assert!(!words(&harness, tables).await.contains(&first_day), "with its table");
    assert_eq!(harness.details(&late).await.attempt_log.len(), 1);
    // Two still wait for the endpoint that rests, and so both events are there.
    let events = "SELECT count(*) AS number FROM events";
    assert_eq!(number(&harness, events).await, 2);
    assert_eq!(harness.deliveries(&resting).await.len(), 2);
    harness.patch(&resting, json!({"status": "active"})).await;
    // Their outcomes are recorded: otherwise they would be repeated after the crash and complete only then.
    until("they arrive at last", async || {
        let log = harness.deliveries(&resting).await;
        receiver.count() == 4 && log.iter().all(|one| one.status == DeliveryState::Succeeded)
    })
    .await;

    harness.clock.advance(TimeDelta::days(31));
    harness.crash_and_restart().await;
    until("nothing is left", async || number(&harness, events).await == 0).await;
    assert_eq!(harness.deliveries(&resting).await, []);
}

/// The orders whose streams are there, in the order of their ids.
async fn streams(harness: &Harness) -> Vec<String> {
    words(harness, "SELECT order_id AS word FROM order_streams ORDER BY order_id").await
}

#[tokio::test]
async fn the_stream_of_an_order_goes_after_400_days_unless_something_of_it_waits() {
    let clock = Clock::manual(Clock::system().now());
    let mut harness = Harness::start_with(|_| {}, clock).await;
    let receiver = Receiver::kind();
    let endpoint = harness.create(json!({"url": receiver.url(), "modes": ["live"]})).await;
    let resting = harness.create(json!({"url": receiver.url(), "modes": ["test"]})).await;
    harness.patch(&resting, json!({"status": "paused"})).await;
    let [over, gap] = [harness.new_order(Mode::Live), harness.new_order(Mode::Live)];
    let waits = harness.new_order(Mode::Test);
    harness.publish_created(&over).await;
    harness.publish(&[harness.envelope(&gap, 2, EventKind::DriverAssigned)]).await;
    harness.publish_created(&waits).await;
    until("the first arrives", async || harness.succeeded(&endpoint).await).await;
    until("one waits for its endpoint", async || harness.deliveries(&resting).await.len() == 1).await;
    let held_back = "SELECT count(*) AS number FROM held_back_events";
    until("one waits for its predecessor", async || number(&harness, held_back).await == 1).await;
    let ids = |orders: &[&TestOrder]| {
        let mut ids: Vec<String> = orders.iter().map(|order| order.id.to_string()).collect();
        ids.sort();
        ids
    };

    // An order of 1970: its deletion shows that streams were pruned.
    let ancient = format!(
        "INSERT INTO order_streams (order_id, business_id, next_sequence) VALUES ('ord_{:026}', '{}', 2)",
        0, harness.business
    );
    harness.connection().await.batch_execute(&ancient).await.unwrap();
    assert_eq!(streams(&harness).await.len(), 4);
    harness.clock.advance(TimeDelta::days(399));
    harness.crash().await;
    // Retention passes over the stream of an order whose event is being handled.
    harness.discard_messages().await;
    harness.restart();
    until("the oldest is gone", async || streams(&harness).await.len() < 4).await;
    assert_eq!(streams(&harness).await, ids(&[&over, &gap, &waits]));
    assert_eq!(number(&harness, "SELECT count(*) AS number FROM events").await, 1, "though its events went");

    harness.clock.advance(TimeDelta::days(2));
    harness.crash_and_restart().await;
    until("the next one is gone", async || streams(&harness).await.len() < 3).await;
    assert_eq!(streams(&harness).await, ids(&[&gap, &waits]));
    // What waited goes on as if it were of yesterday.
    harness.patch(&resting, json!({"status": "active"})).await;
    until("it arrives at last", async || harness.succeeded(&resting).await).await;
    harness.publish_created(&gap).await;
    until("the gap is closed", async || receiver.count() == 4).await;
    assert_eq!(number(&harness, held_back).await, 0);
}
