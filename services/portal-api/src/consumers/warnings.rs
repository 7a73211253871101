//! Warnings that are mailed to the owners and developers of a business: a low wallet balance, a failing or disabled webhook
//! endpoint.

use std::sync::Arc;

use events::{Body, Envelope};
use messaging::{Handler, Rejection};

use crate::commands::mail_warning::mail_warning;
use crate::mail::Mail;
use crate::state::State;

pub(crate) struct WarningsConsumer(pub(crate) Arc<State>);

impl Handler for WarningsConsumer {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let Some(mail) = warning(&envelope.body) else { return Ok(()) };
        let mailed = mail_warning(&self.0, envelope.id, envelope.business_id, &mail).await;
        mailed.map_err(|error| Rejection::Later(error.to_string()))
    }
}

fn warning(body: &Body) -> Option<Mail<'_>> {
    match body {
        Body::WalletLowBalance(low) => {
            Some(Mail::LowBalance { balance: low.balance_paise, threshold: low.threshold_paise })
        }
        Body::EndpointFailing(failing) => Some(Mail::EndpointFailing { percent: failing.percent }),
        Body::EndpointDisabled(disabled) => Some(Mail::EndpointDisabled { reason: &disabled.reason }),
        _ => None,
    }
}
