//! Outbox and inbox as tables: they contain exactly what was committed.

use chrono::TimeDelta;
use domain::Clock;
use outbox::Outbox;
use postgres::StoreError;
use telemetry::TraceContext;
use test_kit::until;

use crate::servers::{Events, Running, broker, count, database, waiting};

#[tokio::test]
async fn only_committed_events_are_in_the_outbox() {
    let (database, url) = database().await;
    let events = Events::new();
    let committed = events.commit(&database, 3).await.unwrap();
    events.commit(&database, 0).await.unwrap();
    let rolled_back: Result<(), StoreError> = database
        .transaction(async |conn| {
            events.outbox.enqueue(conn, &[events.funded()], events.now()).await?;
            Err(StoreError::Corrupt("a test says so".into()))
        })
        .await;
    assert!(rolled_back.is_err());
    let ids = local_stack::query(&url, "SELECT event_id FROM outbox_messages ORDER BY id").await.unwrap();
    assert_eq!(
        ids.lines().map(str::to_owned).collect::<Vec<_>>(),
        committed.iter().map(ToString::to_string).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn events_of_several_traces_keep_their_trace() {
    let (database, url) = database().await;
    let events = Events::new();
    let trace = TraceContext { traceparent: "00-a-b-01".into(), tracestate: Some("x=y".into()) };
    let (traced, untraced) = (events.funded(), events.funded());
    database
        .transaction(async |conn| {
            let messages = [(&traced, Some(&trace)), (&untraced, None)];
            events.outbox.enqueue_traced(conn, messages, events.now()).await
        })
        .await
        .unwrap();
    let sql = "SELECT string_agg(concat_ws('/', routing_key, traceparent, tracestate), ' ' ORDER BY id) FROM outbox_messages";
    assert_eq!(local_stack::query(&url, sql).await.unwrap(), "wallet.funded/00-a-b-01/x=y wallet.funded");
    assert_eq!(waiting(&url).await, 2);
}

#[tokio::test]
async fn an_event_is_new_to_a_consumer_once() {
    let (database, url) = database().await;
    let events = Events::new();
    let event = events.funded().id;
    let see = async |consumer: &str| {
        database.transaction(async |conn| outbox::first_time(conn, consumer, event, events.now()).await).await
    };
    // Of concurrent deliveries, one is first.
    let (a, b, c) = tokio::join!(see("a"), see("a"), see("a"));
    let firsts = [a, b, c].into_iter().filter(|seen| *seen.as_ref().unwrap()).count();
    assert_eq!(firsts, 1);
    assert!(see("b").await.unwrap());
    // A rolled-back transaction leaves no trace.
    let undone: Result<(), StoreError> = database
        .transaction(async |conn| {
            assert!(outbox::first_time(conn, "c", event, events.now()).await?);
            Err(StoreError::Corrupt("a test says so".into()))
        })
        .await;
    assert!(undone.is_err());
    assert!(see("c").await.unwrap());
    assert_eq!(count(&url, "SELECT count(*) FROM inbox").await, 3);
}

#[tokio::test]
async fn each_event_of_a_batch_is_new_once() {
    let (database, url) = database().await;
    let events = Events::new();
    let ids: Vec<_> = (0..5).map(|_| events.funded().id).collect();
    let see = async |ids: &[domain::EventId]| {
        database
            .transaction(async |conn| outbox::first_times(conn, "a", ids, events.now()).await)
            .await
            .unwrap()
    };
    // One of them twice.
    let first = see(&[ids[2], ids[0], ids[1], ids[0]]).await;
    assert_eq!(first, ids[..3].iter().copied().collect());
    // In concurrent calls, each event is new to one of them.
    let (one, other) = tokio::join!(see(&ids), see(&ids));
    assert_eq!(one.len() + other.len(), 2);
    assert_eq!(count(&url, "SELECT count(*) FROM inbox").await, 5);
    assert!(see(&[]).await.is_empty());
}

#[tokio::test]
async fn events_handled_a_week_ago_are_forgotten() {
    let (database, url) = database().await;
    let sql = "INSERT INTO inbox SELECT 'a', 'evt_' || n, now() - interval '8 days' FROM generate_series(1, 2500) AS n;
        INSERT INTO inbox VALUES ('a', 'evt_new', now() - interval '6 days')";
    local_stack::query(&url, sql).await.unwrap();
    // Housekeeping needs no broker.
    let port = local_stack::free_port().unwrap();
    let broker = broker(&format!("amqp://u:p@127.0.0.1:{port}/v"));
    let relay = Running::relay(&database, &broker, &Outbox::default(), Clock::system());
    until("the old are gone", async || count(&url, "SELECT count(*) FROM inbox").await == 1).await;
    relay.stop().await;
    // Later the other one too.
    let clock = Clock::manual(Events::new().now() + TimeDelta::days(2));
    let relay = Running::relay(&database, &broker, &Outbox::default(), clock);
    until("the last is gone", async || count(&url, "SELECT count(*) FROM inbox").await == 0).await;
    relay.stop().await;
    broker.close().await;
}
