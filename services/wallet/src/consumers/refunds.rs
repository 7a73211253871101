//! `live.order.cancelled` and `live.order.failed`: refunds the fee if a refund is due.

use std::sync::Arc;

use domain::Mode;
use events::{Body, Envelope};
use messaging::{Handler, Rejection};

use crate::commands::refund::{RefundError, Refunded, refund};
use crate::state::State;

/// Publishes the counter as 0: alerts on increases miss the first event of an absent series.
pub(crate) fn publish_counters() {
    metrics::counter!("wallet_refunds_total").increment(0);
}

/// Idempotent: repeated events have no further effect.
pub(crate) struct Refunds(pub(crate) Arc<State>);

impl Handler for Refunds {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let Body::Order(event) = envelope.body else {
            return Err(Rejection::Never("this queue accepts only events of orders".into()));
        };
        if event.mode != Mode::Live {
            return Err(Rejection::Never("a test order never changes a wallet".into()));
        }
        if !event.refund_due {
            return Ok(());
        }
        let order = event.order.id;
        let outcome = refund(&self.0, envelope.id, envelope.business_id, order).await;
        let refunded = outcome.map_err(rejection)?;
        if refunded == Refunded::Now {
            metrics::counter!("wallet_refunds_total").increment(1);
        }
        tracing::info!(%order, event = %envelope.id, ?refunded, "refund processed");
        Ok(())
    }
}

fn rejection(error: RefundError) -> Rejection {
    match error {
        RefundError::Store(error) => outbox::rejection(&error),
        error @ (RefundError::NothingTaken | RefundError::Posting(_)) => Rejection::Never(error.to_string()),
    }
}
