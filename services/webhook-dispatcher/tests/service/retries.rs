//! Failed attempts are repeated by the schedule, with readable errors.

use diesel_async::SimpleAsyncConnection;
use domain::{Clock, Mode};
use internal_api::webhooks::{DeliveryState, EndpointStatus};
use serde_json::json;
use test_kit::until;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::harness::{Harness, retries};
use crate::receiver::{Receiver, reply};
use crate::witness::Witness;

#[tokio::test]
async fn a_recovered_endpoint_gets_its_event_and_the_log_shows_all_attempts() {
    let harness = Harness::start().await;
    let receiver = Receiver::start(|_, before| reply(if before < 3 { 503 } else { 204 }));
    let endpoint = harness.endpoint(&receiver).await;
    assert_eq!(harness.view(&endpoint).await.last_delivery.label, "Never");
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it succeeds", async || harness.succeeded(&endpoint).await).await;
    let bodies: Vec<_> = receiver.received().into_iter().map(|one| one.body).collect();
    assert_eq!(bodies.len(), 4);
    assert!(bodies.iter().all(|body| *body == bodies[0]), "the same bytes at every attempt");

    let delivery = harness.deliveries(&endpoint).await.remove(0);
    assert_eq!((delivery.attempts, &delivery.last_error), (4, &None));
    assert!(delivery.completed_at.is_some());
    let details = harness.details(&delivery).await;
    assert_eq!(details.request_body.as_bytes(), bodies[0]);
    let statuses: Vec<_> = details.attempt_log.iter().map(|one| one.response_status.unwrap()).collect();
    assert_eq!(statuses, [503, 503, 503, 204]);
    let numbers: Vec<_> = details.attempt_log.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let first = &details.attempt_log[0];
    assert!(!first.succeeded);
    assert_eq!(
        first.error.as_deref(),
        Some("your server returned 503: a proxy in front of it could not reach it")
    );
    assert_eq!(first.response_body.as_deref(), Some(r#"{"received":true}"#));
    assert_eq!(first.request_headers["service-mode"], "live");
    let view = harness.view(&endpoint).await;
    assert_eq!((view.status, view.last_delivery.label.as_str()), (EndpointStatus::Active, "Succeeded"));
}

/// The database's clock decides, so the test moves the times and not the clock.
#[tokio::test]
async fn nothing_is_sent_before_its_time() {
    let set = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = retries("60,120,600,1200,1800,3600");
    };
    let harness = Harness::start_with(set, Clock::system()).await;
    let receiver = Receiver::start(|_, _| reply(500));
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Test)).await;
    let witness = Witness::start(&harness).await;

    for (attempt, seconds) in (1..).zip([60.0, 120.0, 600.0, 1_200.0, 1_800.0]) {
        let wait = wait_after(&harness, attempt).await;
        // The next attempt's time is set when the outcome is stored.
        assert!((seconds * 0.8..seconds * 1.2 + 5.0).contains(&wait), "{wait} s after attempt {attempt}");
        harness.set_due_in(30).await;
        witness.sees_a_look(&harness).await;
        let waiting = harness.deliveries(&endpoint).await.remove(0);
        assert_eq!(waiting.attempts, attempt, "it was taken before its time");
        harness.set_due_in(0).await;
    }
    until("the last attempt fails", async || {
        harness.deliveries(&endpoint).await[0].status == DeliveryState::Failed
    })
    .await;
    assert_eq!(receiver.count(), 6);
    let view = harness.view(&endpoint).await;
    assert_eq!((view.status, view.last_delivery.label.as_str()), (EndpointStatus::Failing, "Failed"));
}

