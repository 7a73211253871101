//! `test_order.first` and `wallet.funded`: two items of the go-live list that others see happen.

use events::{Body, Envelope};
use messaging::{Handler, Rejection};
use postgres::StoreError;

use crate::app::App;
use crate::commands::record_fact::{Fact, record_within};

/// Under this name the inbox remembers what was handled.
const CONSUMER: &str = "portal-api.facts";

pub(crate) struct FactsConsumer(pub(crate) App);

impl Handler for FactsConsumer {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let Some(fact) = fact_of(&envelope.body) else { return Ok(()) };
        let app = &self.0;
        let outcome: Result<bool, StoreError> = app
            .database
            .transaction(async |conn| {
                let now = app.clock.now();
                if !outbox::first_time(conn, CONSUMER, envelope.id, now).await? {
                    return Ok(true);
                }
                let recorded =
                    record_within(conn, app, envelope.business_id, fact, envelope.occurred_at).await?;
                Ok(recorded.is_some())
            })
            .await;
        match outcome {
            Ok(true) => {
                app.doorbell.ring();
                Ok(())
            }
            Ok(false) => Err(Rejection::Never("a go-live fact of an unknown business".to_owned())),
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
