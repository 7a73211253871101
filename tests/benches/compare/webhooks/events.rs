//! Events as order-api's relay publishes them, of orders that do not exist.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Context;
use domain::{
    BusinessId, Clock, CodStatus, DeliveryStatus, Entropy, EventId, EventKind, Mode, OrderId, Paise,
    TrackingCode,
};
use events::{Body, Envelope, OrderEvent, OrderSnapshot, ProgressData};
use messaging::{Broker, Outgoing, Publisher};
use settings::Secret;
use telemetry::TraceContext;
use tokio::time::{Instant, sleep, timeout_at};

use super::received::EventKey;

/// Confirmed together, like the relay's batches.
const CHUNK: usize = 256;
/// The time limit for reconnecting to the broker.
const AWAY_MAX: Duration = Duration::from_secs(60);
/// No kind that wallet consumes: these orders have no money.
const KINDS: [EventKind; 4] = [
    EventKind::OrderCreated,
    EventKind::DriverAssigned,
    EventKind::OrderPickedUp,
    EventKind::OrderOutForDelivery,
];
/// The most events of an order here.
const EVENTS_MAX: i64 = KINDS.len() as i64;

/// A publisher. Clones share a channel.
#[derive(Clone)]
pub(super) struct Source {
    publisher: Publisher,
    _broker: Broker,
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
}

/// An order, and the path of its endpoint.
#[derive(Clone)]
pub(super) struct Order {
    business: BusinessId,
    mode: Mode,
    id: OrderId,
    path: String,
}

impl Order {
    /// Its id in the receiver's notes.
    pub(super) fn bare_id(&self) -> String {
        bare(&self.id.to_string())
    }
}

/// One of its events.
pub(super) type Event<'a> = (&'a Order, i64);

impl Source {
    pub(super) fn new(broker_url: &str) -> anyhow::Result<Self> {
        let broker = Broker::start(&settings::Broker::new(Secret::new(broker_url)), "bench");
        Ok(Self {
            publisher: broker.publisher(),
            _broker: broker,
            clock: Clock::system(),
            entropy: Entropy::from_system()?,
        })
    }

    pub(super) fn order(&self, business: BusinessId, mode: Mode, path: &str) -> Order {
        Order { business, mode, id: OrderId::generate(&self.clock, &self.entropy), path: path.to_owned() }
    }

    /// In this order; each chunk is confirmed before the next.
    pub(super) async fn publish(&self, events: &[Event<'_>]) -> anyhow::Result<()> {
        for chunk in events.chunks(CHUNK) {
            let messages: Vec<_> = chunk
                .iter()
                .map(|(order, sequence)| self.message(order, *sequence))
                .collect::<Result<_, _>>()?;
            let give_up = Instant::now() + AWAY_MAX;
            let away = "the broker is unreachable";
            let mut published = timeout_at(give_up, self.publisher.publish(&messages)).await.context(away)?;
            while published.is_err() {
                sleep(Duration::from_millis(50)).await;
                let again = self.publisher.publish_again(&messages);
                published = timeout_at(give_up, again).await.context(away)?;
            }
        }
        Ok(())
    }

    fn message(&self, order: &Order, sequence: i64) -> anyhow::Result<Outgoing> {
        let kind = usize::try_from(sequence - 1).ok().and_then(|index| KINDS.get(index));
        let envelope = Envelope {
            id: EventId::generate(&self.clock, &self.entropy),
            business_id: order.business,
            occurred_at: self.clock.now(),
            body: Body::Order(Box::new(OrderEvent {
                event: *kind.context("an order has too many events")?,
                sequence,
                mode: order.mode,
                order: OrderSnapshot {
                    id: order.id,
                    order_reference: format!("shop-{}", order.id),
                    tracking_code: TrackingCode::generate(order.mode, &self.entropy),
                    tracking_url: "https://tracking.example/track/0000-0000-0000".to_owned(),
                    status: DeliveryStatus::Created,
                    cod_status: CodStatus::Pending,
                },
                data: ProgressData::default(),
                delivery_fee_paise: Paise::new(4_900),
                refund_due: false,
                cod_expected_paise: Some(Paise::new(129_800)),
                recorded_at: None,
            })),
        };
        let (trace, span) = (self.entropy.u128(), u64::from_le_bytes(self.entropy.bytes()));
        Ok(Outgoing {
            routing_key: envelope.routing_key().as_str().to_owned(),
            message_id: envelope.id.to_string(),
            body: serde_json::to_vec(&envelope)?,
            trace: Some(TraceContext {
                traceparent: format!("00-{trace:032x}-{span:016x}-01"),
                tracestate: None,
            }),
        })
    }
}

/// The identities of the events.
pub(super) fn keys(events: &[Event<'_>]) -> HashSet<EventKey> {
    events.iter().map(|(order, sequence)| (order.path.clone(), order.bare_id(), *sequence)).collect()
}

/// An id without its prefix, as in the receiver's notes.
pub(super) fn bare(id: &str) -> String {
    id.rsplit('_').next().unwrap_or_default().to_owned()
}

/// About `count` events: half of them of orders with one event, half of orders with four. The events of one order are
/// far apart, as in production.
pub(super) fn mixed(count: usize, order: impl Fn(usize) -> Order) -> (Vec<Order>, Vec<i64>) {
    let long = count / 2 / KINDS.len();
    let short = count - long * KINDS.len();
    let orders = (0..long + short).map(order).collect();
    let lengths = (0..long + short).map(|index| if index < long { EVENTS_MAX } else { 1 }).collect();
    (orders, lengths)
}

/// All events of the orders: first the first of each, then the second, …
pub(super) fn by_sequence<'a>(orders: &'a [Order], lengths: &[i64]) -> Vec<Event<'a>> {
    let round = |sequence| {
        let with_length = orders.iter().zip(lengths);
        with_length.filter(move |(_, length)| **length >= sequence).map(move |(order, _)| (order, sequence))
    };
    (1..=EVENTS_MAX).flat_map(round).collect()
}
