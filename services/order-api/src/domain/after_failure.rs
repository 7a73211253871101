//! What a business decides about a parcel that is with the fleet after a failed attempt: another attempt, or its return.

use chrono::{DateTime, Days, NaiveDate, Utc};
use domain::{DeliveryStatus, indian_time};
use serde::{Deserialize, Serialize};

use super::Order;

/// How far ahead an attempt may be.
const REATTEMPT_DAYS_MAX: u64 = 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Decision {
    /// On a day in India; without one, as soon as possible.
    Reattempt {
        on: Option<NaiveDate>,
    },
    Return,
}

/// A decision about the latest failure. The next failure removes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    #[serde(flatten)]
    pub decision: Decision,
    pub at: DateTime<Utc>,
}

/// Why a decision is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing failed, or it has ended.
    NotFailed(DeliveryStatus),
    /// It ended before the pickup, and the fee went back.
    Refunded(DeliveryStatus),
    /// The operator makes no further attempt.
    AttemptsUsed(u32),
    /// The address is gone.
    Erased,
}

impl Decision {
    pub fn refusal(self, order: &Order, attempts_max: u32) -> Option<Refusal> {
        let state = order.state;
        if state.refund_due() {
            Some(Refusal::Refunded(state.status))
        } else if !state.awaits_decision() {
            Some(Refusal::NotFailed(state.status))
        } else if self == Self::Return {
            None
        } else if order.personal_data_erased_at.is_some() {
            Some(Refusal::Erased)
        } else {
            (!state.can_be_reattempted(attempts_max)).then_some(Refusal::AttemptsUsed(attempts_max))
        }
    }
}

/// The days that an attempt may be asked for: the first and the last.
pub fn reattempt_days(now: DateTime<Utc>) -> (NaiveDate, NaiveDate) {
    let today = indian_time(now).date_naive();
    (today, today.checked_add_days(Days::new(REATTEMPT_DAYS_MAX)).unwrap_or(today))
}

#[cfg(test)]
mod tests {
    use domain::EventKind::{self, *};

    use super::*;
    use crate::domain::order::placed;

    const ATTEMPTS_MAX: u32 = 3;

    fn after(events: &[EventKind]) -> Order {
        let mut order = placed(25_000);
        for event in events {
            order.state = order.state.apply(*event, ATTEMPTS_MAX).unwrap();
        }
        order
    }

    #[test]
    fn only_a_parcel_that_is_with_the_fleet_after_a_failure_is_decided_about() {
        use DeliveryStatus as S;
        let again = Decision::Reattempt { on: None };
        let failed = [DriverAssigned, OrderPickedUp, OrderFailed];
        let twice = [&failed[..], &[DriverAssigned, OrderFailed]].concat();
        for (events, of_reattempt, of_return) in [
            (&[][..], Some(Refusal::NotFailed(S::Created)), Some(Refusal::NotFailed(S::Created))),
            (&[OrderFailed], Some(Refusal::Refunded(S::Failed)), Some(Refusal::Refunded(S::Failed))),
            (&[OrderCancelled], Some(Refusal::Refunded(S::Cancelled)), Some(Refusal::Refunded(S::Cancelled))),
            (&failed, None, None),
            (&twice, None, None),
            (&[&twice[..], &[DriverAssigned, OrderFailed]].concat(), Some(Refusal::AttemptsUsed(3)), None),
            (
                &[&failed[..], &[DriverAssigned]].concat(),
                Some(Refusal::NotFailed(S::DriverAssigned)),
                Some(Refusal::NotFailed(S::DriverAssigned)),
            ),
            (
                &[&failed[..], &[OrderReturned]].concat(),
                Some(Refusal::NotFailed(S::Returned)),
                Some(Refusal::NotFailed(S::Returned)),
            ),
        ] {
            let order = after(events);
            assert_eq!(again.refusal(&order, ATTEMPTS_MAX), of_reattempt, "{events:?}");
            assert_eq!(Decision::Return.refusal(&order, ATTEMPTS_MAX), of_return, "{events:?}");
        }
        let erased = Order { personal_data_erased_at: Some(DateTime::UNIX_EPOCH), ..after(&failed) };
        assert_eq!(again.refusal(&erased, ATTEMPTS_MAX), Some(Refusal::Erased));
        assert_eq!(Decision::Return.refusal(&erased, ATTEMPTS_MAX), None);
    }

    #[test]
    fn days_are_those_of_india() {
        let (first, last) = reattempt_days("2026-01-31T18:30:00Z".parse().unwrap());
        assert_eq!((first.to_string(), last.to_string()), ("2026-02-01".to_owned(), "2026-02-15".to_owned()));
    }

    #[test]
    fn decisions_are_read_as_they_are_stored() {
        let on = NaiveDate::from_ymd_opt(2026, 2, 1);
        for decision in [Decision::Reattempt { on }, Decision::Reattempt { on: None }, Decision::Return] {
            let decided = Decided { decision, at: DateTime::UNIX_EPOCH };
            let stored = serde_json::to_value(decided).unwrap();
            assert_eq!(serde_json::from_value::<Decided>(stored).unwrap(), decided);
        }
    }
}
