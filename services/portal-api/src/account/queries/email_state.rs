//! The e-mail address of a user, and the change that they requested.

use postgres::StoreError;

use crate::domain::{EmailState, Session};
use crate::state::State;
use crate::store::{email_confirmations, user_accounts};

/// `None` if the user no longer exists.
pub(crate) async fn of_user(state: &State, session: &Session) -> Result<Option<EmailState>, StoreError> {
    let (account, now) = (session.account, state.unit.clock.now());
    state
        .unit
        .database
        .read(async |conn| {
            let Some(found) = user_accounts::of(conn, account).await? else { return Ok(None) };
            let pending = email_confirmations::pending_change(conn, account, now).await?;
            Ok(Some(EmailState { email: found.email, verified: found.email_verified, pending }))
        })
        .await
}
