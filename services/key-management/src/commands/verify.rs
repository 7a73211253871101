//! Finds the working key that a text is. Most calls of the integration API need this, so it writes nothing: usage times are
//! buffered in memory.

use domain::ApiKey;
use postgres::StoreError;

use crate::domain::Key;
use crate::state::State;
use crate::store;

pub(crate) enum Verified {
    Working(Box<Key>),
    /// It worked until it expired.
    Expired,
    /// Unknown or revoked.
    Invalid,
}

/// # Errors
/// When the database is unavailable: the key is then neither valid nor invalid.
pub(crate) async fn verify(state: &State, text: &str) -> Result<Verified, StoreError> {
    // A mistyped key costs no query.
    let Ok(key) = ApiKey::parse(text, &state.segment) else { return Ok(Verified::Invalid) };
    let hash = state.hasher.hash(&key);
    let found = state.unit.database.read(async |conn| store::find_by_hash(conn, &hash).await).await?;
    let now = state.unit.clock.now();
    Ok(match found {
        Some(key) if key.works_at(now) => {
            state.usage.record(key.id, now);
            Verified::Working(Box::new(key))
        }
        Some(key) if key.expired_by(now) => Verified::Expired,
        Some(_) | None => Verified::Invalid,
    })
}
