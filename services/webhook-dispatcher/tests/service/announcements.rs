//! Announcements about failing and disabled endpoints.

use std::sync::{Arc, Mutex};

use domain::{Clock, Mode};
use events::{Body, Envelope, binding};
use internal_api::webhooks::EndpointStatus;
use messaging::{Broker, Handler, Queue, Rejection};
use test_kit::until;
use tokio_util::sync::CancellationToken;

use crate::harness::{Harness, retries};
use crate::receiver::{Receiver, reply};

#[derive(Clone, Default)]
struct Heard {
    envelopes: Arc<Mutex<Vec<Envelope>>>,
    connected: Arc<Mutex<bool>>,
}

impl Handler for Heard {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        self.envelopes.lock().expect("nobody panics").push(envelope);
        Ok(())
    }

    async fn connected(&self) {
        *self.connected.lock().expect("nobody panics") = true;
    }
}

impl Heard {
    async fn at(harness: &Harness) -> Self {
        let heard = Self::default();
        let broker = Broker::start(&harness.settings.broker, "listener");
        let queue = Queue::per_instance("listener", &[binding::ENDPOINT_FAILING, binding::ENDPOINT_DISABLED]);
        tokio::spawn(messaging::consume(broker, queue, 1, heard.clone(), CancellationToken::new()));
        until("the listener is connected", async || *heard.connected.lock().expect("nobody panics")).await;
        heard
    }

    fn all(&self) -> Vec<Envelope> {
        self.envelopes.lock().expect("nobody panics").clone()
    }

    fn disabled(&self) -> usize {
        self.all().iter().filter(|envelope| matches!(envelope.body, Body::EndpointDisabled(_))).count()
    }
}

#[tokio::test]
async fn an_endpoint_that_only_fails_is_announced_on_its_way_and_at_its_end_once_each() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.sweep_seconds = 0.1;
        settings.webhooks.retry_seconds = retries(&["0.2"; 40].join(","));
        settings.webhooks.disable_after_seconds = 2;
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let heard = Heard::at(&harness).await;
    let receiver = Receiver::start(|_, _| reply(500));
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("its end is heard of", async || heard.disabled() > 0).await;
    assert_eq!(harness.view(&endpoint).await.status, EndpointStatus::Disabled);

    let mut percents = Vec::new();
    for envelope in heard.all() {
        assert_eq!(envelope.business_id, harness.business);
        match envelope.body {
            Body::EndpointFailing(failing) => {
                assert_eq!(failing.endpoint_id, endpoint.view.id);
                percents.push(failing.percent);
            }
            Body::EndpointDisabled(disabled) => {
                assert_eq!(disabled.endpoint_id, endpoint.view.id);
                assert_eq!(disabled.reason, "every attempt failed for too long");
                percents.push(100);
            }
            other => panic!("{other:?}"),
        }
    }
    // Of several that are due at once the latest alone is announced.
    let mut once = percents.clone();
    once.dedup();
    assert!(percents.is_sorted() && once == percents && percents.ends_with(&[100]), "{percents:?}");
}

#[tokio::test]
async fn an_endpoint_that_says_it_is_gone_is_announced_with_the_reason() {
    let harness = Harness::start().await;
    let heard = Heard::at(&harness).await;
    let receiver = Receiver::start(|_, _| reply(410));
    let endpoint = harness.endpoint(&receiver).await;
    for _ in 0..3 {
        harness.publish_created(&harness.new_order(Mode::Live)).await;
    }
    until("it is heard of", async || heard.disabled() > 0).await;
    let Body::EndpointDisabled(disabled) = heard.all().remove(0).body else { panic!("{:?}", heard.all()) };
    assert_eq!(disabled.endpoint_id, endpoint.view.id);
    let trouble = harness.view(&endpoint).await.trouble.expect("trouble");
    assert_eq!(Some(disabled.reason), trouble.disabled_reason);
    assert_eq!(heard.disabled(), 1, "it is disabled once");
}

#[tokio::test]
async fn failing_endpoints_of_all_businesses_are_listed_for_the_operator() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = retries(&["0.2"; 40].join(","));
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let (broken, fine) = (Receiver::start(|_, _| reply(500)), Receiver::start(|_, _| reply(200)));
    let failing = harness.endpoint(&broken).await;
    let working = harness.endpoint(&fine).await;
    assert!(harness.hooks.failing().await.expect("a list").is_empty());
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("one works", async || harness.succeeded(&working).await).await;
    let listed = async || harness.hooks.failing().await.expect("a list");
    until("the other fails", async || !listed().await.is_empty()).await;
    let shown: Vec<_> = listed().await.into_iter().map(|one| (one.business_id, one.endpoint_id)).collect();
    assert_eq!(shown, [(harness.business, failing.view.id)]);
}
