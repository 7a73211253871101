//! The sandbox: every top-up counts as paid as soon as it is asked for.

use domain::TopUpId;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use super::{Checkout, Notice, NoticeError, Opened, PaymentProvider, ProviderError, RawNotice};
use crate::domain::{CURRENCY, Payment, Provider, TopUp};

pub(super) struct Sandbox;

impl PaymentProvider for Sandbox {
    fn name(&self) -> Provider {
        Provider::Sandbox
    }

    fn open<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<Opened, ProviderError>> {
        tracing::info!(top_up = %top_up.id, amount_paise = top_up.amount.get(), "the sandbox collects a top-up");
        ready(Ok(Opened { reference: None, payment: Some(paid(top_up)) })).boxed()
    }

    fn payment<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<Option<Payment>, ProviderError>> {
        ready(Ok(Some(paid(top_up)))).boxed()
    }

    fn checkout(&self, _: &TopUp) -> Option<Checkout> {
        None
    }

    /// Whoever posts here is nobody's payment provider.
    fn read(&self, _: &RawNotice) -> Result<Notice, NoticeError> {
        Err(NoticeError::Unsigned)
    }
}

/// Named after the top-up, so that it is the same payment however often it is looked up.
fn paid(top_up: &TopUp) -> Payment {
    let name = |id: TopUpId| format!("sandbox_{id}");
    Payment { reference: name(top_up.id), amount: top_up.amount, currency: CURRENCY.into() }
}
