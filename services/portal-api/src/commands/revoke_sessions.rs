//! Somebody ends sessions of their own: one of them, or all but the one at hand.

use domain::SessionId;
use postgres::StoreError;

use super::write_audit;
use crate::app::App;
use crate::domain::{Act, Action, Author, Session, Target, TargetKind};
use crate::store::sessions;

/// False when it is none of theirs, or has ended.
pub(crate) async fn revoke_session(
    app: &App,
    session: &Session,
    author: &Author,
    id: SessionId,
) -> Result<bool, StoreError> {
    let now = app.clock.now();
    let whose = (session.business, session.user);
    let act = Act::new(Action::SessionRevoked).on(Target::new(TargetKind::Session, id));
    app.database
        .transaction(async |conn| {
            let ended = sessions::revoke_one(conn, whose, id, now).await?;
            if ended {
                write_audit(conn, app, session.business, author, &act).await?;
            }
            Ok(ended)
        })
        .await
}

/// How many ended.
pub(crate) async fn revoke_others(
    app: &App,
    session: &Session,
    author: &Author,
) -> Result<usize, StoreError> {
    let now = app.clock.now();
    let whose = (session.business, session.user);
    app.database
        .transaction(async |conn| {
            let revoked = sessions::revoke_all(conn, whose, Some(session.id), now).await?;
            if revoked > 0 {
                let user = Target::new(TargetKind::User, session.user).labelled(&session.email);
                let act = Act::new(Action::SessionRevoked).on(user).with("sessions", revoked);
                write_audit(conn, app, session.business, author, &act).await?;
            }
            Ok(revoked)
        })
        .await
}