#[tokio::test]
async fn a_receiver_may_ask_for_more_time() {
    let set = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = retries("5,100");
    };
    let harness = Harness::start_with(set, Clock::system()).await;
    let receiver = Receiver::start(|_, before| {
        let mut reply = reply(429);
        let wish = if before == 0 { "3600" } else { "1" };
        reply.headers.push(("retry-after", wish.to_owned()));
        reply
    });
    harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    let wait = wait_after(&harness, 1).await;
    assert!((3_599.0..3_605.0).contains(&wait), "{wait}");
    harness.set_due_in(0).await;
    let wait = wait_after(&harness, 2).await;
    assert!((80.0..125.0).contains(&wait), "a wish for less is not heard: {wait}");
}

/// From the failure of that attempt to the next one, in seconds.
async fn wait_after(harness: &Harness, attempt: i32) -> f64 {
    let stored =
        format!("deliveries WHERE state = 'pending' AND attempts = {attempt} AND lease_token IS NULL");
    until("the attempt is logged", async || harness.count(&stored).await == 1).await;
    let wait = format!("SELECT extract(epoch FROM due_at - last_failed_at)::text FROM {stored}");
    harness.text(&wait).await.parse().expect("seconds")
}

#[tokio::test]
async fn redirects_are_failures_and_are_not_followed() {
    let harness = Harness::start().await;
    let elsewhere = Receiver::kind();
    let target = elsewhere.url();
    let receiver = Receiver::start(move |_, _| {
        let mut reply = reply(302);
        reply.headers.push(("location", target.clone()));
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it is given up", async || {
        harness.deliveries(&endpoint).await.first().is_some_and(|one| one.status == DeliveryState::Failed)
    })
    .await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    assert!(delivery.last_error.unwrap().contains("redirects are not followed"));
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn gone_disables_the_endpoint_until_its_owner_enables_it() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.sweep_seconds = 0.2;
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let receiver = Receiver::start(|_, before| reply(if before == 0 { 410 } else { 200 }));
    let endpoint = harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    harness.publish_created(&order).await;
    until("it is disabled", async || harness.view(&endpoint).await.status == EndpointStatus::Disabled).await;
    harness.publish(&[harness.envelope(&order, 2, domain::EventKind::DriverAssigned)]).await;
    until("the second waits", async || harness.deliveries(&endpoint).await.len() == 2).await;
    // A healthy endpoint is served meanwhile, and this one is not called.
    let other = Receiver::kind();
    harness.endpoint(&other).await;
    let another = harness.new_order(Mode::Live);
    harness.publish_created(&another).await;
    until("the other is served", async || other.sequences(&another.reference) == [1]).await;
    // Parked deliveries were never sent.
    until("all is parked", async || harness.view(&endpoint).await.parked_deliveries == 3).await;
    assert_eq!(receiver.count(), 1);

    let view = harness.patch(&endpoint, json!({"status": "active"})).await;
    assert_eq!((view.status, view.parked_deliveries), (EndpointStatus::Failing, 3));
    let id = endpoint.view.id.to_string();
    harness.hooks.decide_parked(harness.business, &id, "replay").await.expect("accepted");
    until("what was parked is sent", async || receiver.sequences(&order.reference) == [1, 1, 2]).await;
    until("all is well again", async || harness.view(&endpoint).await.status == EndpointStatus::Active).await;
}

#[tokio::test]
async fn pausing_keeps_events_until_the_endpoint_is_resumed() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let paused = harness.patch(&endpoint, json!({"status": "paused"})).await;
    assert_eq!(paused.status, EndpointStatus::Paused);
    let order = harness.new_order(Mode::Live);
    harness.publish_created(&order).await;
    until("it waits", async || harness.deliveries(&endpoint).await.len() == 1).await;
    Witness::start(&harness).await.sees_a_look(&harness).await;
    let waiting = harness.deliveries(&endpoint).await.remove(0);
    assert!(waiting.attempts == 0 && waiting.next_attempt_at.is_some(), "it was taken: {waiting:?}");
    harness.patch(&endpoint, json!({"status": "active"})).await;
    until("it arrives", async || receiver.sequences(&order.reference) == [1]).await;
}

const UNFINISHED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc";

