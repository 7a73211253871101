//! The sandbox treats every top-up as paid immediately. Its refunds and disputes can be played with notices like Razorpay's,
//! which the published secret signs: the sandbox moves no real money.

use domain::TopUpId;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use settings::Secret;

use super::notice;
use super::{Checkout, NoticeError, PaymentProvider, ProviderError, ProviderOrder, RawNotice};
use crate::domain::{CURRENCY, Notice, Payment, Provider, TopUp};

/// As documented in `proto-docs/operators/going-live.md`.
const SECRET: &str = "sandbox";

pub(crate) struct Sandbox;

impl PaymentProvider for Sandbox {
    fn name(&self) -> Provider {
        Provider::Sandbox
    }

    fn create_order<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<ProviderOrder, ProviderError>> {
        tracing::info!(top_up = %top_up.id, amount_paise = top_up.amount.get(), "sandbox: top-up counts as paid");
        let payment = paid(top_up);
        ready(Ok(ProviderOrder { reference: Some(payment.reference.clone()), payment: Some(payment) }))
            .boxed()
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

    fn verify_notice(&self, raw: &RawNotice) -> Result<Notice, NoticeError> {
        notice::verify(raw, &Secret::new(SECRET))
    }
}

/// The reference of order and payment derives from the top-up, so that each query returns the same payment.
fn paid(top_up: &TopUp) -> Payment {
    let name = |id: TopUpId| format!("sandbox_{id}");
    Payment { reference: name(top_up.id), amount: top_up.amount, currency: CURRENCY.into() }
}
