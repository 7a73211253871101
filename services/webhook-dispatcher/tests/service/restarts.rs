//! Crashes and restarts lose nothing.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::dsl::sql;
use diesel::sql_types::{Nullable, Timestamptz};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use domain::{Clock, Mode};
use serde_json::json;
use test_kit::until;

use crate::harness::{Harness, LIFE, client, retries, some_day};
use crate::process;
use crate::receiver::{Latch, Receiver, Reply, reply};

#[tokio::test]
async fn events_wait_in_the_broker_while_the_service_is_away() {
    let mut harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let before = harness.new_order(Mode::Live);
    harness.publish_created(&before).await;
    until("the first arrives", async || receiver.count() == 1).await;
    harness.crash().await;
    let order = harness.new_order(Mode::Test);
    for (sequence, kind) in (1..=3).zip(LIFE) {
        harness.publish(&[harness.envelope(&order, sequence, kind)]).await;
    }
    assert_eq!(receiver.count(), 1);
    // A test order's events and a live order's come by different bindings of one queue.
    let (internal, running) = crate::harness::run(&harness.settings, &harness.clock, &harness.entropy);
    until("all arrive", async || receiver.sequences(&order.reference) == [1, 2, 3]).await;
    drop(internal);
    running.abort();
}

/// A sender that was considered dead returns: its outcome is dropped.
#[tokio::test]
async fn only_the_holder_of_the_lease_writes_an_outcome() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        // One at a time: nothing is sent again before the first attempt's outcome was handed in.
        settings.webhooks.concurrency = 1;
        settings.webhooks.per_endpoint = 1;
        settings.webhooks.timeout_seconds = 600.0;
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let latch = Latch::closed();
    let first = latch.clone();
    let receiver = Receiver::start(move |_, before| {
        let mut reply = reply(if before == 0 { 500 } else { 200 });
        reply.held = (before == 0).then(|| first.clone());
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("the first attempt is under way", async || receiver.count() == 1).await;
    until("it is leased", async || lease_end(&harness).await.is_some()).await;
    // Another sender takes the delivery over, and its lease ends as well.
    let mut conn = harness.connection().await;
    let taken = diesel::sql_query("UPDATE deliveries SET lease_token = lease_token + 1, lease_until = now()");
    assert_eq!(taken.execute(&mut conn).await.unwrap(), 1);
    latch.open();
    until("it is sent again", async || receiver.count() == 2).await;
    until("that attempt counts", async || harness.succeeded(&endpoint).await).await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    assert_eq!(delivery.attempts, 1, "the first attempt's outcome was refused");
    let statuses: Vec<_> =
        harness.details(&delivery).await.attempt_log.iter().map(|one| one.response_status).collect();
    assert_eq!(statuses, [Some(200)]);
}

/// When the last of the leases ends.
async fn lease_end(harness: &Harness) -> Option<DateTime<Utc>> {
    let end = sql::<Nullable<Timestamptz>>("(SELECT max(lease_until) FROM deliveries)");
    diesel::select(end).first(&mut harness.connection().await).await.unwrap()
}

/// An attempt that takes longer than a lease is not taken over while its sender lives, even by a process whose clock is
/// ahead.
#[tokio::test]
async fn a_slow_attempt_is_not_repeated() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.timeout_seconds = 600.0;
    let harness = Harness::start_with(adjust, Clock::manual(some_day())).await;
    let ahead = Clock::manual(some_day() + TimeDelta::seconds(10));
    let (_, second) = crate::harness::run(&harness.settings, &ahead, &harness.entropy);
    let latch = Latch::closed();
    let held = latch.clone();
    let receiver = Receiver::start(move |_, _| {
        let mut reply = reply(200);
        reply.held = Some(held.clone());
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it is under way", async || receiver.count() == 1).await;
    until("it is leased", async || lease_end(&harness).await.is_some()).await;
    let first_end = lease_end(&harness).await.expect("a lease");
    until("the first lease would have expired", async || {
        lease_end(&harness).await.is_some_and(|end| end > first_end + TimeDelta::seconds(4))
    })
    .await;
    assert_eq!(receiver.count(), 1);
    latch.open();
    until("it succeeds", async || harness.succeeded(&endpoint).await).await;
    assert_eq!(receiver.count(), 1);
    second.abort();
}

/// Only the database's clock decides what is due.
#[tokio::test]
async fn an_instance_whose_clock_is_ahead_sends_nothing_early() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.retry_seconds = retries("3");
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let ahead = Clock::manual(harness.clock.now() + TimeDelta::hours(1));
    let (_, second) = crate::harness::run(&harness.settings, &ahead, &harness.entropy);
    let counted = "dispatchers WHERE counts_from < clock_timestamp()";
    until("both instances count", async || harness.count(counted).await == 2).await;
    let receiver = Receiver::start(|_, before| reply(if before < 8 { 500 } else { 200 }));
    harness.endpoint(&receiver).await;
    let created = |_| harness.envelope(&harness.new_order(Mode::Live), 1, LIFE[0]);
    harness.publish(&Vec::from_iter((0..8).map(created))).await;
    until("all are sent again", async || receiver.count() == 16).await;
    let received = receiver.received();
    for (first, again) in received.iter().enumerate().filter_map(|(index, first)| {
        let again = received[index + 1..].iter().find(|again| again.id() == first.id())?;
        Some((first, again))
    }) {
        let waited = again.at - first.at;
        assert!(waited >= Duration::from_millis(2_400), "{waited:?}");
    }
    second.abort();
}

/// Otherwise another instance would send the webhook again.
#[tokio::test]
async fn readers_of_logs_do_not_keep_leases_from_being_renewed() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.timeout_seconds = 600.0;
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let latch = Latch::closed();
    let held = latch.clone();
    let receiver = Receiver::start(move |_, before| {
        let mut reply = reply(200);
        reply.held = (before == 1).then(|| held.clone());
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("the first arrives", async || harness.succeeded(&endpoint).await).await;
    let read = harness.deliveries(&endpoint).await.remove(0).id.to_string();
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("the second is leased", async || lease_end(&harness).await.is_some()).await;
    let first_end = lease_end(&harness).await.expect("a lease");

    // Each page waits for this lock, and keeps a connection of the pool until it gives up.
    let mut conn = harness.connection().await;
    let lock = "BEGIN; LOCK TABLE attempts IN ACCESS EXCLUSIVE MODE";
    conn.batch_execute(lock).await.expect("a lock");
    let reader = async || loop {
        let _page = harness.hooks.delivery(harness.business, &read).await;
    };
    let readers = async { futures_util::future::join_all((0..24).map(|_| reader())).await };
    let renewals = until("the lease is renewed", async || {
        assert_eq!(harness.count("deliveries WHERE lease_until < clock_timestamp()").await, 0, "it expired");
        lease_end(&harness).await.is_some_and(|end| end > first_end + TimeDelta::seconds(8))
    });
    tokio::select! {
        () = renewals => {}
        _ = readers => unreachable!(),
    }
    conn.batch_execute("ROLLBACK").await.expect("no lock");
    latch.open();
    until("the second arrives", async || harness.succeeded(&endpoint).await).await;
    assert_eq!(receiver.count(), 2);
}

/// A webhook whose outcome is still to be written is not repeated, and another instance sends at once what was given up.
#[tokio::test]
async fn a_stop_releases_only_the_attempts_that_it_gives_up() {
    const ENDED: usize = 40;
    let mut harness = Harness::start().await;
    harness.crash().await;
    let (program, internal, _) = process::start(&mut process::command(&harness, "serve"));
    harness.hooks = client(&internal, &harness.settings.internal.token);
    let (answer, never) = (Latch::closed(), Latch::closed());
    let (held, hanging) = (answer.clone(), never.clone());
    let live = Receiver::start(move |_, _| Reply { held: Some(held.clone()), ..reply(200) });
    let test = Receiver::start(move |_, before| Reply {
        held: (before == 0).then(|| hanging.clone()),
        ..reply(200)
    });
    let answered = harness.create(json!({ "url": live.url(), "modes": ["live"] })).await;
    let given_up = harness.create(json!({ "url": test.url(), "modes": ["test"] })).await;
    let created = |mode| harness.envelope(&harness.new_order(mode), 1, LIFE[0]);
    harness.publish(&[created(Mode::Test)]).await;
    harness.publish(&Vec::from_iter((0..ENDED).map(|_| created(Mode::Live)))).await;
    let leased = "deliveries WHERE lease_until > clock_timestamp()";
    let are_leased = async |count: usize| harness.count(leased).await as usize == count;
    until("attempts are under way", async || {
        live.count() >= 2 && are_leased(live.count() + test.count()).await
    })
    .await;

    // Outcomes wait for this lock.
    let mut conn = harness.connection().await;
    conn.batch_execute("BEGIN; LOCK TABLE attempts IN ACCESS EXCLUSIVE MODE").await.expect("a lock");
    answer.open();
    until("an outcome waits", async || harness.count("pg_locks WHERE NOT granted").await > 0).await;
    let stopped = tokio::task::spawn_blocking(move || program.stop());
    let released = format!("deliveries WHERE endpoint_id = '{}' AND lease_token IS NULL", given_up.view.id);
    until("the other attempt is given up", async || harness.count(&released).await == 1).await;
    conn.batch_execute("ROLLBACK").await.expect("no lock");
    stopped.await.expect("it stops");
    assert_eq!(
        harness.count("deliveries WHERE state = 'succeeded' AND attempts = 1").await,
        live.count() as i64
    );

    harness.restart();
    until("all succeed", async || harness.succeeded(&answered).await && harness.succeeded(&given_up).await)
        .await;
    assert_eq!((live.count(), test.count()), (ENDED, 2));
}
