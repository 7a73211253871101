//! The relay: every committed event arrives, and an event leaves the outbox only after the broker has it.

use std::time::Duration;

use domain::Clock;
use events::{binding, queues};
use messaging::Queue;
use outbox::Outbox;
use postgres::{Database, StoreError};
use test_kit::{until, vhost};
use tracing::Instrument;

use crate::servers::{
    Events, Recorder, Running, bind, broker, count, database, delete_queue, short_queue, waiting,
    without_a_queue_for_funded,
};

#[tokio::test(flavor = "multi_thread")]
async fn two_relays_share_the_work_and_send_each_event_once() {
    let (database, url) = database().await;
    let (events, recorder) = (Events::new(), Recorder::default());
    let broker = broker(&vhost().await);
    let committed = events.commit(&database, 3_000).await.unwrap();
    let listening = recorder.listen(&broker);
    let relays: Vec<_> =
        (0..2).map(|_| Running::relay(&database, &broker, &Outbox::default(), Clock::system())).collect();
    until("all have arrived", async || recorder.has_all(&committed)).await;
    until("the outbox is empty", async || waiting(&url).await == 0).await;
    assert!(recorder.received().values().all(|received| received.times == 1));
    for relay in relays {
        relay.stop().await;
    }
    listening.stop().await;
    broker.close().await;
}

