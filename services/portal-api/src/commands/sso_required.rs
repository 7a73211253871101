//! Businesses whose people must log in with single sign-on. Owners keep the password.

use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use postgres::StoreError;

use crate::domain::{Role, may_use_password};
use crate::state::State;
use crate::store::business_sso;

#[derive(Debug, thiserror::Error)]
pub(crate) enum SsoRequiredError {
    #[error("the business requires single sign-on")]
    Required {
        /// The page of the log-in.
        log_in_url: String,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// To be called before a session is opened with a password.
pub(super) async fn check(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    role: Role,
) -> Result<(), SsoRequiredError> {
    let is_required = state.business_sso.is_available() && business_sso::is_required(conn, business).await?;
    if may_use_password(role, is_required) {
        return Ok(());
    }
    Err(SsoRequiredError::Required { log_in_url: state.business_sso.log_in_url(business) })
}
