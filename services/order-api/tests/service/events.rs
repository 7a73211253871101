//! Publishes and consumes events like another service.

use std::sync::{Arc, Mutex};

use domain::{BusinessId, EventId, OrderId};
use events::{Body, Envelope, OrderEvent, binding};
use messaging::{Broker, Handler, Outgoing, Queue, Rejection};
use test_kit::until;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::harness::OrderApi;

/// The events of orders and erasures that the service published since [`OrderApi::listen`].
#[derive(Clone)]
pub(crate) struct Received {
    events: Arc<Mutex<Vec<OrderEvent>>>,
    erased: Arc<Mutex<Vec<OrderId>>>,
    connected: watch::Sender<bool>,
}

impl Received {
    /// Waits for this number of events of an order, and returns them by sequence.
    pub(crate) async fn of(&self, reference: &str, count: usize) -> Vec<OrderEvent> {
        let found = || {
            let events = self.events.lock().unwrap();
            let mut found: Vec<_> =
                events.iter().filter(|event| event.order.order_reference == reference).cloned().collect();
            found.sort_by_key(|event| event.sequence);
            found.dedup_by_key(|event| event.sequence);
            found
        };
        until(&format!("{count} events of {reference}"), async || found().len() >= count).await;
        let found = found();
        assert_eq!(found.len(), count, "events of {reference}");
        found
    }

    /// The announced erasures, in order.
    pub(crate) fn erased(&self) -> Vec<OrderId> {
        self.erased.lock().unwrap().clone()
    }
}

impl Handler for Received {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        match envelope.body {
            Body::Order(event) => self.events.lock().unwrap().push(*event),
            Body::PersonalDataErased(erased) => self.erased.lock().unwrap().push(erased.order_id),
            _ => {}
        }
        Ok(())
    }

    async fn connected(&self) {
        self.connected.send_replace(true);
    }
}

impl OrderApi {
    /// Consumes events of orders from now on.
    pub(crate) async fn listen(&self) -> Received {
        let (connected, mut is_connected) = watch::channel(false);
        let received = Received { events: Arc::default(), erased: Arc::default(), connected };
        let broker = Broker::start(&self.settings.broker, "listener");
        let bindings = [binding::LIVE_ORDERS, binding::TEST_ORDERS, binding::PERSONAL_DATA_ERASED];
        let queue = Queue::per_instance("listener", &bindings);
        tokio::spawn(messaging::consume(broker, queue, 1, received.clone(), CancellationToken::new()));
        is_connected.wait_for(|connected| *connected).await.expect("the listener lives");
        received
    }

    /// Publishes an event of another service.
    pub(crate) async fn publish(&self, business_id: BusinessId, body: Body) {
        let id = EventId::generate(&self.clock, &self.entropy);
        let envelope = Envelope { id, business_id, occurred_at: self.clock.now(), body };
        let message = Outgoing {
            routing_key: envelope.routing_key().as_str().to_owned(),
            message_id: envelope.id.to_string(),
            body: serde_json::to_vec(&envelope).unwrap(),
            trace: None,
        };
        let publisher = self.broker.publisher();
        until("the event is published", async || {
            publisher.publish(std::slice::from_ref(&message)).await.is_ok()
        })
        .await;
    }
}
