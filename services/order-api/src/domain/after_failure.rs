//! What a business decides about a parcel that is with the fleet after a failed attempt: another attempt, or its return.

use chrono::{DateTime, Days, NaiveDate, Utc};
use domain::{DeliveryStatus, EventKind, Mode, Paise, RequestedBy, indian_time};
use serde::{Deserialize, Deserializer, Serialize};

use super::Order;

/// How far ahead an attempt may be.
const REATTEMPT_DAYS_MAX: u64 = 14;

/// The operator's rules about attempts at a delivery.
#[derive(Clone, Copy, Debug)]
pub struct AttemptRules {
    pub max: u32,
    /// Of another attempt that a business asks for.
    pub reattempt_fee: Paise,
}

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
    /// What was announced. The wallet loses it when the attempt begins. 0 once it is lost and the driver dropped out.
    #[serde(default)]
    pub fee: Paise,
    /// Unknown of decisions that were stored before this was.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub by: Option<RequestedBy>,
}

/// A later release may store words that this one does not know.
fn known<'de, D: Deserializer<'de>>(stored: D) -> Result<Option<RequestedBy>, D::Error> {
    let word = Option::<String>::deserialize(stored)?;
    Ok(word.and_then(|word| word.parse().ok()))
}

/// What attempts that began have taken from the wallet. It stays taken, whatever follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaidAttempts {
    /// The number of the latest one. Its driver may drop out, and it begins again.
    pub latest: u32,
    pub fees: Paise,
}

impl PaidAttempts {
    pub fn and(self, (attempt, fee): (u32, Paise)) -> Self {
        Self { latest: attempt, fees: self.fees.checked_add(fee).unwrap_or(self.fees) }
    }
}

/// When the decision was made that somebody saw; `None` if they saw none. A newer one, of a colleague or a program, is not replaced
/// unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenDecision(pub Option<DateTime<Utc>>);

impl SeenDecision {
    pub fn is_outdated(self, present: Option<Decided>) -> bool {
        self.0 != present.map(|decided| decided.at)
    }
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

impl AttemptRules {
    /// Of another attempt that is asked for now. A request that stands keeps its announced fee, whichever day it names.
    pub fn fee_of_reattempt(self, order: &Order) -> Paise {
        match order.decided {
            _ if order.mode == Mode::Test || order.is_next_paid() => Paise::ZERO,
            Some(Decided { decision: Decision::Reattempt { .. }, fee, .. }) => fee,
            _ => self.reattempt_fee,
        }
    }
}

/// The number and the fee of the attempt that `event` begins, if the business asked for it, and it is neither free nor paid.
pub fn attempt_to_pay(order: &Order, event: EventKind) -> Option<(u32, Paise)> {
    let Some(Decided { decision: Decision::Reattempt { .. }, fee, .. }) = order.decided else { return None };
    let begins = event == EventKind::DriverAssigned && order.state.awaits_decision();
    (begins && fee > Paise::ZERO && !order.is_next_paid()).then(|| (order.next_attempt(), fee))
}

impl Decision {
    /// What it costs when it is made now.
    pub fn fee(self, order: &Order, rules: AttemptRules) -> Paise {
        match self {
            Self::Reattempt { .. } => rules.fee_of_reattempt(order),
            Self::Return => Paise::ZERO,
        }
    }

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

    fn free(decision: Decision) -> Decided {
        Decided { decision, at: DateTime::UNIX_EPOCH, fee: Paise::ZERO, by: None }
    }

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
    fn an_announced_fee_stays_until_the_attempt_or_a_return() {
        let rules = |paise| AttemptRules { max: ATTEMPTS_MAX, reattempt_fee: Paise::new(paise) };
        let [again, later] = [None, NaiveDate::from_ymd_opt(2026, 2, 1)].map(|on| Decision::Reattempt { on });
        let mut order = after(&[DriverAssigned, OrderPickedUp, OrderFailed]);
        for (decision, rule, fee) in [
            (again, 3_000, 3_000),
            (later, 5_000, 3_000),
            (Decision::Return, 5_000, 0),
            (again, 5_000, 5_000),
            (Decision::Return, 5_000, 0),
            (later, 0, 0),
            (again, 5_000, 0),
        ] {
            let fee_now = decision.fee(&order, rules(rule));
            assert_eq!(fee_now, Paise::new(fee), "{decision:?}");
            order.decided = Some(Decided { fee: fee_now, ..free(decision) });
        }
        let test = Order { mode: Mode::Test, decided: None, ..order };
        assert_eq!(again.fee(&test, rules(3_000)), Paise::ZERO);
    }

