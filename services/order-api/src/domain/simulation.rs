//! Simulated deliveries of test orders. The next event follows from the current state of the order, so a run also
//! continues sensibly after a manual step.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, CodStatus, DeliveryState, DeliveryStatus, EventKind, Mode, OrderId};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// Between two steps: long enough to watch, short enough to wait for.
const STEP_PAUSE: TimeDelta = TimeDelta::seconds(1);

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Scenario {
    /// Delivered, and the cash settled.
    Delivered,
    /// Failed after the pickup.
    Failed,
    Cancelled,
    /// The driver drops out and is not replaced.
    NoDriver,
}

/// An active run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulation {
    pub order_id: OrderId,
    pub business_id: BusinessId,
    pub scenario: Scenario,
    pub steps_done: i32,
    pub next_at: DateTime<Utc>,
}

impl Simulation {
    /// Its first step is due after a pause.
    pub fn new(order_id: OrderId, business_id: BusinessId, scenario: Scenario, now: DateTime<Utc>) -> Self {
        Self { order_id, business_id, scenario, steps_done: 0, next_at: now + STEP_PAUSE }
    }

    /// The rest of the run after a step to `state`. `None`: that step was the last.
    pub fn after_step(self, state: DeliveryState, now: DateTime<Utc>) -> Option<Self> {
        let rest = Self { steps_done: self.steps_done + 1, next_at: now + STEP_PAUSE, ..self };
        rest.scenario.next(state, rest.steps_done).map(|_| rest)
    }
}

impl Scenario {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The scenario that the suffix of a test order's reference selects. Live orders are never simulated.
    pub fn of_reference(mode: Mode, order_reference: &str) -> Option<Self> {
        if mode == Mode::Live {
            return None;
        }
        let suffixes =
            [("-FAILED", Self::Failed), ("-CANCELLED", Self::Cancelled), ("-NODRIVER", Self::NoDriver)];
        suffixes.into_iter().find(|(suffix, _)| order_reference.ends_with(suffix)).map(|(_, found)| found)
    }

    /// The next event after `steps_done` steps. `None`: the run has ended.
    pub fn next(self, state: DeliveryState, steps_done: i32) -> Option<EventKind> {
        use DeliveryStatus as S;
        use EventKind as E;
        match (self, state.status) {
            (Self::Cancelled, _) if state.can_be_cancelled() => Some(E::OrderCancelled),
            (Self::NoDriver, S::Created) => (steps_done == 0).then_some(E::DriverAssigned),
            (Self::NoDriver, S::DriverAssigned) => Some(E::DriverUnassigned),
            (Self::Failed, S::PickedUp | S::OutForDelivery) => Some(E::OrderFailed),
            (Self::Failed | Self::Delivered, S::Created) => Some(E::DriverAssigned),
            (Self::Failed | Self::Delivered, S::DriverAssigned) => Some(E::OrderPickedUp),
            (Self::Delivered, S::PickedUp) => Some(E::OrderOutForDelivery),
            (Self::Delivered, S::OutForDelivery) => Some(E::OrderDelivered),
            (Self::Delivered, S::Delivered) => match state.cod {
                CodStatus::Pending => Some(E::CodCollected),
                CodStatus::Collected => Some(E::CodHandedOver),
                CodStatus::HandedOver => Some(E::CodSettled),
                CodStatus::NotApplicable | CodStatus::Settled => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Clock, Entropy, PaymentType};
    use proptest::prelude::*;

    const ATTEMPTS_MAX: u32 = DeliveryState::ATTEMPTS_MAX_DEFAULT;

    /// All events of a run without manual steps.
    fn run(scenario: Scenario, payment: PaymentType) -> Vec<EventKind> {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(1));
        let (order, business) = (OrderId::generate(&clock, &entropy), BusinessId::generate(&clock, &entropy));
        let mut left = Some(Simulation::new(order, business, scenario, clock.now()));
        let (mut state, mut events) = (DeliveryState::new(payment), Vec::new());
        while let Some(simulation) = left {
            let event = scenario.next(state, simulation.steps_done).expect("a step is left");
            state = state.apply(event, ATTEMPTS_MAX).expect("a legal step");
            events.push(event);
            left = simulation.after_step(state, clock.now());
        }
        events
    }

    #[test]
    fn each_scenario_runs_to_its_end() {
        use EventKind::*;
        let way = [DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderDelivered];
        let cash = [CodCollected, CodHandedOver, CodSettled];
        assert_eq!(run(Scenario::Delivered, PaymentType::Prepaid), way);
        assert_eq!(run(Scenario::Delivered, PaymentType::Cod), [&way[..], &cash].concat());
        assert_eq!(run(Scenario::Failed, PaymentType::Cod), [DriverAssigned, OrderPickedUp, OrderFailed]);
        assert_eq!(run(Scenario::Cancelled, PaymentType::Cod), [OrderCancelled]);
        assert_eq!(run(Scenario::NoDriver, PaymentType::Cod), [DriverAssigned, DriverUnassigned]);
    }

    #[test]
    fn only_the_suffix_of_a_test_orders_reference_selects_a_scenario() {
        for (reference, selected) in [
            ("shop-1-FAILED", Some(Scenario::Failed)),
            ("shop-1-CANCELLED", Some(Scenario::Cancelled)),
            ("shop-1-NODRIVER", Some(Scenario::NoDriver)),
            ("shop-1-failed", None),
            ("shop-FAILED-1", None),
            ("FAILED", None),
        ] {
            assert_eq!(Scenario::of_reference(Mode::Test, reference), selected, "{reference}");
            assert_eq!(Scenario::of_reference(Mode::Live, reference), None, "{reference}");
        }
    }

    proptest! {
        /// From any state of an order, the next step of a run is legal, and each run ends.
        #[test]
        fn a_run_takes_legal_steps_from_anywhere(
            cod in any::<bool>(),
            picks in proptest::collection::vec(0..EventKind::VARIANTS.len(), 0..30),
            which in 0..Scenario::VARIANTS.len(),
        ) {
            let mut state = DeliveryState::new(if cod { PaymentType::Cod } else { PaymentType::Prepaid });
            for pick in picks {
                state = state.apply(EventKind::VARIANTS[pick], ATTEMPTS_MAX).unwrap_or(state);
            }
            let scenario = Scenario::VARIANTS[which];
            let mut steps = 0;
            while let Some(event) = scenario.next(state, steps) {
                let moved = state.apply(event, ATTEMPTS_MAX);
                prop_assert!(moved.is_ok(), "{event} from {state:?}");
                state = moved.unwrap();
                steps += 1;
                prop_assert!(steps <= 8);
            }
        }
    }
}
