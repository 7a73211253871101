//! An administrator removes the link of a person with the identity provider. Afterwards the person logs in with the password, if
//! there is one.

use domain::StaffId;
use identity::single_sign_on::identities;
use identity::{Account, sessions};

use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, AuditEvent, Author};
use crate::console::commands::staff::{
    StaffError, lock_administrator, require_another_administrator, target,
};
use crate::console::domain::Staff;
use crate::state::State;
use crate::store::staff;

/// Ends the sessions that the provider has opened.
pub(crate) async fn unlink(state: &State, author: &Author, id: StaffId) -> Result<(), StaffError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let unlinked: Result<usize, StaffError> = state
        .unit
        .database
        .transaction(async |conn| {
            if !lock_administrator(conn, author).await? {
                return Err(StaffError::NotAdministrator);
            }
            let person = staff::find(conn, id).await?.ok_or(StaffError::Unknown)?;
            if person.identities.is_empty() {
                return Err(StaffError::NotLinked);
            }
            let after = Staff { identities: Vec::new(), ..person.clone() };
            if !after.can_log_in(state.staff_log_in_ways()) {
                require_another_administrator(conn, state, &person).await?;
            }
            identities::remove_of_staff(conn, id).await?;
            let ended = sessions::end_single_sign_on(conn, Account::Staff(id), parts.0.now()).await?;
            let event =
                AuditEvent::new(Action::StaffIdentityUnlinked).on(target(&person)).with("sessions", ended);
            write_operator_audit(conn, parts, None, author, &event).await?;
            Ok(ended)
        })
        .await;
    let ended = unlinked?;
    tracing::info!(staff_id = %id, sessions = ended, "identity of a person of the staff unlinked");
    Ok(())
}
