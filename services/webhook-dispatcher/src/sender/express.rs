//! The express queue: new deliveries that are sent as soon as they are committed, without a claim. The statement that
//! stores such a delivery also leases it to this process. Deliveries go this way only while slots are free, so they do
//! not delay waiting ones. If the process dies, they become due when their leases expire.

use domain::{BusinessId, Entropy, Mode, WebhookDeliveryId};
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::eager_send::EagerSend;
use super::in_flight::{InFlight, InFlightSet};
use super::loads::Loads;
use crate::domain::Slots;
use crate::store::{ClaimedDelivery, Lease, Subscriber};

/// A leased delivery, counted as in flight.
pub(crate) type ReadyToSend = (ClaimedDelivery, InFlight);

/// What the dispatch loop takes over.
pub(crate) enum Handed {
    /// New, or found by a claim.
    Committed(Box<ReadyToSend>),
    /// Committed while it is being sent.
    Sending(EagerSend),
}

/// Makes reservations, and passes committed deliveries to the dispatch loop. Clones share the queue, whose length is
/// bounded by the reservations.
#[derive(Clone)]
pub(crate) struct Express {
    in_flight: InFlightSet,
    loads: Loads,
    entropy: Entropy,
    slots: Slots,
    to_sender: UnboundedSender<Handed>,
}

/// A slot and a lease for a delivery that is about to be stored. Dropping it frees the slot.
pub(crate) struct Reservation {
    pub guard: InFlight,
    pub token: i64,
}

impl Express {
    pub(crate) fn new(
        (in_flight, loads): (InFlightSet, Loads),
        entropy: Entropy,
        slots: Slots,
    ) -> (Self, UnboundedReceiver<Handed>) {
        let (to_sender, ready) = unbounded_channel();
        (Self { in_flight, loads, entropy, slots, to_sender }, ready)
    }

    /// None if the delivery has to wait for a claim. Takes at most half of an endpoint's slots: waiting deliveries get
    /// the rest.
    pub(crate) fn reserve(
        &self,
        delivery: WebhookDeliveryId,
        (business, mode): (BusinessId, Mode),
        to: &Subscriber,
    ) -> Option<Reservation> {
        // Endpoints with a rate limit of their own always use claims, which enforce it.
        if !to.open || to.max_per_second.is_some() || self.to_sender.is_closed() {
            return None;
        }
        let token = i64::from_le_bytes(self.entropy.bytes());
        let room = ((self.loads.slots(to.endpoint) / 2).max(1), self.slots);
        let speed = self.loads.speed(to.endpoint);
        let guard = self.in_flight.try_insert(
            room,
            Lease { delivery, business, token },
            to.endpoint,
            (mode, speed),
        )?;
        if !self.loads.take_token(to.endpoint, Instant::now()) {
            return None;
        }
        Some(Reservation { guard, token })
    }

    /// The same for a delivery that is sent before it is stored: only to endpoints that respond quickly, because the
    /// event's message waits for the response.
    pub(crate) fn reserve_eagerly(
        &self,
        delivery: WebhookDeliveryId,
        key: (BusinessId, Mode),
        to: &Subscriber,
    ) -> Option<Reservation> {
        if self.loads.is_quick(to.endpoint) { self.reserve(delivery, key, to) } else { None }
    }

    /// Queues committed deliveries. Returns the leases of those that cannot be sent, because the service stops or the
    /// commit took too long: the caller releases them.
    #[must_use]
    pub(crate) fn send(&self, ready: Vec<ReadyToSend>) -> Vec<Lease> {
        let unsent = ready.into_iter().filter_map(|ready| {
            let (lease, is_recent) = (ready.1.lease(), ready.1.is_recent());
            let is_sent = is_recent && self.to_sender.send(Handed::Committed(Box::new(ready))).is_ok();
            (!is_sent).then_some(lease)
        });
        unsent.collect()
    }

