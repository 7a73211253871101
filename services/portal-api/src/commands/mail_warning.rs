//! Mails a warning to the users of a business with some roles.

use domain::{BusinessId, EventId};
use postgres::StoreError;

use crate::domain::Role;
use crate::mail::Mail;
use crate::state::State;
use crate::store::users;

/// The inbox stores processed events under this name.
const CONSUMER: &str = "portal-api.warnings";

/// Queues the mails once per event.
pub(crate) async fn mail_warning(
    state: &State,
    event: EventId,
    business: BusinessId,
    mail: &Mail<'_>,
    roles: &[Role],
) -> Result<(), StoreError> {
    let queued: Result<(), StoreError> = state
        .unit
        .database
        .transaction(async |conn| {
            let now = state.unit.clock.now();
            if !outbox::first_time(conn, CONSUMER, event, now).await? {
                return Ok(());
            }
            for recipient in users::emails_of(conn, business, roles).await? {
                state.mailbox.queue(conn, business, &recipient, mail, now).await?;
            }
            Ok(())
        })
        .await;
    queued?;
    state.mailbox.wake_sender();
    Ok(())
}