/// An event that no queue takes makes the other one look at the table all the time.
#[tokio::test(flavor = "multi_thread")]
async fn a_relay_never_publishes_what_another_one_is_publishing() {
    let (database, url) = database().await;
    let (events, recorder, vhost) = (Events::new(), Recorder::default(), vhost().await);
    let maker = broker(&vhost);
    let listening = recorder.listen(&maker);
    let user = without_a_queue_for_funded(&database, &vhost, (&maker, &events, &recorder)).await;
    let others = Events::new();
    let relay = |of: &Events| Running::relay(&database, &user, &of.outbox, Clock::system());
    let relays = [relay(&events), relay(&others)];
    others.commit(&database, 1).await.unwrap();
    let mut committed = Vec::new();
    for _ in 0..500 {
        committed.extend(events.commit_all(&database, vec![events.first_test_order()]).await.unwrap());
    }
    until("all have arrived", async || recorder.has_all(&committed)).await;
    until("only the other event waits", async || waiting(&url).await == 1).await;
    let received = recorder.received();
    assert!(committed.iter().all(|id| received[id].times == 1));
    for relay in relays {
        relay.stop().await;
    }
    listening.stop().await;
    user.close().await;
    maker.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_wakes_its_relay_and_polling_finds_the_events_of_other_processes() {
    let (database, url) = database().await;
    let (events, recorder) = (Events::new(), Recorder::default());
    let broker = broker(&vhost().await);
    let listening = recorder.listen(&broker);
    let polling = Running::relay(&database, &broker, &Outbox::default(), Clock::system());
    let first = events.commit(&database, 1).await.unwrap();
    until("the first has arrived", async || recorder.has_all(&first)).await;
    assert!(recorder.received()[&first[0]].is_again, "another relay may have published it");
    polling.stop().await;

    let relay = Running::relay(&database, &broker, &events.outbox, Clock::system());
    for _ in 0..10 {
        let next = events.commit(&database, 3).await.unwrap();
        until("the events have arrived", async || recorder.has_all(&next)).await;
    }
    wakes_it(&database, (&events, &recorder)).await;
    let last = events.commit(&database, 3).await.unwrap();
    relay.stop().await;
    assert_eq!(waiting(&url).await, 0, "a relay that stops publishes what was committed before");
    until("the last have arrived", async || recorder.has_all(&last)).await;
    listening.stop().await;
    broker.close().await;
}

/// Polls are seconds apart, so that a commit between two of them wakes the relay.
async fn wakes_it(database: &Database, (events, recorder): (&Events, &Recorder)) {
    until("new events are published as new", async || {
        let new = events.commit(database, 3).await.unwrap();
        until("they have arrived", async || recorder.has_all(&new)).await;
        let received = recorder.received();
        new.iter().all(|id| !received[id].is_again)
    })
    .await;
}

/// Commits events without a pause between them.
fn constant_load(database: &Database, events: &Events) -> Running {
    let (database, events) = (database.clone(), events.clone());
    Running::start(|stop| async move {
        while !stop.is_cancelled() {
            events.commit(&database, 2).await.unwrap();
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_arrives_in_the_trace_of_the_request_that_caused_it() {
    let _telemetry = telemetry::init(&settings::Telemetry::default(), "test").unwrap();
    let (database, _) = database().await;
    let (events, recorder) = (Events::new(), Recorder::default());
    let broker = broker(&vhost().await);
    let listening = recorder.listen(&broker);
    let relay = Running::relay(&database, &broker, &events.outbox, Clock::system());
    let request = tracing::info_span!("request");
    let committed = events.commit(&database, 1).instrument(request.clone()).await.unwrap();
    until("it has arrived", async || recorder.has_all(&committed)).await;
    let trace = recorder.received()[&committed[0]].trace.clone();
    assert_eq!(trace, telemetry::trace_id(&request));
    assert!(trace.is_some());
    relay.stop().await;
    listening.stop().await;
    broker.close().await;
}

/// More than a batch of them, so that they would fill every batch.
#[tokio::test(flavor = "multi_thread")]
async fn unroutable_events_stay_and_the_others_overtake_them() {
    let (database, url) = database().await;
    let (events, recorder, vhost) = (Events::new(), Recorder::default(), vhost().await);
    let maker = broker(&vhost);
    let listening = recorder.listen(&maker);
    let user = without_a_queue_for_funded(&database, &vhost, (&maker, &events, &recorder)).await;
    let relay = Running::relay(&database, &user, &Outbox::default(), Clock::system());
    let nowhere = events.commit(&database, 600).await.unwrap();
    let rows = "SELECT md5(string_agg(concat_ws('/', id, event_id, created_at), ' ' ORDER BY id)) FROM outbox_messages
        WHERE routing_key = 'wallet.funded'";
    let before = local_stack::query(&url, rows).await.unwrap();
    let others = events.commit_all(&database, vec![events.first_test_order()]).await.unwrap();
    until("the other has arrived", async || recorder.has_all(&others)).await;
    until("only the other has left", async || waiting(&url).await == 600).await;
    let later = events.commit_all(&database, vec![events.first_test_order()]).await.unwrap();
    until("a later one has arrived", async || recorder.has_all(&later)).await;
    // A retried row that was put back has another version.
    let versions = "SELECT md5(string_agg(xmin::text, ' ' ORDER BY id)) FROM outbox_messages
        WHERE routing_key = 'wallet.funded'";
    for _ in 0..2 {
        let tried = local_stack::query(&url, versions).await.unwrap();
        until("some are retried", async || local_stack::query(&url, versions).await.unwrap() != tried).await;
    }
    assert_eq!(local_stack::query(&url, rows).await.unwrap(), before);
    assert!(nowhere.iter().all(|id| !recorder.has_all(&[*id])));

    bind(&vhost, Queue::shared(queues::FACTS).name(), binding::WALLET_FUNDED, true).await;
    until("all have arrived", async || recorder.has_all(&nowhere)).await;
    until("the outbox is empty", async || waiting(&url).await == 0).await;
    relay.stop().await;
    listening.stop().await;
    user.close().await;
    maker.close().await;
}

/// Their ids are lower than those of rows that were skipped long before.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_committed_late_is_published_while_unroutable_events_arrive() {
    let (database, url) = database().await;
    let (events, recorder, vhost) = (Events::new(), Recorder::default(), vhost().await);
    let maker = broker(&vhost);
    let listening = recorder.listen(&maker);
    let user = without_a_queue_for_funded(&database, &vhost, (&maker, &events, &recorder)).await;
    let relay = Running::relay(&database, &user, &Outbox::default(), Clock::system());
    let coming = constant_load(&database, &events);
    for held in [Duration::from_millis(300), Duration::from_secs(4)] {
        let late = events.first_test_order();
        database
            .transaction(async |conn| {
                events.outbox.enqueue(conn, std::slice::from_ref(&late), events.now()).await?;
                // Time itself is under test: shorter than a poll of the relay, and as long as one.
                tokio::time::sleep(held).await;
                Ok::<_, StoreError>(())
            })
            .await
            .unwrap();
        until("the late one has arrived", async || recorder.has_all(&[late.id])).await;
    }
    coming.stop().await;
    bind(&vhost, Queue::shared(queues::FACTS).name(), binding::WALLET_FUNDED, true).await;
    until("the outbox is empty", async || waiting(&url).await == 0).await;
    relay.stop().await;
    listening.stop().await;
    user.close().await;
    maker.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_stops_only_what_it_refuses_and_its_end_is_noticed_under_constant_load() {
    let (database, url) = database().await;
    let (events, recorder, vhost) = (Events::new(), Recorder::default(), vhost().await);
    let broker = broker(&vhost);
    let listening = recorder.listen(&broker);
    let relay = Running::relay(&database, &broker, &events.outbox, Clock::system());
    let first = events.commit_all(&database, vec![events.first_test_order()]).await.unwrap();
    until("the queues exist", async || recorder.has_all(&first)).await;
    short_queue(&vhost, "short", binding::WALLET_FUNDED, 100).await;

    let (mut refused, mut others) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        refused.extend(events.commit(&database, 10).await.unwrap());
        let batch = (0..10).map(|_| events.first_test_order()).collect();
        others.extend(events.commit_all(&database, batch).await.unwrap());
    }
    until("the others have arrived", async || recorder.has_all(&others)).await;
    let of_others = "SELECT count(*) FROM outbox_messages WHERE routing_key <> 'wallet.funded'";
    until("and have left the outbox", async || count(&url, of_others).await == 0).await;
    let received = recorder.received();
    assert!(others.iter().all(|id| received[id].times == 1), "each once");
    let kept = waiting(&url).await;
    assert!((1..=200).contains(&kept), "the queue took the first ones: {kept}");

    let coming: Vec<_> = (0..16).map(|_| constant_load(&database, &events)).collect();
    delete_queue(&vhost, "short").await;
    wakes_it(&database, (&events, &recorder)).await;
    for load in coming {
        load.stop().await;
    }
    until("the outbox is empty", async || waiting(&url).await == 0).await;
    until("all have arrived", async || recorder.has_all(&refused)).await;
    relay.stop().await;
    listening.stop().await;
    broker.close().await;
}
