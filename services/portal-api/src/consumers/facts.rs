//! `test_order.first` and `wallet.funded`: two items of the go-live list that others see happen.

use events::{Body, Envelope};
use messaging::{Handler, Rejection};
use postgres::StoreError;

use crate::app::App;
use crate::commands::record_fact::{Fact, record_within, tell};
use crate::store::go_live::Recorded;

/// Under this name the inbox remembers what was handled.
const CONSUMER: &str = "portal-api.facts";

pub(crate) struct FactsConsumer(pub(crate) App);

impl Handler for FactsConsumer {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let Some(fact) = fact_of(&envelope.body) else { return Ok(()) };
        let app = &self.0;
        let outcome: Result<_, StoreError> = app
            .database
            .transaction(async |conn| {
                let now = app.clock.now();
                if !outbox::first_time(conn, CONSUMER, envelope.id, now).await? {
                    return Ok(Some(Recorded::KnownAlready));
                }
                record_within(conn, app, envelope.business_id, fact, envelope.occurred_at).await
            })
            .await;
        match outcome {
            Ok(Some(recorded)) => {
                app.notifier.notify();
                tell(envelope.business_id, fact, Some(recorded));
                Ok(())
            }
            Ok(None) => Err(Rejection::Never("a go-live fact of an unknown business".to_owned())),
            Err(error) => Err(Rejection::Later(error.to_string())),
        }
    }
}

fn fact_of(body: &Body) -> Option<Fact> {
    match body {
        Body::FirstTestOrder {} => Some(Fact::SuccessfulTestOrder),
        Body::WalletFunded {} => Some(Fact::WalletFunded),
        _ => None,
    }
}
