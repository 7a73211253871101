//! Payment providers, the payments that they report, and the outcome of a report.

use domain::Paise;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The currency of all wallets.
pub(crate) const CURRENCY: &str = "INR";

/// The provider that collects top-ups.
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
    /// Treats every top-up as paid immediately. Only for trials; production refuses it.
    #[default]
    Sandbox,
    /// Razorpay orders: paid on Razorpay's page, confirmed by its webhook.
    Razorpay,
}

impl Provider {
    /// The name in SQL, paths and responses.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Its confirmations mean real money.
    pub(crate) fn is_real(self) -> bool {
        match self {
            Self::Sandbox => false,
            Self::Razorpay => true,
        }
    }
}

/// A payment that a provider reports as collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payment {
    pub(crate) reference: String,
    /// In the currency's smallest unit: paise for [`CURRENCY`].
    pub(crate) amount: Paise,
    pub(crate) currency: String,
}

/// A signed notice of a payment provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// The hash of the signed bytes: equal for repeated notices only. The provider's own event id is in a header that it
    /// does not sign.
    pub(crate) event_id: String,
    pub(crate) kind: String,
    /// The provider's id of the top-up, if the notice concerns one.
    pub(crate) reference: Option<String>,
    pub(crate) payment: Option<Payment>,
    /// The provider has received the payment's money.
    pub(crate) captured: bool,
    /// The notice is about a refund or dispute of the payment.
    pub(crate) reversal: Option<Reversal>,
}

/// A refund or dispute of a payment at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reversal {
    /// The provider's id of the refund or dispute.
    pub(crate) reference: String,
    pub(crate) payment: String,
    pub(crate) amount: Paise,
    pub(crate) currency: String,
    pub(crate) step: ReversalStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReversalStep {
    /// The provider has taken no money so far.
    Announced,
    /// The provider took the money from the operator.
    Taken,
    /// The refund failed, or the operator won the dispute.
    GivenBack,
}

/// The result of processing a payment or a notice. The database and the metrics use these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum NoticeOutcome {
    Credited,
    #[strum(serialize = "settled_before")]
    AlreadyCredited,
    /// The money of a credited top-up is taken back.
    Reversed,
    Mismatch,
    /// It concerns a top-up, but no received money.
    Noted,
    /// It concerns no top-up of ours, and is not stored.
    Ignored,
}

impl NoticeOutcome {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}
