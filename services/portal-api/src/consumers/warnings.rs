//! Warnings that are mailed to the users of a business whom they concern: a low wallet balance, money that
//! was taken back, a failing or disabled webhook
//! endpoint.

use std::sync::Arc;

use events::{Body, Envelope};
use messaging::{Handler, Rejection};

use crate::commands::mail_warning::mail_warning;
use crate::domain::{Permission, Role};
use crate::mail::Mail;
use crate::state::State;

pub(crate) struct WarningsConsumer(pub(crate) Arc<State>);

impl Handler for WarningsConsumer {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let Some((mail, roles)) = warning(&envelope.body) else { return Ok(()) };
        let mailed = mail_warning(&self.0, envelope.id, envelope.business_id, &mail, roles).await;
        mailed.map_err(|error| outbox::rejection(&error))
    }
}

/// Those who top up, and those whose orders are refused.
const TOLD_OF_LOW_BALANCE: &[Role] = &[Role::Owner, Role::Developer, Role::Finance];

const TOLD_OF_MONEY_TAKEN_BACK: &[Role] = &[Role::Owner, Role::Finance];

/// The mail, and the roles that receive it.
fn warning(body: &Body) -> Option<(Mail<'_>, &'static [Role])> {
    let mail = match body {
        Body::WalletLowBalance(low) => {
            let mail = Mail::LowBalance { balance: low.balance_paise, threshold: low.threshold_paise };
            return Some((mail, TOLD_OF_LOW_BALANCE));
        }
        Body::WalletMoneyTakenBack(taken) => {
            return Some((Mail::MoneyTakenBack(taken), TOLD_OF_MONEY_TAKEN_BACK));
        }
        Body::EndpointFailing(failing) => Mail::EndpointFailing { percent: failing.percent },
        Body::EndpointDisabled(disabled) => Mail::EndpointDisabled { reason: &disabled.reason },
        _ => return None,
    };
    Some((mail, Permission::ManageIntegration.roles()))
}
