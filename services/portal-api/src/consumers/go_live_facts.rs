//! `test_order.first` and `wallet.funded`: two items of the go-live checklist that other services report.

use std::sync::Arc;

use events::{Body, Envelope};
use messaging::{Handler, Rejection};

use crate::business::domain::GoLiveFact;
use crate::go_live::commands::record_go_live_fact::record_from_event;
use crate::state::State;

pub(crate) struct GoLiveFactsConsumer(pub(crate) Arc<State>);

impl Handler for GoLiveFactsConsumer {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let fact = match envelope.body {
            Body::FirstTestOrder {} => GoLiveFact::SuccessfulTestOrder,
            Body::WalletFunded {} => GoLiveFact::WalletFunded,
            _ => return Ok(()),
        };
        let (business, at) = (envelope.business_id, envelope.occurred_at);
        match record_from_event(&self.0, envelope.id, business, fact, at).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Rejection::Never("the business of the go-live fact is unknown".to_owned())),
            Err(error) => Err(outbox::rejection(&error)),
        }
    }
}