    /// Passes on a delivery that is being sent. Returns it if the service stops.
    #[must_use]
    pub(crate) fn finish(&self, send: EagerSend) -> Option<EagerSend> {
        match self.to_sender.send(Handed::Sending(send)) {
            Err(SendError(Handed::Sending(send))) => Some(send),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, EndpointId, EventId, EventKind, Mode};

    use super::*;
    use crate::domain::{EncryptedSecret, EncryptedSecrets};

    fn subscriber(entropy: &Entropy, clock: &Clock) -> Subscriber {
        let current = EncryptedSecret { key_id: String::new(), ciphertext: Vec::new() };
        Subscriber {
            endpoint: EndpointId::generate(clock, entropy),
            open: true,
            max_per_second: None,
            url: String::new(),
            secrets: EncryptedSecrets { current, next: None },
        }
    }

    fn claimed(lease: Lease, to: &Subscriber, (entropy, clock): (&Entropy, &Clock)) -> ClaimedDelivery {
        ClaimedDelivery {
            id: lease.delivery,
            business_id: lease.business,
            endpoint_id: to.endpoint,
            event_id: EventId::generate(clock, entropy),
            kind: EventKind::OrderCreated,
            mode: Mode::Live,
            order_id: None,
            queue_order: None,
            token: lease.token,
            number: 1,
            number_in_schedule: 1,
            taken_over: false,
            is_wanted: true,
            max_per_second: None,
            url: to.url.clone(),
            secrets: to.secrets.clone(),
            body: Vec::new(),
            occurred_at: clock.now(),
            trace: None,
        }
    }

    #[test]
    fn a_stopping_sender_gets_no_express_deliveries() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let in_flight = InFlightSet::new(std::sync::Arc::default());
        let shared = (in_flight.clone(), Loads::new(100, 4));
        let (express, mut ready) = Express::new(shared, entropy.clone(), Slots { all: 4, test: 4 });
        let (to, business) = (subscriber(&entropy, &clock), BusinessId::generate(&clock, &entropy));
        let reserve =
            || express.reserve(WebhookDeliveryId::generate(&clock, &entropy), (business, Mode::Live), &to);
        let reserved = reserve().expect("a slot");
        ready.close();
        assert!(reserve().is_none());
        let lease = reserved.guard.lease();
        let back = express.send(vec![(claimed(lease, &to, (&entropy, &clock)), reserved.guard)]);
        assert_eq!(back.iter().map(|back| back.delivery).collect::<Vec<_>>(), [lease.delivery]);
        assert_eq!(in_flight.len(), 0, "it is no longer in flight");
    }

    #[test]
    fn a_late_commit_is_not_sent() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let shared = (InFlightSet::new(std::sync::Arc::default()), Loads::new(100, 4));
        let (express, mut ready) = Express::new(shared, entropy.clone(), Slots { all: 4, test: 4 });
        let (to, business) = (subscriber(&entropy, &clock), BusinessId::generate(&clock, &entropy));
        let reserve = || {
            let delivery = WebhookDeliveryId::generate(&clock, &entropy);
            let reserved = express.reserve(delivery, (business, Mode::Live), &to).expect("a slot");
            (claimed(reserved.guard.lease(), &to, (&entropy, &clock)), reserved.guard)
        };
        let mut late = reserve();
        late.1.age(crate::store::LEASE / 2);
        let in_time = reserve();
        let [late_id, id] = [&late, &in_time].map(|(claimed, _)| claimed.id);
        let unsent = express.send(vec![late, in_time]);
        assert_eq!(unsent.iter().map(|lease| lease.delivery).collect::<Vec<_>>(), [late_id]);
        let Ok(Handed::Committed(sent)) = ready.try_recv() else { panic!("nothing was sent") };
        assert_eq!(sent.0.id, id);
    }

    #[test]
    fn only_deliveries_with_a_free_slot_go_by_express() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let shared = (InFlightSet::new(std::sync::Arc::default()), Loads::new(100, 4));
        // Endpoints without history may have 8 and 4 of them.
        let slots = Slots { all: 10, test: 5 };
        let (express, _ready) = Express::new(shared, entropy.clone(), slots);
        let [one, other, third_endpoint] = [(); 3].map(|()| subscriber(&entropy, &clock));
        let [business, second, third] = [(); 3].map(|()| BusinessId::generate(&clock, &entropy));
        let reserve = |business, mode, to: &Subscriber| {
            express.reserve(WebhookDeliveryId::generate(&clock, &entropy), (business, mode), to)
        };
        let held = [(); 2].map(|()| reserve(business, Mode::Live, &one));
        assert!(held.iter().all(Option::is_some), "half of the endpoint's slots");
        assert!(reserve(business, Mode::Live, &one).is_none(), "and no more");
        let more = reserve(business, Mode::Live, &other);
        assert!(more.is_some(), "fewer than are free");
        let full = reserve(business, Mode::Live, &other);
        assert!(full.is_some() && reserve(business, Mode::Live, &third_endpoint).is_none(), "and no more");
        drop(full);
        let test = reserve(second, Mode::Test, &other);
        assert!(test.is_some(), "another business finds a slot");
        drop(held);
        assert!(reserve(business, Mode::Live, &one).is_some(), "slots are freed");
        let closed = Subscriber { open: false, ..one.clone() };
        let limited = Subscriber { max_per_second: Some(5), ..one };
        assert!(reserve(third, Mode::Live, &closed).is_none());
        assert!(reserve(third, Mode::Live, &limited).is_none());
    }
}
