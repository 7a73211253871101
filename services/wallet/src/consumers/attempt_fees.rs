//! `order.attempt_begun`: takes the fee of an attempt at a delivery.

use std::sync::Arc;

use events::{Body, Envelope};
use messaging::{Handler, Rejection};

use crate::commands::take_attempt_fee::{AttemptFeeError, take_attempt_fee};
use crate::state::State;

/// Idempotent: repeated events have no further effect.
pub(crate) struct AttemptFees(pub(crate) Arc<State>);

impl Handler for AttemptFees {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let Body::AttemptBegun(begun) = envelope.body else {
            return Err(Rejection::Never("this queue accepts only attempts that began".into()));
        };
        let taken = take_attempt_fee(&self.0, envelope.id, envelope.business_id, &begun).await;
        let taken = taken.map_err(rejection)?;
        let (order, attempt) = (begun.order_id, begun.attempt);
        tracing::info!(%order, attempt, event = %envelope.id, ?taken, "fee of an attempt processed");
        Ok(())
    }
}

fn rejection(error: AttemptFeeError) -> Rejection {
    match error {
        AttemptFeeError::Store(error) => outbox::rejection(&error),
        error @ (AttemptFeeError::AmountRefused
        | AttemptFeeError::UnknownOrder
        | AttemptFeeError::Posting(_)) => Rejection::Never(error.to_string()),
    }
}
