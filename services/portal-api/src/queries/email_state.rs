//! The e-mail address of a user, and the change that they requested.

use postgres::StoreError;

use crate::domain::{EmailState, Session};
use crate::state::State;
use crate::store::{email_confirmations, users};

/// `None` if the user no longer exists.
pub(crate) async fn of_user(state: &State, session: &Session) -> Result<Option<EmailState>, StoreError> {
    let (business, user, now) = (session.business, session.user, state.unit.clock.now());
    state
        .unit
        .database
        .read(async |conn| {
            let Some(account) = users::find(conn, business, user).await? else { return Ok(None) };
            let pending = email_confirmations::pending_change(conn, (business, user), now).await?;
            Ok(Some(EmailState { email: account.email, verified: account.email_verified, pending }))
        })
        .await
}
