//! What goes wrong for a business while nobody looks: a wallet that runs low, an endpoint that only fails or was disabled.
//! Its owners and developers are mailed, once for each event.

use events::{Body, Envelope};
use messaging::{Handler, Rejection};
use postgres::StoreError;

use crate::app::App;
use crate::domain::Role;
use crate::mail::Letter;
use crate::store::users;

/// Under this name the inbox remembers what was handled.
const CONSUMER: &str = "portal-api.warnings";

pub(crate) struct WarningsConsumer(pub(crate) App);

impl Handler for WarningsConsumer {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let Some(letter) = letter_about(&envelope.body) else { return Ok(()) };
        let (app, business) = (&self.0, envelope.business_id);
        let outcome: Result<(), StoreError> = app
            .database
            .transaction(async |conn| {
                let now = app.clock.now();
                if !outbox::first_time(conn, CONSUMER, envelope.id, now).await? {
                    return Ok(());
                }
                for recipient in users::emails_of(conn, business, Role::Developer).await? {
                    app.mailbox.post(conn, business, &recipient, &letter, now).await?;
                }
                Ok(())
            })
            .await;
        match outcome {
            Ok(()) => {
                app.mailbox.ring();
                Ok(())
            }
            Err(error) => Err(Rejection::Later(error.to_string())),
        }
    }
}

fn letter_about(body: &Body) -> Option<Letter<'_>> {
    match body {
        Body::WalletLowBalance(low) => {
            Some(Letter::LowBalance { balance: low.balance_paise, threshold: low.threshold_paise })
        }
        Body::EndpointFailing(failing) => Some(Letter::EndpointFailing { percent: failing.percent }),
        Body::EndpointDisabled(disabled) => Some(Letter::EndpointDisabled { reason: &disabled.reason }),
        _ => None,
    }
}
