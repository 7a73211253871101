//! A person of the staff changes their own name.

use domain::StaffId;

use super::audit::write_operator_audit;
use super::staff::{StaffError, target};
use crate::domain::{Action, AuditEvent, Author};
use crate::state::State;
use crate::store::staff;

pub(crate) async fn change_name(
    state: &State,
    author: &Author,
    id: StaffId,
    name: &str,
) -> Result<(), StaffError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let changed: Result<(), StaffError> = state
        .unit
        .database
        .transaction(async |conn| {
            staff::lock(conn).await?;
            let before = staff::find(conn, id).await?.ok_or(StaffError::Unknown)?;
            if before.name == name {
                return Ok(());
            }
            staff::set_name(conn, id, name).await?;
            let event = AuditEvent::new(Action::StaffNameChanged)
                .on(target(&before))
                .with("from", before.name.as_str())
                .with("to", name);
            Ok(write_operator_audit(conn, parts, None, author, &event).await?)
        })
        .await;
    changed?;
    tracing::info!(staff_id = %id, "name of a person of the staff changed");
    Ok(())
}
