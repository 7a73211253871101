//! The last uses of keys, gathered in memory, are written.

use postgres::StoreError;

use crate::app::App;
use crate::store;

/// At most this many in one statement.
const BATCH_MAX: usize = 500;

/// # Errors
/// When the database is away; what is unwritten stays in memory for the next time.
pub(crate) async fn note_uses(app: &App) -> Result<(), StoreError> {
    let uses = app.last_uses.take();
    for (index, batch) in uses.chunks(BATCH_MAX).enumerate() {
        let written = app.database.transaction(async |conn| store::note_uses(conn, batch).await).await;
        if let Err(error) = written {
            app.last_uses.put_back(&uses[index * BATCH_MAX..]);
            return Err(error);
        }
    }
    Ok(())
}
