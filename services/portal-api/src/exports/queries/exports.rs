//! The exports that a caller sees, and their files.

use domain::{BusinessId, ExportId};
use postgres::StoreError;

use crate::exports::domain::{Export, ExportScope};
use crate::exports::store::exports;
use crate::state::State;

/// Newest first.
pub(crate) async fn list(state: &State, scope: &ExportScope) -> Result<Vec<Export>, StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.read(async |conn| exports::list(conn, scope, now).await).await
}

pub(crate) async fn find(
    state: &State,
    scope: &ExportScope,
    id: ExportId,
) -> Result<Option<Export>, StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.read(async |conn| exports::find(conn, scope, id, now).await).await
}

/// A part of a file.
pub(crate) async fn chunk(
    state: &State,
    business: BusinessId,
    id: ExportId,
    position: i32,
) -> Result<Option<Vec<u8>>, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| exports::chunk(conn, business, id, position).await).await
}
