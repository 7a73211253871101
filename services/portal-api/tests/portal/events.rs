//! Events as other services publish and consume them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use domain::{BusinessId, CodStatus, DeliveryStatus, EventId, EventKind, Mode, OrderId, Paise, TrackingCode};
use events::{Body, Envelope, OrderEvent, OrderSnapshot, ProgressData};
use messaging::{Broker, Handler, Outgoing, Queue, Rejection};
use test_kit::until;
use tokio_util::sync::CancellationToken;

use crate::portal::Portal;

/// Events on the broker, as another service receives them.
#[derive(Clone, Default)]
pub(crate) struct Heard {
    envelopes: Arc<Mutex<Vec<Envelope>>>,
    connected: Arc<Mutex<bool>>,
}

impl Heard {
    /// How often it was announced that something about this business changed.
    pub(crate) fn changes(&self, business: &str) -> usize {
        let envelopes = self.envelopes.lock().unwrap();
        let changed = |envelope: &&Envelope| {
            envelope.body == Body::BusinessChanged {} && envelope.business_id.to_string() == business
        };
        // An event whose confirmation was late is published again.
        envelopes.iter().filter(changed).map(|envelope| envelope.id).collect::<HashSet<_>>().len()
    }
}

impl Handler for Heard {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        self.envelopes.lock().unwrap().push(envelope);
        Ok(())
    }

    async fn connected(&self) {
        *self.connected.lock().unwrap() = true;
    }
}

impl Portal {
    /// Consumes the events that this service publishes.
    pub(crate) async fn listen(&self) -> Heard {
        let heard = Heard::default();
        let broker = Broker::start(&self.settings.broker, "listener");
        let queue = Queue::per_instance("listener", &[events::binding::BUSINESS_CHANGED]);
        tokio::spawn(messaging::consume(broker, queue, 1, heard.clone(), CancellationToken::new()));
        until("the listener is connected", async || *heard.connected.lock().unwrap()).await;
        heard
    }

    pub(crate) async fn publish(&self, envelopes: &[Envelope]) {
        let messages: Vec<_> = envelopes
            .iter()
            .map(|envelope| Outgoing {
                routing_key: envelope.routing_key().as_str().to_owned(),
                message_id: envelope.id.to_string(),
                body: serde_json::to_vec(envelope).unwrap(),
                trace: None,
            })
            .collect();
        let publisher = self.broker.publisher();
        until("the events are published", async || publisher.publish(&messages).await.is_ok()).await;
    }

    pub(crate) fn envelope(&self, business: &str, body: Body) -> Envelope {
        Envelope {
            id: EventId::generate(&self.clock, &self.entropy),
            business_id: business.parse::<BusinessId>().unwrap(),
            occurred_at: self.clock.now(),
            body,
        }
    }

    /// An order's event.
    pub(crate) fn order_event(
        &self,
        business: &str,
        mode: Mode,
        event: EventKind,
        reference: &str,
    ) -> Envelope {
        let order = OrderSnapshot {
            id: OrderId::generate(&self.clock, &self.entropy),
            order_reference: reference.to_owned(),
            tracking_code: TrackingCode::generate(mode, &self.entropy),
            tracking_url: "http://orders.test/track/x".to_owned(),
            status: DeliveryStatus::Created,
            cod_status: CodStatus::NotApplicable,
        };
        let event = OrderEvent {
            event,
            sequence: 1,
            mode,
            order,
            data: ProgressData::default(),
            delivery_fee_paise: Paise::new(4_900),
            refund_due: false,
            cod_expected_paise: None,
            recorded_at: Some(self.clock.now() + chrono::TimeDelta::days(300)),
        };
        self.envelope(business, Body::Order(Box::new(event)))
    }
}
