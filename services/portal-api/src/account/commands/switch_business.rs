//! A person continues in another one of their businesses.

use domain::BusinessId;
use identity::accounts;
use postgres::StoreError;

use crate::account::commands::open_session::{ReplacedSession, replace_session};
use crate::audit::domain::Author;
use crate::domain::Session;
use crate::single_sign_on::commands::sso_required::{self, SsoRequiredError};
use crate::state::State;
use crate::store::memberships;

#[derive(Debug, thiserror::Error)]
pub(crate) enum SwitchError {
    #[error("the person does not belong to the business")]
    UnknownBusiness,
    #[error("the session has ended")]
    SessionEnded,
    #[error(transparent)]
    Sso(#[from] SsoRequiredError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(crate) async fn switch_business(
    state: &State,
    session: &Session,
    author: &Author,
    business: BusinessId,
) -> Result<ReplacedSession, SwitchError> {
    let switched: Result<ReplacedSession, SwitchError> = state
        .unit
        .database
        .transaction(async |conn| {
            // Removals lock the account too.
            accounts::lock(conn, session.account).await?;
            let membership = memberships::find(conn, session.account, business).await?;
            let membership = membership.ok_or(SwitchError::UnknownBusiness)?;
            sso_required::check(conn, state, business, membership.role).await?;
            let replaced = replace_session(conn, state, session, membership, author).await?;
            replaced.ok_or(SwitchError::SessionEnded)
        })
        .await;
    let switched = switched?;
    tracing::info!(
        business_id = %business,
        user_id = %switched.session.user,
        session_id = %switched.session.id,
        "user switched to another business"
    );
    Ok(switched)
}
