//! The content of a tracking page: past steps, and the progress in words for the recipient.

use chrono::{DateTime, Utc};
use domain::{DeliveryState, DeliveryStatus, EventKind, Mode, TrackingCode};
use serde::Serialize;
use strum::Display;
use utoipa::ToSchema;

use crate::domain::{Decision, Order, OrderEvent};

/// The progress of a parcel, for holders of its code. No personal data.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Tracking)]
pub(in crate::routes) struct TrackingView {
    pub tracking_code: TrackingCode,
    pub mode: Mode,
    pub status: DeliveryStatus,
    /// When the order last changed.
    pub updated_at: DateTime<Utc>,
    /// The events so far, in the order in which they were accepted.
    pub steps: Vec<Step>,
    /// The status, in words for the customer.
    pub headline: &'static str,
    /// An explanation of the status.
    pub detail: String,
    /// The stages from the order to its end.
    pub progress: Vec<Stage>,
    /// Whether the delivery has ended.
    pub finished: bool,
    /// Changes with each step.
    pub version: i64,
}

/// One event of the delivery.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TrackingStep)]
pub(in crate::routes) struct Step {
    event: EventKind,
    status: DeliveryStatus,
    // The page shows `recorded_at`.
    /// When it happened, by the fleet's clock, which can be wrong.
    occurred_at: DateTime<Utc>,
    /// When it was recorded.
    recorded_at: DateTime<Utc>,
}

/// One stage of the delivery.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TrackingStage)]
pub(in crate::routes) struct Stage {
    /// Its name, in words for the customer.
    pub label: &'static str,
    pub state: StageState,
    /// When it was reached.
    pub at: Option<DateTime<Utc>>,
}

/// The parcel's position relative to a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(in crate::routes) enum StageState {
    Done,
    Current,
    Upcoming,
    /// The delivery ended here without success.
    Stopped,
}

/// The stages of a successful delivery, in order.
const STAGES: [(DeliveryStatus, EventKind, &str); 5] = [
    (DeliveryStatus::Created, EventKind::OrderCreated, "Order received"),
    (DeliveryStatus::DriverAssigned, EventKind::DriverAssigned, "Driver assigned"),
    (DeliveryStatus::PickedUp, EventKind::OrderPickedUp, "Picked up"),
    (DeliveryStatus::OutForDelivery, EventKind::OrderOutForDelivery, "Out for delivery"),
    (DeliveryStatus::Delivered, EventKind::OrderDelivered, "Delivered"),
];

impl TrackingView {
    /// Leaves out cash, names, addresses and reasons: they concern only the driver and the business.
    pub(super) fn new(order: Order, events: Vec<OrderEvent>) -> Self {
        let moves: Vec<_> = events.into_iter().filter(|event| !event.kind.is_cash()).collect();
        let status = order.state.status;
        let driver_left = moves.last().is_some_and(|event| event.kind == EventKind::DriverUnassigned);
        let (headline, detail) = match again(&order) {
            Some(words) => words,
            None => words(status, driver_left),
        };
        Self {
            progress: progress(order.state, &moves),
            tracking_code: order.tracking_code,
            mode: order.mode,
            status,
            updated_at: order.updated_at,
            headline,
            detail,
            finished: order.state.is_completed(),
            version: order.sequence,
            steps: moves
                .into_iter()
                .map(|event| Step {
                    event: event.kind,
                    status: event.status,
                    occurred_at: event.occurred_at,
                    recorded_at: event.recorded_at,
                })
                .collect(),
        }
    }
}

impl Stage {
    pub(super) fn is_current(&self) -> bool {
        self.state == StageState::Current
    }

    pub(super) fn is_upcoming(&self) -> bool {
        self.state == StageState::Upcoming
    }
}

