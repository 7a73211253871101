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
    in_all: Places,
    to_sender: UnboundedSender<Taken>,
}

/// A place for a delivery that is about to be stored. Given up when it is dropped.
pub(crate) struct Reservation {
    pub hold: Hold,
    pub token: i64,
    pub until: DateTime<Utc>,
}

impl Express {
    /// Half of an endpoint's places and three quarters of all may be taken this way: the rest is for what waits.
    pub(crate) fn new(
        (in_hand, loads): (InHand, Loads),
        (clock, entropy): (Clock, Entropy),
        Places { all, test }: Places,
    ) -> (Self, UnboundedReceiver<Taken>) {
        let (to_sender, taken) = unbounded_channel();
        let in_all = Places { all: all * 3 / 4, test: test * 3 / 4 };
        (Self { in_hand, loads, clock, entropy, in_all, to_sender }, taken)
    }

    /// None when the delivery is to wait like any other.
    pub(crate) fn reserve(
        &self,
        delivery: WebhookDeliveryId,
        (business, mode): (BusinessId, Mode),
        to: &Subscriber,
    ) -> Option<Reservation> {
        // An owner's own limit is rarely far away; whoever has one takes turns.
        if !to.open || to.max_per_second.is_some() {
            return None;
        }
        let token = i64::from_le_bytes(self.entropy.bytes());
        let room = ((self.loads.places(to.endpoint) / 2).max(1), self.in_all);
        let hold = self.in_hand.take_within(room, Lease { delivery, business, token }, to.endpoint, mode)?;
        Some(Reservation { hold, token, until: self.clock.now() + LEASE })
    }

    /// To be called when the deliveries are committed.
    pub(crate) fn send(&self, taken: Vec<Taken>) {
        if taken.is_empty() {
            return;
        }
        let endpoint = |(claimed, _): &Taken| (claimed.endpoint_id, None::<i32>);
        self.loads.spend(taken.iter().map(endpoint), Instant::now());
        for one in taken {
            // Nobody takes it while the service stops: its lease ends, and another takes it up.
            let _stopping = self.to_sender.send(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::EndpointId;

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

    #[test]
    fn only_what_there_is_room_for_goes_the_short_way() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let shared = (InHand::new(std::sync::Arc::default()), Loads::new(100, 4));
        let places = Places { all: 8, test: 4 };
        let (express, _taken) = Express::new(shared, (clock.clone(), entropy.clone()), places);
        let (one, other) = (subscriber(&entropy, &clock), subscriber(&entropy, &clock));
        let [business, second, third] = [(); 3].map(|()| BusinessId::generate(&clock, &entropy));
        let reserve = |business, mode, to: &Subscriber| {
            express.reserve(WebhookDeliveryId::generate(&clock, &entropy), (business, mode), to)
        };
        let held = [(); 2].map(|()| reserve(business, Mode::Live, &one));
        assert!(held.iter().all(Option::is_some), "half of the endpoint's places");
        assert!(reserve(business, Mode::Live, &one).is_none(), "and no more");
        let more = reserve(business, Mode::Live, &other);
        assert!(more.is_some(), "as many as are left free of three quarters");
        assert!(reserve(business, Mode::Live, &other).is_none(), "and no more for one business");
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
