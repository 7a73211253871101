//! What a top-up is, whether a payment pays it, and how long a provider is asked for one.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, Paise, TopUpId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// Wallets know one currency.
pub(crate) const CURRENCY: &str = "INR";

/// Who collects the money.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Deserialize,
    Serialize,
    JsonSchema,
    Display,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Provider {
    /// Nobody: every top-up counts as paid at once. For trying Waybill out; production refuses it.
    #[default]
    Sandbox,
    /// Razorpay's orders: paid on its own page, confirmed by its webhook.
    Razorpay,
}

impl Provider {
    /// The name used in SQL, in paths and in answers.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether real money stands behind its confirmations.
    pub(crate) fn is_real(self) -> bool {
        match self {
            Self::Sandbox => false,
            Self::Razorpay => true,
        }
    }
}

/// How far a top-up is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Status {
    Pending,
    /// The money is in the wallet; final.
    Succeeded,
    /// Nobody paid, or the provider would not take it on. A payment that turns up later is money all the same.
    Failed,
}

impl Status {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a business asked a provider to collect, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopUp {
    pub(crate) id: TopUpId,
    pub(crate) business: BusinessId,
    pub(crate) provider: Provider,
    /// The provider's own name for it, once there is one.
    pub(crate) provider_reference: Option<String>,
    /// The provider's own name for the payment that was credited.
    pub(crate) payment_reference: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) amount: Paise,
    pub(crate) status: Status,
    pub(crate) created_at: DateTime<Utc>,
}

/// Money that a provider says it has collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payment {
    pub(crate) reference: String,
    /// In the currency's smallest unit; paise for [`CURRENCY`].
    pub(crate) amount: Paise,
    pub(crate) currency: String,
}

/// What a payment means for a top-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Credit,
    /// It is the payment that was credited already.
    SettledBefore,
    /// Another amount or currency, or a second payment: a person must look. Nothing is credited. So it is with a payment
    /// that was credited for another top-up, which only the store knows.
    Mismatch,
}

/// What came of a payment, or of a provider's notice of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum NoticeOutcome {
    Credited,
    SettledBefore,
    Mismatch,
    /// It is of a top-up, and of no money that came in.
    Noted,
    /// It is of nothing that we asked for. Nothing is kept of it.
    Ignored,
}

impl NoticeOutcome {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

impl TopUp {
    pub(crate) fn judge(&self, payment: &Payment) -> Verdict {
        let fits = payment.amount == self.amount && payment.currency == CURRENCY;
        match (self.status, &self.payment_reference) {
            (Status::Pending | Status::Failed, _) if fits => Verdict::Credit,
            (Status::Succeeded, Some(credited)) if *credited == payment.reference && fits => {
                Verdict::SettledBefore
            }
            // Credited by a version that did not yet note the payment.
            (Status::Succeeded, None) if fits => Verdict::SettledBefore,
            _ => Verdict::Mismatch,
        }
    }
}

/// How long after this moment the provider is asked again about a pending top-up of this age, or `None` when it is
/// asked no more. Webhooks are the usual way; this is for the lost ones.
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
        for (status, credited, payment, verdict) in [
            (Pending, None, payment("pay_1", 50_000, "INR"), Verdict::Credit),
            (Failed, None, payment("pay_1", 50_000, "INR"), Verdict::Credit),
            (Succeeded, Some("pay_1"), payment("pay_1", 50_000, "INR"), Verdict::SettledBefore),
            (Succeeded, None, payment("pay_1", 50_000, "INR"), Verdict::SettledBefore),
            (Succeeded, None, payment("pay_1", 49_999, "INR"), Verdict::Mismatch),
            (Succeeded, Some("pay_1"), payment("pay_2", 50_000, "INR"), Verdict::Mismatch),
            (Succeeded, Some("pay_1"), payment("pay_1", 49_999, "INR"), Verdict::Mismatch),
            (Pending, None, payment("pay_1", 49_999, "INR"), Verdict::Mismatch),
            (Pending, None, payment("pay_1", 50_001, "INR"), Verdict::Mismatch),
            (Pending, None, payment("pay_1", 50_000, "USD"), Verdict::Mismatch),
            (Failed, None, payment("pay_1", 0, "INR"), Verdict::Mismatch),
        ] {
            assert_eq!(top_up(status, credited).judge(&payment), verdict, "{status} {payment:?}");
        }
    }

    proptest! {
        /// Whatever a provider says, however often and in whatever order, and whether or not the top-up was given up
        /// meanwhile: it is credited once at most, by a payment of what was asked for.
        #[test]
        fn any_payments_credit_once_at_most(
            payments in proptest::collection::vec(
                (0_usize..3, prop_oneof![Just(50_000_i64), 49_999_i64..50_002, any::<i64>()], any::<bool>(), any::<bool>()),
                0..30,
            ),
        ) {
            let mut top_up = top_up(Status::Pending, None);
            let mut credits = 0;
            for (which, amount, is_rupees, given_up) in payments {
                if given_up && top_up.status == Status::Pending {
                    top_up.status = Status::Failed;
                }
                let currency = if is_rupees { CURRENCY } else { "USD" }.to_owned();
                let payment = Payment { reference: format!("pay_{which}"), amount: Paise::new(amount), currency };
                let fits = amount == 50_000 && is_rupees;
                let is_the_credited = top_up.payment_reference.as_ref() == Some(&payment.reference);
                match top_up.judge(&payment) {
                    Verdict::Credit => {
                        prop_assert!(fits && top_up.status != Status::Succeeded);
                        credits += 1;
                        top_up.status = Status::Succeeded;
                        top_up.payment_reference = Some(payment.reference);
                    }
                    Verdict::SettledBefore => prop_assert!(fits && is_the_credited),
                    Verdict::Mismatch => prop_assert!(!fits || (credits == 1 && !is_the_credited)),
                }
            }
            prop_assert!(credits <= 1);
            prop_assert_eq!(credits == 1, top_up.status == Status::Succeeded);
        }
    }

    #[test]
    fn names_are_those_of_the_database_and_only_a_real_provider_is_real() {
        for provider in [Provider::Sandbox, Provider::Razorpay] {
            assert_eq!(provider.as_str().parse(), Ok(provider));
            assert_eq!(provider.is_real(), provider == Provider::Razorpay);
        }
        for status in [Status::Pending, Status::Succeeded, Status::Failed] {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        for outcome in [NoticeOutcome::Credited, NoticeOutcome::SettledBefore, NoticeOutcome::Mismatch] {
            assert_eq!(outcome.as_str().parse(), Ok(outcome));
        }
    }

    #[test]
    fn the_pause_between_two_questions_grows_at_these_ages() {
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
    fn a_provider_is_asked_ever_more_seldom_and_a_week_at_most() {
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