/// The same for a parcel that comes again, or goes back, after a failed attempt.
fn again(order: &Order) -> Option<(&'static str, String)> {
    if order.state.status == DeliveryStatus::DriverAssigned && order.state.picked_up {
        let detail = "A driver has your parcel again, and will set out to you next.";
        return Some(("We are trying again", detail.into()));
    }
    let decided = order.decided.filter(|_| order.state.awaits_decision())?;
    Some(match decided.decision {
        Decision::Reattempt { on: Some(day) } => {
            let detail = format!("A driver will bring your parcel again on {}.", day.format("%-d %B"));
            ("We will try again", detail)
        }
        Decision::Reattempt { on: None } => {
            ("We will try again", "A driver will bring your parcel again as soon as possible.".into())
        }
        Decision::Return => (
            "Your parcel goes back to the shop",
            "Please ask the shop that you ordered from what happens next.".into(),
        ),
    })
}

/// A headline and an explanation for the recipient.
fn words(status: DeliveryStatus, driver_left: bool) -> (&'static str, String) {
    let (headline, detail) = match status {
        DeliveryStatus::Created if driver_left => (
            "Looking for another driver",
            "The first driver could not take your parcel. We are finding another.",
        ),
        DeliveryStatus::Created => ("Your order is in", "We are finding a driver for your parcel."),
        DeliveryStatus::DriverAssigned => {
            ("A driver is on the way to the shop", "Your parcel will be picked up next.")
        }
        DeliveryStatus::PickedUp => {
            ("Your parcel is picked up", "The driver has it, and will set out to you next.")
        }
        DeliveryStatus::OutForDelivery => ("Out for delivery", "The driver is on the way to you."),
        DeliveryStatus::Delivered => ("Delivered", "Your parcel has arrived. Enjoy!"),
        DeliveryStatus::Failed => {
            ("The delivery did not work out", "Please ask the shop that you ordered from what happens next.")
        }
        DeliveryStatus::Cancelled => {
            ("The delivery was cancelled", "If you did not expect this, ask the shop that you ordered from.")
        }
        DeliveryStatus::Returned => (
            "Your parcel went back to the shop",
            "Please ask the shop that you ordered from what happens next.",
        ),
    };
    (headline, detail.to_owned())
}

