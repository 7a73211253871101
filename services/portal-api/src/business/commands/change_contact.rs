//! An owner, or the staff, changes the contact of a business.

use domain::BusinessId;
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::Contact;
use crate::state::State;
use crate::store::{businesses, contacts};
use crate::team::commands::owners::is_still_owner;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeContactError {
    #[error("the business does not exist, or the author is no longer an owner")]
    NotOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// # Errors
/// When the author may no longer change it, or the database fails.
pub(crate) async fn change_contact(
    state: &State,
    business: BusinessId,
    author: &Author,
    contact: &Contact,
) -> Result<(), ChangeContactError> {
    let changed: Result<(), ChangeContactError> = state
        .unit
        .database
        .transaction(async |conn| {
            let known = businesses::find_for_update(conn, business).await?;
            if known.is_none() || !is_still_owner(conn, business, author).await? {
                return Err(ChangeContactError::NotOwner);
            }
            let fields = contact.changed_fields(&contacts::find(conn, business).await?);
            if fields.is_empty() {
                return Ok(());
            }
            contacts::put(conn, business, contact, state.unit.clock.now()).await?;
            // The log has no people and no numbers.
            let event = AuditEvent::new(Action::BusinessContactChanged)
                .on(Target::new(TargetKind::Business, business))
                .with("fields", fields);
            Ok(write_audit(conn, state, business, author, &event).await?)
        })
        .await;
    changed?;
    tracing::info!(business_id = %business, "contact of the business saved");
    Ok(())
}
