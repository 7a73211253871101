//! Asks for an export, and removes one.

use domain::{BusinessId, ExportId};
use identity::Realm;
use postgres::StoreError;
use serde_json::Value;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::exports::domain::{
    Export, ExportFormat, ExportKind, ExportScope, ExportState, KEPT_FOR, Progress,
};
use crate::exports::store::exports;
use crate::state::State;
use crate::store::businesses;

/// One author has at most so many exports of one business, which is a year by month. A further export replaces the oldest one that
/// has ended.
const OF_AUTHOR_MAX: usize = 12;
/// Those of all its users, and again those of the staff: at most 30 times 250 MB for a day, of which most files take a thousandth.
const OF_BUSINESS_MAX: i64 = 30;

pub(crate) struct NewExport {
    pub(crate) business: BusinessId,
    pub(crate) realm: Realm,
    pub(crate) kind: ExportKind,
    pub(crate) format: ExportFormat,
    pub(crate) filter: Value,
    pub(crate) shows_customers: bool,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateExportError {
    #[error("the business is unknown")]
    Unknown,
    #[error("the author or the business has too many exports")]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Adds the export to the queue. `details` has what else the audit log says.
pub(crate) async fn create_export(
    state: &State,
    author: &Author,
    new: NewExport,
    details: AuditEvent,
) -> Result<Export, CreateExportError> {
    let now = state.unit.clock.now();
    let export = Export {
        id: ExportId::generate(&state.unit.clock, &state.unit.entropy),
        business: new.business,
        realm: new.realm,
        author: author.key(),
        kind: new.kind,
        format: new.format,
        filter: new.filter,
        shows_customers: new.shows_customers,
        state: ExportState::Waiting,
        failure: None,
        attempts: 0,
        progress: Progress::default(),
        created_at: now,
        completed_at: None,
        expires_at: now + KEPT_FOR,
    };
    let own =
        ExportScope { realm: new.realm, business: Some(new.business), author: Some(export.author.clone()) };
    let event = event(details, &export);
    let database = &state.unit.database;
    let created: Result<(), CreateExportError> = database
        .transaction(async |conn| {
            let business = businesses::find_for_update(conn, export.business).await?;
            business.ok_or(CreateExportError::Unknown)?;
            let listed = exports::list(conn, &own, now).await?;
            if listed.len() >= OF_AUTHOR_MAX {
                let oldest = listed.iter().rev().find(|export| export.is_over());
                let oldest = oldest.ok_or(CreateExportError::TooMany)?;
                exports::remove(conn, oldest.business, oldest.id).await?;
            }
            if exports::count(conn, export.business, export.realm, now).await? >= OF_BUSINESS_MAX {
                return Err(CreateExportError::TooMany);
            }
            exports::insert(conn, &export).await?;
            write_audit(conn, state, export.business, author, &event).await?;
            Ok(())
        })
        .await;
    created?;
    state.export_waiting.notify_one();
    Ok(export)
}

/// An entry of the audit log about an export.
pub(crate) fn event(details: AuditEvent, export: &Export) -> AuditEvent {
    details
        .on(Target::new(TargetKind::Export, export.id))
        .with("kind", export.kind.to_string())
        .with("format", export.format.to_string())
}

/// The entry that somebody has fetched the file.
pub(crate) fn downloaded(export: &Export) -> AuditEvent {
    event(AuditEvent::new(Action::ExportDownloaded), export)
}

/// Cancels an export, or removes its file. False if that has already happened.
pub(crate) async fn remove_export(state: &State, export: &Export) -> Result<bool, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| exports::remove(conn, export.business, export.id).await).await
}
