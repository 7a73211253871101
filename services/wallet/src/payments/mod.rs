//! The payment provider that collects top-ups: the line to somebody else's system. It is asked between two
//! transactions of ours: the first writes the top-up down as pending, the second credits it once the money is confirmed.

mod notice;
mod razorpay;
mod sandbox;
mod section;

use domain::Paise;
use futures_util::future::BoxFuture;

use crate::domain::{Payment, Provider, TopUp};

pub(crate) use notice::{Notice, NoticeError, RawNotice};
pub use section::{Payments, RazorpayAccount};

/// What every provider can do. One implementation each; the far end is replaced in tests, not this.
pub(crate) trait PaymentProvider: Send + Sync {
    fn name(&self) -> Provider;

    /// Has the provider know the top-up under its id; asking twice for one top-up finds it again.
    fn open<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<Opened, ProviderError>>;

    /// The payment that pays an opened top-up, if there is one.
    fn payment<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<Option<Payment>, ProviderError>>;

    /// What the provider's page needs to collect an opened top-up; `None` where there is no page.
    fn checkout(&self, top_up: &TopUp) -> Option<Checkout>;

    /// Reads what was posted to us, if the provider signed it.
    fn read(&self, notice: &RawNotice) -> Result<Notice, NoticeError>;
}

/// A top-up that the provider knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    /// The provider's own name for it.
    pub(crate) reference: Option<String>,
    /// When it is paid already.
    pub(crate) payment: Option<Payment>,
}

/// For the provider's page. Nothing of it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkout {
    pub(crate) key_id: String,
    pub(crate) order_id: String,
    pub(crate) amount: Paise,
}

/// Why a provider was of no help. The words hold nothing secret or personal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProviderError {
    /// No answer, or one that says nothing: what was asked for may or may not have been done.
    #[error("the payment provider cannot be reached: {0}")]
    Unavailable(String),
    /// It will not take this on, however often it is asked.
    #[error("the payment provider refused: {0}")]
    Refused(String),
}

/// The provider that the settings name.
///
/// # Errors
/// When no HTTP client can be built.
pub(crate) fn provider(settings: &Payments) -> anyhow::Result<Box<dyn PaymentProvider>> {
    Ok(match settings.provider {
        Provider::Sandbox => Box::new(sandbox::Sandbox),
        Provider::Razorpay => Box::new(razorpay::Razorpay::new(&settings.razorpay)?),
    })
}
