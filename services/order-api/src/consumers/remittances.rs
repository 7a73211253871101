//! `wallet.cash_remitted`: settles the order whose cash the operator paid out.

use std::sync::Arc;

use events::{Body, Envelope};
use messaging::{Handler, Rejection};

use crate::commands::MoveError;
use crate::commands::settle_cash::{Settled, settle_cash};
use crate::state::State;

/// Idempotent: repeated events have no further effect.
pub struct Remittances(pub Arc<State>);

impl Handler for Remittances {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let Body::CashRemitted(remitted) = envelope.body else {
            return Err(Rejection::Never("this queue accepts only remitted cash".into()));
        };
        let (order, remittance) = (remitted.order_id, remitted.remittance.id);
        let at = envelope.occurred_at;
        let settled = settle_cash(&self.0, envelope.id, (envelope.business_id, at), remitted).await;
        match settled.map_err(rejection)? {
            // The wallet lists the fleet's report as a difference.
            Settled::Corrected => {
                tracing::warn!(%order, %remittance, "settlement of the fleet replaced by that of the remittance");
            }
            settled => tracing::info!(%order, %remittance, ?settled, "remitted cash processed"),
        }
        Ok(())
    }
}

fn rejection(error: MoveError) -> Rejection {
    match error {
        MoveError::Store(error) => outbox::rejection(&error),
        error @ (MoveError::NotFound | MoveError::Illegal(_)) => Rejection::Never(error.to_string()),
    }
}