fn progress(state: DeliveryState, moves: &[OrderEvent]) -> Vec<Stage> {
    let latest = |kind| moves.iter().rev().find(|event| event.kind == kind).map(|event| event.recorded_at);
    let rank = |status| STAGES.iter().position(|(stage, ..)| *stage == status);
    // A delivery that ended early stopped after the last stage that it reached.
    let reached = moves.iter().rev().find_map(|event| rank(event.status)).unwrap_or_default();
    // Another attempt begins with the parcel.
    let reached =
        reached.max(if state.picked_up { rank(DeliveryStatus::PickedUp).unwrap_or_default() } else { 0 });
    let stopped = rank(state.status).is_none();
    let stages = STAGES.iter().enumerate().map(|(place, (stage, kind, label))| {
        let state = match place.cmp(&reached) {
            std::cmp::Ordering::Less => StageState::Done,
            std::cmp::Ordering::Equal if stopped || *stage == DeliveryStatus::Delivered => StageState::Done,
            std::cmp::Ordering::Equal => StageState::Current,
            std::cmp::Ordering::Greater => StageState::Upcoming,
        };
        let at = if state == StageState::Upcoming { None } else { latest(*kind) };
        Stage { label, state, at }
    });
    let ends = [
        (EventKind::OrderFailed, "Delivery failed"),
        (EventKind::OrderCancelled, "Cancelled"),
        (EventKind::OrderReturned, "Returned to the shop"),
    ];
    // An attempt that failed before is no end.
    let ends = ends.into_iter().filter(|_| stopped).filter_map(|(kind, label)| {
        let at = latest(kind)?;
        Some(Stage { label, state: StageState::Stopped, at: Some(at) })
    });
    stages.filter(|stage| !stopped || !stage.is_upcoming()).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;
    use domain::{BusinessId, Clock, Entropy, EventId, OrderId, PaymentType};
    use serde_json::Value;

    /// The state after these events, one minute apart.
    fn delivery(kinds: &[EventKind]) -> (DeliveryState, Vec<OrderEvent>) {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(1));
        let mut state = DeliveryState::new(PaymentType::Prepaid);
        let (order_id, business_id) =
            (OrderId::generate(&clock, &entropy), BusinessId::generate(&clock, &entropy));
        let all = std::iter::once(&EventKind::OrderCreated).chain(kinds);
        let events = all.zip(1..).map(|(kind, sequence)| {
            if sequence > 1 {
                state = state.apply(*kind, DeliveryState::ATTEMPTS_MAX_DEFAULT).expect("a legal move");
            }
            clock.advance(TimeDelta::minutes(1));
            OrderEvent {
                id: EventId::generate(&clock, &entropy),
                order_id,
                business_id,
                kind: *kind,
                sequence,
                status: state.status,
                cod_status: state.cod,
                data: Value::Null,
                // A fleet with a wrong clock.
                occurred_at: DateTime::UNIX_EPOCH,
                recorded_at: clock.now(),
            }
        });
        let events = events.collect();
        (state, events)
    }

    /// Each stage as its first letters, its state, and its minute.
    fn shown(kinds: &[EventKind]) -> String {
        let (state, moves) = delivery(kinds);
        let stages = progress(state, &moves);
        let minute = |at: DateTime<Utc>| at.timestamp() / 60;
        let one = |stage: &Stage| match stage.at {
            Some(at) => format!("{} {} {}", stage.label, stage.state, minute(at)),
            None => format!("{} {}", stage.label, stage.state),
        };
        stages.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    use EventKind::*;

    #[test]
    fn past_current_and_upcoming_stages_are_shown() {
        for (kinds, expected) in [
            (
                &[][..],
                "Order received current 1, Driver assigned upcoming, Picked up upcoming, Out for delivery upcoming, \
                 Delivered upcoming",
            ),
            (
                &[DriverAssigned, OrderPickedUp],
                "Order received done 1, Driver assigned done 2, Picked up current 3, Out for delivery upcoming, \
                 Delivered upcoming",
            ),
            (
                &[DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderDelivered],
                "Order received done 1, Driver assigned done 2, Picked up done 3, Out for delivery done 4, \
                 Delivered done 5",
            ),
            // After a driver dropped out, the time of the next one counts.
            (
                &[DriverAssigned, DriverUnassigned],
                "Order received current 1, Driver assigned upcoming, Picked up upcoming, Out for delivery upcoming, \
                 Delivered upcoming",
            ),
            // The second attempt begins with the parcel.
            (
                &[DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderFailed, DriverAssigned],
                "Order received done 1, Driver assigned done 6, Picked up current 3, Out for delivery upcoming, \
                 Delivered upcoming",
            ),
            (
                &[
                    DriverAssigned,
                    OrderPickedUp,
                    OrderFailed,
                    DriverAssigned,
                    OrderOutForDelivery,
                    OrderDelivered,
                ],
                "Order received done 1, Driver assigned done 5, Picked up done 3, Out for delivery done 6, \
                 Delivered done 7",
            ),
            (
                &[DriverAssigned, DriverUnassigned, DriverAssigned],
                "Order received done 1, Driver assigned current 4, Picked up upcoming, Out for delivery upcoming, \
                 Delivered upcoming",
            ),
        ] {
            assert_eq!(shown(kinds), expected, "{kinds:?}");
        }
    }

    #[test]
    fn a_delivery_that_ended_early_shows_no_upcoming_stages() {
        for (kinds, expected) in [
            (&[OrderCancelled][..], "Order received done 1, Cancelled stopped 2"),
            (
                &[DriverAssigned, OrderFailed],
                "Order received done 1, Driver assigned done 2, Delivery failed stopped 3",
            ),
            (
                &[DriverAssigned, OrderPickedUp, OrderFailed, OrderReturned],
                "Order received done 1, Driver assigned done 2, Picked up done 3, Delivery failed stopped 4, \
                 Returned to the shop stopped 5",
            ),
        ] {
            assert_eq!(shown(kinds), expected, "{kinds:?}");
        }
    }
}