/// A server that speaks no HTTP, one that hangs up, and none at all.
#[tokio::test]
async fn broken_responses_have_readable_errors() {
    // Shorter than the test waits for what came of it, and long enough for a busy machine.
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.timeout_seconds = 15.0;
    let harness = Harness::unconnected_with(adjust, Clock::system()).await;
    let answers: [(&'static [u8], &str); 3] = [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "not valid HTTP"),
        (b"", "closed before a complete answer"),
        (UNFINISHED, "closed before a complete answer"),
    ];
    for (answer, words) in answers {
        let port = raw_server(answer, false).await;
        let error = error_of(&harness, port).await;
        assert!(error.contains(words), "{words}: {error}");
    }
    assert!(error_of(&harness, test_kit::nowhere().port()).await.contains("the connection was refused"));
}

#[tokio::test]
async fn a_timeout_has_a_readable_error() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.timeout_seconds = 0.7;
    let harness = Harness::unconnected_with(adjust, Clock::system()).await;
    let port = raw_server(UNFINISHED, true).await;
    let error = error_of(&harness, port).await;
    assert!(error.contains("no complete answer in 0.7 s"), "{error}");
}

async fn error_of(harness: &Harness, port: u16) -> String {
    let endpoint = harness.create(json!({"url": format!("http://127.0.0.1:{port}/")})).await;
    let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
    harness.hooks.delete(harness.business, &endpoint.view.id.to_string()).await.unwrap();
    assert!(!result.succeeded);
    result.error.unwrap()
}

/// Answers each connection with these bytes, once it has sent something.
async fn raw_server(answer: &'static [u8], stays: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 8_192];
                let _read = stream.read(&mut buffer).await;
                let _written = stream.write_all(answer).await;
                if stays {
                    // Until the other side gives up.
                    let _closed = stream.read(&mut buffer).await;
                }
            });
        }
    });
    port
}

#[tokio::test]
async fn the_beginning_of_a_long_response_is_stored() {
    let harness = Harness::start().await;
    let receiver = Receiver::start(|_, _| {
        let mut reply = reply(200);
        reply.body = b"\0nul".iter().copied().chain(std::iter::repeat_n(b'x', 300 * 1024)).collect();
        reply
    });
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it succeeds", async || harness.succeeded(&endpoint).await).await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    let body = harness.details(&delivery).await.attempt_log[0].response_body.clone().unwrap();
    assert!(body.starts_with("\u{fffd}nulxxx"));
    assert_eq!(body.chars().count(), 16 * 1024);
    // Many such attempts: the latest ones are shown, until they have 256 KiB.
    let copies = "INSERT INTO attempts SELECT delivery_id, number + copy, business_id, started_at, duration_ms, url, response_status,
        succeeded, error, request_headers, response_headers, response_body FROM attempts, generate_series(1, 40) AS copy";
    harness.connection().await.batch_execute(copies).await.unwrap();
    let numbers: Vec<_> =
        harness.details(&delivery).await.attempt_log.iter().map(|attempt| attempt.number).collect();
    assert_eq!(numbers, (42 - i32::try_from(numbers.len()).unwrap()..42).collect::<Vec<_>>());
    assert!((12..=17).contains(&numbers.len()), "{}", numbers.len());
}

/// Its status counts at once: it must not use up the sender's time or memory.
#[tokio::test]
async fn an_endless_response_is_cut_off() {
    let harness = Harness::unconnected().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let cut_off = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 8_192];
        let _read = stream.read(&mut buffer).await;
        let mut answered = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while answered.is_ok() {
            answered = stream.write_all(&[b'x'; 8_192]).await;
        }
    });
    let endpoint = harness.create(json!({"url": format!("http://127.0.0.1:{port}/")})).await;
    let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
    assert_eq!((result.succeeded, result.response_status, result.error), (true, Some(200), None));
    until("the connection is closed", async || cut_off.is_finished()).await;
}
