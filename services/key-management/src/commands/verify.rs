//! Whether a text is a key that works, and whose. Asked for nearly every call of the integration API, so it writes nothing:
//! that the key was used is noted in memory.

use domain::ApiKey;
use postgres::StoreError;

use crate::app::App;
use crate::domain::Key;
use crate::store;

/// # Errors
/// When the database is away: then nothing is known of the key.
pub(crate) async fn verify(app: &App, text: &str) -> Result<Option<Key>, StoreError> {
    // A mistyped key costs no look-up.
    let Ok(key) = ApiKey::parse(text, &app.segment) else { return Ok(None) };
    let hash = app.hasher.hash(&key);
    let found = app.database.read(async |conn| store::find_by_hash(conn, &hash).await).await?;
    let now = app.clock.now();
    let good = found.filter(|key| key.works_at(now));
    if let Some(key) = &good {
        app.last_uses.note(key.id, now);
    }
    Ok(good)
}
