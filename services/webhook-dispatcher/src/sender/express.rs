//! New deliveries that are sent as soon as they are committed: they are leased to this process by the very statement that
//! stores them, which saves the way through the table of what is due. Only what there is room for goes this way, so
//! that it takes no turn from what waits there; should the process die, they are due when their leases end.

use chrono::{DateTime, Utc};
use domain::{BusinessId, Clock, Entropy, Mode, WebhookDeliveryId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::in_hand::{Hold, InHand, LEASE};
use super::loads::Loads;
use crate::domain::Places;
use crate::store::{Claimed, Lease, Subscriber};

/// A delivery that is to be sent now, and is in hand.
pub(crate) type Taken = (Claimed, Hold);

/// Makes reservations, and hands what was committed to the sender. Clones share the way. What is on it is bounded by
/// the reservations.
#[derive(Clone)]
pub(crate) struct Express {
    in_hand: InHand,
    loads: Loads,
    clock: Clock,
    entropy: Entropy,
    places: Places,
    to_sender: UnboundedSender<Taken>,
}

/// A place for a delivery that is about to be stored. Given up when it is dropped.
pub(crate) struct Reservation {
    pub hold: Hold,
    pub token: i64,
    pub until: DateTime<Utc>,
}

impl Express {
    /// Half of an endpoint's places may be taken this way: the rest is for what waits.
    pub(crate) fn new(
        (in_hand, loads): (InHand, Loads),
        (clock, entropy): (Clock, Entropy),
        places: Places,
    ) -> (Self, UnboundedReceiver<Taken>) {
        let (to_sender, taken) = unbounded_channel();
        (Self { in_hand, loads, clock, entropy, places, to_sender }, taken)
    }

    /// None when the delivery is to wait like any other.
    pub(crate) fn reserve(
        &self,
        delivery: WebhookDeliveryId,
        (business, mode): (BusinessId, Mode),
        to: &Subscriber,
    ) -> Option<Reservation> {
        // An owner's own limit is rarely far away; whoever has one takes turns. And a sender that stops sends nothing more.
        if !to.open || to.max_per_second.is_some() || self.to_sender.is_closed() {
            return None;
        }
        let token = i64::from_le_bytes(self.entropy.bytes());
        let room = ((self.loads.places(to.endpoint) / 2).max(1), self.places);
        let hold = self.in_hand.take_within(room, Lease { delivery, business, token }, to.endpoint, mode)?;
        Some(Reservation { hold, token, until: self.clock.now() + LEASE })
    }

    /// To be called when the deliveries are committed. Gives back the leases of what nobody sends, since the service stops:
    /// they are to be ended.
    #[must_use]
    pub(crate) fn send(&self, taken: Vec<Taken>) -> Vec<Lease> {
        if taken.is_empty() {
            return Vec::new();
        }
        let endpoint = |(claimed, _): &Taken| (claimed.endpoint_id, None::<i32>);
        self.loads.spend(taken.iter().map(endpoint), Instant::now());
        let refused = taken.into_iter().filter_map(|one| self.to_sender.send(one).err());
        refused.map(|refused| refused.0.1.lease()).collect()
    }
}

#[cfg(test)]
mod tests {
    use domain::{EndpointId, EventId, EventKind, Mode};

    use super::*;
    use crate::secrets::{Sealed, SealedSecrets};

    fn subscriber(entropy: &Entropy, clock: &Clock) -> Subscriber {
        let present = Sealed { key_id: String::new(), ciphertext: Vec::new() };
        Subscriber {
            endpoint: EndpointId::generate(clock, entropy),
            open: true,
            max_per_second: None,
            url: String::new(),
            secrets: SealedSecrets { present, next: None },
        }
    }

    fn claimed(lease: Lease, to: &Subscriber, (entropy, clock): (&Entropy, &Clock)) -> Claimed {
        Claimed {
            id: lease.delivery,
            business_id: lease.business,
            endpoint_id: to.endpoint,
            event_id: EventId::generate(clock, entropy),
            kind: EventKind::OrderCreated,
            mode: Mode::Live,
            order_id: None,
            order_in_turn: None,
            token: lease.token,
            number: 1,
            number_in_schedule: 1,
            taken_over: false,
            wanted: true,
            max_per_second: None,
            url: to.url.clone(),
            secrets: to.secrets.clone(),
            body: Vec::new(),
            occurred_at: clock.now(),
            trace: None,
        }
    }

    #[test]
    fn nothing_goes_the_short_way_to_a_sender_that_stops() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let in_hand = InHand::new(std::sync::Arc::default());
        let shared = (in_hand.clone(), Loads::new(100, 4));
        let (express, mut taken) =
            Express::new(shared, (clock.clone(), entropy.clone()), Places { all: 4, test: 4 });
        let (to, business) = (subscriber(&entropy, &clock), BusinessId::generate(&clock, &entropy));
        let reserve =
            || express.reserve(WebhookDeliveryId::generate(&clock, &entropy), (business, Mode::Live), &to);
        let reserved = reserve().expect("a place");
        taken.close();
        assert!(reserve().is_none());
        let lease = reserved.hold.lease();
        let back = express.send(vec![(claimed(lease, &to, (&entropy, &clock)), reserved.hold)]);
        assert_eq!(back.iter().map(|back| back.delivery).collect::<Vec<_>>(), [lease.delivery]);
        assert_eq!(in_hand.len(), 0, "it is not in hand any more");
    }

    #[test]
    fn only_what_there_is_room_for_goes_the_short_way() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let shared = (InHand::new(std::sync::Arc::default()), Loads::new(100, 4));
        let places = Places { all: 8, test: 4 };
        let (express, _taken) = Express::new(shared, (clock.clone(), entropy.clone()), places);
        let [one, other, third_endpoint] = [(); 3].map(|()| subscriber(&entropy, &clock));
        let [business, second, third] = [(); 3].map(|()| BusinessId::generate(&clock, &entropy));
        let reserve = |business, mode, to: &Subscriber| {
            express.reserve(WebhookDeliveryId::generate(&clock, &entropy), (business, mode), to)
        };
        let held = [(); 2].map(|()| reserve(business, Mode::Live, &one));
        assert!(held.iter().all(Option::is_some), "half of the endpoint's places");
        assert!(reserve(business, Mode::Live, &one).is_none(), "and no more");
        let more = reserve(business, Mode::Live, &other);
        assert!(more.is_some(), "less than are left free");
        let full = reserve(business, Mode::Live, &other);
        assert!(full.is_some() && reserve(business, Mode::Live, &third_endpoint).is_none(), "and no more");
        drop(full);
        let test = reserve(second, Mode::Test, &other);
        assert!(test.is_some(), "another finds room");
        drop(held);
        assert!(reserve(business, Mode::Live, &one).is_some(), "places are given back");
        let closed = Subscriber { open: false, ..one.clone() };
        let limited = Subscriber { max_per_second: Some(5), ..one };
        assert!(reserve(third, Mode::Live, &closed).is_none());
        assert!(reserve(third, Mode::Live, &limited).is_none());
    }
}
