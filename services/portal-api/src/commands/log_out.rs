//! Somebody logs out: their session ends at once, wherever its cookie still is.

use domain::RequestId;
use postgres::StoreError;

use super::write_audit;
use crate::app::App;
use crate::domain::{Act, Action, Author, Session, SessionToken, Target, TargetKind};
use crate::store::sessions;

/// A session that has ended already is no fault.
pub(crate) async fn log_out(
    app: &App,
    token: &SessionToken,
    request: Option<RequestId>,
) -> Result<(), StoreError> {
    let now = app.clock.now();
    let ended: Result<Option<Session>, StoreError> = app
        .database
        .transaction(async |conn| {
            let Some(session) = sessions::revoke(conn, token, now).await? else { return Ok(None) };
            let act = Act::new(Action::SessionClosed).on(Target::new(TargetKind::Session, session.id));
            write_audit(conn, app, session.business, &Author::of(&session, request), &act).await?;
            Ok(Some(session))
        })
        .await;
    if let Some(session) = ended? {
        tracing::info!(session_id = %session.id, "a user logged out");
    }
    Ok(())
}
