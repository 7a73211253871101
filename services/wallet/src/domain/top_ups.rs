//! A top-up, which payments it accepts, and when to ask the provider about it.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, Paise, TopUpId};
use strum::{Display, EnumString, IntoStaticStr};

use super::{CURRENCY, Payment, Provider};

/// Top-ups of a business that wait for their payment. The provider is asked about each.
pub(crate) const PENDING_MAX: i64 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Status {
    Pending,
    /// The wallet is credited. Final.
    Succeeded,
    /// Nobody paid in time, or the provider refused. A late payment is still credited.
    Failed,
}

impl Status {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopUp {
    pub(crate) id: TopUpId,
    pub(crate) business: BusinessId,
    pub(crate) provider: Provider,
    /// The provider's id of the top-up, once it is known.
    pub(crate) provider_reference: Option<String>,
    /// The provider's id of the credited payment.
    pub(crate) payment_reference: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) amount: Paise,
    pub(crate) status: Status,
    pub(crate) created_at: DateTime<Utc>,
}

/// How to handle a payment of a top-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaymentDecision {
    Credit,
    /// This payment was credited before.
    AlreadyCredited,
    /// A different amount or currency, or a second payment: credit nothing, a person must look. The store reports the
    /// same for a payment that was credited to another top-up.
    Mismatch,
}

impl TopUp {
    pub(crate) fn decide(&self, payment: &Payment) -> PaymentDecision {
        let fits = payment.amount == self.amount && payment.currency == CURRENCY;
        match (self.status, &self.payment_reference) {
            (Status::Pending | Status::Failed, _) if fits => PaymentDecision::Credit,
            (Status::Succeeded, Some(credited)) if *credited == payment.reference && fits => {
                PaymentDecision::AlreadyCredited
            }
            // Credited by a version that did not store the payment's id.
            (Status::Succeeded, None) if fits => PaymentDecision::AlreadyCredited,
            _ => PaymentDecision::Mismatch,
        }
    }
}

