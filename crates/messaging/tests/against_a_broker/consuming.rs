//! The outcome of messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use events::{Body, binding, queues};
use messaging::{Outgoing, Queue, Rejection};
use telemetry::TraceContext;
use test_kit::{until, vhost};

use crate::brokers::{Events, broker, move_message, outgoing, publish_failing_since, ready_messages};
use crate::recorder::Recorder;

#[tokio::test]
async fn messages_that_cannot_be_handled_are_dead_lettered() {
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    let bad = events.funded();
    let recorder = {
        let bad = bad.id;
        Recorder::new(move |envelope| {
            if envelope.id == bad { Err(Rejection::Never("a test says so".into())) } else { Ok(()) }
        })
    };
    let good = events.funded();
    let nonsense = Outgoing { body: b"{\"phone\": 12".to_vec(), ..outgoing(&events.funded()) };
    broker.publisher().connected().await.unwrap();
    broker.publisher().publish(&[outgoing(&bad), nonsense, outgoing(&good)]).await.unwrap();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 4);
    let dead_letters = Queue::shared(queues::FACTS).dead_letters();
    until("both are dead letters", async || ready_messages(&url, &dead_letters).await == 2).await;
    consuming.stop().await;
    assert_eq!(recorder.received().len(), 2);
    assert_eq!(ready_messages(&url, Queue::shared(queues::FACTS).name()).await, 0);
    broker.close().await;
}

#[tokio::test]
async fn messages_that_cannot_be_handled_yet_are_held_and_retried() {
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    let tries = Arc::new(AtomicUsize::new(0));
    let recorder = {
        let tries = tries.clone();
        Recorder::new(move |_| match tries.fetch_add(1, Ordering::Relaxed) {
            0..3 => Err(Rejection::Later("the database is unreachable".into())),
            _ => Ok(()),
        })
    };
    broker.publisher().connected().await.unwrap();
    broker.publisher().publish(&[outgoing(&events.funded())]).await.unwrap();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 1);
    until("it is handled", async || tries.load(Ordering::Relaxed) == 4).await;
    consuming.stop().await;
    assert_eq!(ready_messages(&url, Queue::shared(queues::FACTS).name()).await, 0);
    assert_eq!(ready_messages(&url, &Queue::shared(queues::FACTS).dead_letters()).await, 0);
    broker.close().await;
}

#[tokio::test]
async fn a_message_that_fails_unexpectedly_delays_no_other_and_is_repeated() {
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    let (bad, good) = (events.funded(), events.funded());
    let is_repaired = Arc::new(AtomicBool::new(false));
    let recorder = {
        let (bad, is_repaired) = (bad.id, is_repaired.clone());
        Recorder::new(move |envelope| match envelope.id == bad && !is_repaired.load(Ordering::Relaxed) {
            true => Err(Rejection::Unexpected("permission denied".into())),
            false => Ok(()),
        })
    };
    broker.publisher().connected().await.unwrap();
    broker.publisher().publish(&[outgoing(&bad), outgoing(&good)]).await.unwrap();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS).held_at_most(Duration::ZERO), 1);
    let tries = |of| recorder.received().iter().filter(|id| **id == of).count();
    until("the other one is handled", async || tries(good.id) == 1).await;
    // More often than the broker delivers a message that is returned as failed.
    until("it is repeated", async || tries(bad.id) > 25).await;
    is_repaired.store(true, Ordering::Relaxed);
    until("it is handled", async || ready_messages(&url, Queue::shared(queues::FACTS).name()).await == 0)
        .await;
    consuming.stop().await;
    assert_eq!(ready_messages(&url, Queue::shared(queues::FACTS).name()).await, 0);
    assert_eq!(ready_messages(&url, &Queue::shared(queues::FACTS).dead_letters()).await, 0);
    broker.close().await;
}

#[tokio::test]
async fn a_message_that_has_failed_unexpectedly_for_too_long_is_dead_lettered() {
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    let recorder = Recorder::new(|_| Err(Rejection::Unexpected("permission denied".into())));
    broker.publisher().connected().await.unwrap();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 1);
    until("the consumer is subscribed", async || recorder.connections() == 1).await;
    publish_failing_since(&url, &outgoing(&events.funded()), 0).await;
    let dead_letters = Queue::shared(queues::FACTS).dead_letters();
    until("it is a dead letter", async || ready_messages(&url, &dead_letters).await == 1).await;
    let before = recorder.received().len();
    move_message(&url, &dead_letters, Queue::shared(queues::FACTS).name()).await;
    until("it has time again", async || recorder.received().len() > before + 2).await;
    consuming.stop().await;
    broker.close().await;
}

