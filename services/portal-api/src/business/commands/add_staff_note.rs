//! The staff notes something about a business, for the staff.

use domain::BusinessId;
use postgres::StoreError;

use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::StaffNote;
use crate::state::State;
use crate::store::{businesses, closings, staff_notes};

/// Of a business. The table has the same bound.
const NOTES_MAX: i64 = 200;

#[derive(Debug, thiserror::Error)]
pub(crate) enum AddNoteError {
    #[error("the business does not exist")]
    Unknown,
    #[error("the business is closed, and its data is erased")]
    Erased,
    #[error("the business has as many notes as it may have")]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// # Errors
/// When the business is erased or has as many notes as it may have, or the database fails.
pub(crate) async fn add_staff_note(
    state: &State,
    business: BusinessId,
    author: &Author,
    text: String,
) -> Result<StaffNote, AddNoteError> {
    let unit = &state.unit;
    let add = async |conn: &mut _| -> Result<StaffNote, AddNoteError> {
        businesses::find_for_update(conn, business).await?.ok_or(AddNoteError::Unknown)?;
        if closings::find(conn, business).await?.is_some_and(|closing| closing.erased_at.is_some()) {
            return Err(AddNoteError::Erased);
        }
        let last = staff_notes::list(conn, business, 1, None).await?;
        let number = last.first().map_or(0, |note| note.number) + 1;
        if number > NOTES_MAX {
            return Err(AddNoteError::TooMany);
        }
        let (name, created_at) = (author.operator_actor().name().to_owned(), unit.clock.now());
        let note = StaffNote { number, author: name, text: text.clone(), created_at };
        staff_notes::insert(conn, business, &note).await?;
        // The log does not have the text.
        let event = AuditEvent::new(Action::StaffNoteAdded)
            .on(Target::new(TargetKind::Business, business))
            .with("number", number);
        let parts = (&unit.clock, &unit.entropy);
        write_operator_audit(conn, parts, Some(business), author, &event).await?;
        Ok(note)
    };
    unit.database.transaction(add).await
}