/// The pause before the next query about a pending top-up of this age; `None` when the top-up is too old. Webhooks usually
/// report payments first; queries find those whose webhook was lost.
pub(crate) fn next_check(age: TimeDelta) -> Option<TimeDelta> {
    match age {
        age if age < TimeDelta::minutes(10) => Some(TimeDelta::seconds(30)),
        age if age < TimeDelta::hours(1) => Some(TimeDelta::minutes(5)),
        age if age < TimeDelta::days(1) => Some(TimeDelta::hours(1)),
        age if age < TimeDelta::days(7) => Some(TimeDelta::hours(6)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};
    use proptest::prelude::*;

    use strum::VariantArray as _;

    use super::super::NoticeOutcome;
    use super::*;

    fn top_up(status: Status, credited: Option<&str>) -> TopUp {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(3));
        TopUp {
            id: TopUpId::generate(&clock, &entropy),
            business: BusinessId::generate(&clock, &entropy),
            provider: Provider::Razorpay,
            provider_reference: Some("order_1".into()),
            payment_reference: credited.map(Into::into),
            idempotency_key: None,
            amount: Paise::new(50_000),
            status,
            created_at: DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_payment_credits_once_and_only_what_was_asked_for() {
        let payment = |reference: &str, amount, currency: &str| Payment {
            reference: reference.into(),
            amount: Paise::new(amount),
            currency: currency.into(),
        };
        use Status::{Failed, Pending, Succeeded};
        for (status, credited, payment, decision) in [
            (Pending, None, payment("pay_1", 50_000, "INR"), PaymentDecision::Credit),
            (Failed, None, payment("pay_1", 50_000, "INR"), PaymentDecision::Credit),
            (Succeeded, Some("pay_1"), payment("pay_1", 50_000, "INR"), PaymentDecision::AlreadyCredited),
            (Succeeded, None, payment("pay_1", 50_000, "INR"), PaymentDecision::AlreadyCredited),
            (Succeeded, None, payment("pay_1", 49_999, "INR"), PaymentDecision::Mismatch),
            (Succeeded, Some("pay_1"), payment("pay_2", 50_000, "INR"), PaymentDecision::Mismatch),
            (Succeeded, Some("pay_1"), payment("pay_1", 49_999, "INR"), PaymentDecision::Mismatch),
            (Pending, None, payment("pay_1", 49_999, "INR"), PaymentDecision::Mismatch),
            (Pending, None, payment("pay_1", 50_001, "INR"), PaymentDecision::Mismatch),
            (Pending, None, payment("pay_1", 50_000, "USD"), PaymentDecision::Mismatch),
            (Failed, None, payment("pay_1", 0, "INR"), PaymentDecision::Mismatch),
        ] {
            assert_eq!(top_up(status, credited).decide(&payment), decision, "{status} {payment:?}");
        }
    }

    proptest! {
        /// Any payments in any order, even after the top-up failed, credit it at most once, and only with the requested
        /// amount.
        #[test]
        fn any_payments_credit_once_at_most(
            payments in proptest::collection::vec(
                (0_usize..3, prop_oneof![Just(50_000_i64), 49_999_i64..50_002, any::<i64>()], any::<bool>(), any::<bool>()),
                0..30,
            ),
        ) {
            let mut top_up = top_up(Status::Pending, None);
            let mut credits = 0;
            for (which, amount, is_rupees, fails) in payments {
                if fails && top_up.status == Status::Pending {
                    top_up.status = Status::Failed;
                }
                let currency = if is_rupees { CURRENCY } else { "USD" }.to_owned();
                let payment = Payment { reference: format!("pay_{which}"), amount: Paise::new(amount), currency };
                let fits = amount == 50_000 && is_rupees;
                let is_the_credited = top_up.payment_reference.as_ref() == Some(&payment.reference);
                match top_up.decide(&payment) {
                    PaymentDecision::Credit => {
                        prop_assert!(fits && top_up.status != Status::Succeeded);
                        credits += 1;
                        top_up.status = Status::Succeeded;
                        top_up.payment_reference = Some(payment.reference);
                    }
                    PaymentDecision::AlreadyCredited => prop_assert!(fits && is_the_credited),
                    PaymentDecision::Mismatch => prop_assert!(!fits || (credits == 1 && !is_the_credited)),
                }
            }
            prop_assert!(credits <= 1);
            prop_assert_eq!(credits == 1, top_up.status == Status::Succeeded);
        }
    }

    #[test]
    fn names_match_the_database_and_only_razorpay_is_real() {
        for provider in [Provider::Sandbox, Provider::Razorpay] {
            assert_eq!(provider.as_str().parse(), Ok(provider));
            assert_eq!(provider.is_real(), provider == Provider::Razorpay);
        }
        for status in [Status::Pending, Status::Succeeded, Status::Failed] {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        for outcome in NoticeOutcome::VARIANTS {
            assert_eq!(outcome.as_str().parse(), Ok(*outcome));
        }
        assert_eq!(NoticeOutcome::AlreadyCredited.as_str(), "settled_before");
    }

    #[test]
    fn the_pause_between_queries_grows_with_age() {
        let (second, minute, hour) = (TimeDelta::seconds(1), TimeDelta::minutes(1), TimeDelta::hours(1));
        for (age, pause, next) in [
            (minute * 10, second * 30, Some(minute * 5)),
            (hour, minute * 5, Some(hour)),
            (hour * 24, hour, Some(hour * 6)),
            (hour * 24 * 7, hour * 6, None),
        ] {
            assert_eq!((next_check(age - second), next_check(age)), (Some(pause), next), "{age}");
        }
    }

    #[test]
    fn a_provider_is_queried_less_and_less_often_for_a_week() {
        let mut age = TimeDelta::zero();
        let mut last = TimeDelta::zero();
        let mut checks = 0;
        while let Some(pause) = next_check(age) {
            assert!(pause >= last);
            (age, last, checks) = (age + pause, pause, checks + 1);
        }
        assert!(age >= TimeDelta::days(7) && age < TimeDelta::days(8));
        assert!(checks < 100, "{checks}");
    }
}