#[tokio::test]
async fn a_message_held_at_the_stop_stays_in_the_queue() {
    let metrics = telemetry::install_metrics("test").unwrap();
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    let recorder = Recorder::new(|_| Err(Rejection::Later("the database is unreachable".into())));
    broker.publisher().connected().await.unwrap();
    broker.publisher().publish(&[outgoing(&events.funded())]).await.unwrap();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 1);
    until("the handler has run", async || !recorder.received().is_empty()).await;
    consuming.stop().await;
    let let_go =
        metrics.render().lines().any(|line| line.contains("outcome=\"abandoned\"") && !line.ends_with(" 0"));
    assert!(let_go, "the stop did not end the hold: {}", metrics.render());
    until("the message is requeued", async || {
        ready_messages(&url, Queue::shared(queues::FACTS).name()).await == 1
    })
    .await;
    broker.close().await;
}

#[tokio::test]
async fn messages_that_panic_their_handler_are_dead_lettered() {
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    let bad = events.funded().id;
    let recorder = Recorder::new(move |envelope| {
        assert!(envelope.id != bad, "a handler that panics");
        Ok(())
    });
    let mut envelope = events.funded();
    envelope.id = bad;
    broker.publisher().connected().await.unwrap();
    broker.publisher().publish(&[outgoing(&envelope), outgoing(&events.funded())]).await.unwrap();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 1);
    let dead_letters = Queue::shared(queues::FACTS).dead_letters();
    until("it is a dead letter", async || ready_messages(&url, &dead_letters).await == 1).await;
    consuming.stop().await;
    // The limit of deliveries, and the valid one.
    assert_eq!(recorder.received().len(), 22);
    broker.close().await;
}

#[tokio::test]
async fn each_instance_receives_every_message_while_it_runs() {
    let url = vhost().await;
    let events = Events::new();
    let (first, second) = (broker(&url), broker(&url));
    let queue = || Queue::per_instance("test.news", &[binding::BUSINESS_CHANGED]);
    let (first_recorder, second_recorder) = (Recorder::content(), Recorder::content());
    let first_consuming = first_recorder.consume(&first, queue(), 8);
    let second_consuming = second_recorder.consume(&second, queue(), 8);
    until("both have connected", async || {
        first_recorder.connections() == 1 && second_recorder.connections() == 1
    })
    .await;
    first.publisher().connected().await.unwrap();
    let sent: Vec<_> = (0..5).map(|_| outgoing(&events.event(Body::BusinessChanged {}))).collect();
    first.publisher().publish(&sent).await.unwrap();
    until("both have received all", async || {
        first_recorder.received().len() == 5 && second_recorder.received().len() == 5
    })
    .await;
    second_consuming.stop().await;
    first.publisher().publish(&sent).await.unwrap();
    until("the remaining one has received all", async || first_recorder.received().len() == 10).await;
    assert_eq!(second_recorder.received().len(), 5);
    first_consuming.stop().await;
    tokio::join!(first.close(), second.close());
}

/// Two messages are in flight until the stop is requested.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stopping_finishes_messages_in_flight_and_leaves_the_rest() {
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    let (finish, may_finish) = tokio::sync::watch::channel(false);
    let recorder = Recorder::new(move |_| {
        let mut may_finish = may_finish.clone();
        let finished = may_finish.wait_for(|finish| *finish);
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(finished).map(drop))
            .unwrap();
        Ok(())
    });
    let messages: Vec<_> = (0..10).map(|_| outgoing(&events.funded())).collect();
    broker.publisher().connected().await.unwrap();
    broker.publisher().publish(&messages).await.unwrap();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 2);
    until("two are in flight", async || recorder.received().len() == 2).await;
    // The stop is requested before either may finish.
    let stopping = consuming.stop();
    finish.send(true).unwrap();
    stopping.await;
    let handled = recorder.received().len();
    assert!((2..10).contains(&handled), "{handled}");
    let left = 10 - u32::try_from(handled).unwrap();
    until("the rest is in the queue", async || {
        ready_messages(&url, Queue::shared(queues::FACTS).name()).await == left
    })
    .await;
    broker.close().await;
}

#[tokio::test]
async fn a_message_is_handled_in_its_publisher_s_trace() {
    let _telemetry = telemetry::init(&settings::Telemetry::default(), "test").unwrap();
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    let request = tracing::info_span!("request");
    let trace = request.in_scope(TraceContext::current);
    let recorder = Recorder::content();
    broker.publisher().connected().await.unwrap();
    broker.publisher().publish(&[Outgoing { trace, ..outgoing(&events.funded()) }]).await.unwrap();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 1);
    until("it is received", async || recorder.received().len() == 1).await;
    assert_eq!(recorder.traces(), [telemetry::trace_id(&request)]);
    assert!(recorder.traces()[0].is_some());
    consuming.stop().await;
    broker.close().await;
}
