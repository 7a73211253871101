//! The sandbox treats every top-up as paid immediately.

use domain::TopUpId;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use super::{Checkout, NoticeError, PaymentProvider, ProviderError, ProviderOrder, RawNotice};
use crate::domain::{CURRENCY, Notice, Payment, Provider, TopUp};

pub(crate) struct Sandbox;

impl PaymentProvider for Sandbox {
    fn name(&self) -> Provider {
        Provider::Sandbox
    }

    fn create_order<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<ProviderOrder, ProviderError>> {
        tracing::info!(top_up = %top_up.id, amount_paise = top_up.amount.get(), "sandbox: top-up counts as paid");
        ready(Ok(ProviderOrder { reference: None, payment: Some(paid(top_up)) })).boxed()
    }

    fn find_payment<'a>(
        &'a self,
        top_up: &'a TopUp,
    ) -> BoxFuture<'a, Result<Option<Payment>, ProviderError>> {
        ready(Ok(Some(paid(top_up)))).boxed()
    }

    fn checkout(&self, _: &TopUp) -> Option<Checkout> {
        None
    }

    /// The sandbox sends no notices.
    fn verify_notice(&self, _: &RawNotice) -> Result<Notice, NoticeError> {
        Err(NoticeError::Unsigned)
    }
}

/// Its reference derives from the top-up, so that each query returns the same payment.
fn paid(top_up: &TopUp) -> Payment {
    let name = |id: TopUpId| format!("sandbox_{id}");
    Payment { reference: name(top_up.id), amount: top_up.amount, currency: CURRENCY.into() }
}
