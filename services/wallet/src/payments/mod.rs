//! Payment providers, which collect top-ups. A provider is called between two transactions: the first stores the top-up as
//! pending, the second credits it once the payment is confirmed.

mod notice;
mod razorpay;
mod sandbox;

use domain::Paise;
use futures_util::future::BoxFuture;

use crate::domain::{Notice, Payment, Provider, TopUp};

pub(crate) use notice::{NoticeError, RawNotice};
pub(crate) use razorpay::{Razorpay, RazorpayOptions};
pub(crate) use sandbox::Sandbox;

/// Tests replace the provider's server, not this trait.
pub(crate) trait PaymentProvider: Send + Sync {
    fn name(&self) -> Provider;

    /// Registers the top-up with the provider. Repeated calls return the same order.
    fn create_order<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<ProviderOrder, ProviderError>>;

    /// The captured payment of a registered top-up.
    fn find_payment<'a>(&'a self, top_up: &'a TopUp)
    -> BoxFuture<'a, Result<Option<Payment>, ProviderError>>;

    /// The data that the provider's checkout page needs; `None` if the provider has no page.
    fn checkout(&self, top_up: &TopUp) -> Option<Checkout>;

    /// Checks the signature of a notice, then parses it.
    fn verify_notice(&self, notice: &RawNotice) -> Result<Notice, NoticeError>;
}

/// A top-up that is registered with the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProviderOrder {
    /// The provider's id of the top-up.
    pub(crate) reference: Option<String>,
    /// Present if the top-up is already paid.
    pub(crate) payment: Option<Payment>,
}

/// For the provider's page. Nothing here is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkout {
    pub(crate) key_id: String,
    pub(crate) order_id: String,
    pub(crate) amount: Paise,
}

/// The texts contain nothing secret or personal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProviderError {
    /// No response, or an unusable one. Whether the provider acted is unknown.
    #[error("the payment provider is unreachable: {0}")]
    Unavailable(String),
    /// A retry gets the same answer.
    #[error("the payment provider refused: {0}")]
    Refused(String),
}
