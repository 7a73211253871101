//! Somebody logs out: their session ends at once, wherever its cookie still is.

use postgres::StoreError;

use crate::app::App;
use crate::domain::SessionToken;
use crate::store::sessions;

/// A session that has ended already is no fault.
pub(crate) async fn log_out(app: &App, token: &SessionToken) -> Result<(), StoreError> {
    let now = app.clock.now();
    let ended = app.database.read(async |conn| sessions::revoke(conn, token, now).await).await?;
    if let Some(session_id) = ended {
        tracing::info!(%session_id, "a user logged out");
    }
    Ok(())
}