    #[test]
    fn an_attempt_is_paid_when_it_begins_and_was_asked_for() {
        let failed = [DriverAssigned, OrderPickedUp, OrderFailed];
        let asked = |decision, paise, events: &[EventKind]| Order {
            decided: Some(Decided { fee: Paise::new(paise), ..free(decision) }),
            ..after(events)
        };
        let again = Decision::Reattempt { on: None };
        let twice = [&failed[..], &[DriverAssigned, OrderFailed]].concat();
        let paid = |number| Some((number, Paise::new(3_000)));
        for (order, event, expected) in [
            (asked(again, 3_000, &failed), DriverAssigned, paid(2)),
            (asked(again, 3_000, &twice), DriverAssigned, paid(3)),
            (asked(again, 3_000, &failed), OrderReturned, None),
            (asked(again, 0, &failed), DriverAssigned, None),
            (asked(Decision::Return, 0, &failed), DriverAssigned, None),
            (asked(again, 3_000, &[&failed[..], &[DriverAssigned]].concat()), OrderOutForDelivery, None),
            (after(&failed), DriverAssigned, None),
        ] {
            assert_eq!(attempt_to_pay(&order, event), expected, "{event} of {:?}", order.decided);
        }
    }

    #[test]
    fn an_attempt_whose_driver_dropped_out_is_not_paid_again() {
        let rules = AttemptRules { max: ATTEMPTS_MAX, reattempt_fee: Paise::new(5_000) };
        let again = Decision::Reattempt { on: None };
        let begun = [DriverAssigned, OrderPickedUp, OrderFailed, DriverAssigned];
        let paid = PaidAttempts::default().and((2, Paise::new(3_000)));
        let fee = Paise::new(3_000);
        for decision in [None, Some(Decision::Return), Some(again)] {
            let decided = decision.map(|decision| Decided { fee, ..free(decision) });
            let order = Order { decided, paid, ..after(&[&begun[..], &[DriverUnassigned]].concat()) };
            assert_eq!(again.fee(&order, rules), Paise::ZERO, "{decision:?}");
            assert_eq!(attempt_to_pay(&order, DriverAssigned), None, "{decision:?}");
        }
        // The one after it is another attempt.
        let order = Order { paid, ..after(&[&begun[..], &[OrderFailed]].concat()) };
        assert_eq!(again.fee(&order, rules), Paise::new(5_000));
        let asked = Decided { fee, ..free(again) };
        let third = attempt_to_pay(&Order { decided: Some(asked), ..order }, DriverAssigned);
        assert_eq!(third, Some((3, fee)));
        assert_eq!(third.map(|due| paid.and(due)), Some(PaidAttempts { latest: 3, fees: Paise::new(6_000) }));
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
            let by = Some(RequestedBy::Operator);
            let decided = Decided { fee: Paise::new(3_000), by, ..free(decision) };
            let mut stored = serde_json::to_value(decided).unwrap();
            assert_eq!(stored["by"], "operator");
            assert_eq!(serde_json::from_value::<Decided>(stored.clone()).unwrap(), decided);
            stored["by"] = "robot".into();
            let later = serde_json::from_value::<Decided>(stored.clone()).unwrap();
            assert_eq!(later, Decided { by: None, ..decided }, "as a later release may store it");
            for name in ["fee", "by"] {
                stored.as_object_mut().unwrap().remove(name);
            }
            let former = serde_json::from_value::<Decided>(stored).unwrap();
            assert_eq!(former, free(decision), "as stored before there were fees and authors");
        }
    }

    #[test]
    fn another_decision_than_the_seen_one_makes_it_outdated() {
        let at = |seconds| DateTime::from_timestamp(seconds, 0);
        let decided = |seconds| at(seconds).map(|at| Decided { at, ..free(Decision::Return) });
        for (seen, present, is_outdated) in [
            (None, None, false),
            (at(1), decided(1), false),
            (None, decided(1), true),
            (at(1), decided(2), true),
            // Another attempt has failed since, which removes it.
            (at(1), None, true),
        ] {
            assert_eq!(SeenDecision(seen).is_outdated(present), is_outdated, "{seen:?} {present:?}");
        }
    }
}
