//! Finds the working key that a text is. Most calls of the integration API need this, so it writes nothing: usage times are
//! buffered in memory.

use domain::ApiKey;
use postgres::StoreError;

use crate::domain::Key;
use crate::state::State;
use crate::store;

/// # Errors
/// When the database is unavailable: the key is then neither valid nor invalid.
pub(crate) async fn verify(state: &State, text: &str) -> Result<Option<Key>, StoreError> {
    // A mistyped key costs no query.
    let Ok(key) = ApiKey::parse(text, &state.segment) else { return Ok(None) };
    let hash = state.hasher.hash(&key);
    let found = state.unit.database.read(async |conn| store::find_by_hash(conn, &hash).await).await?;
    let now = state.unit.clock.now();
    let working = found.filter(|key| key.works_at(now));
    if let Some(key) = &working {
        state.usage.record(key.id, now);
    }
    Ok(working)
}
