//! Businesses whose people must log in with single sign-on. Owners keep the password.

use diesel_async::AsyncPgConnection;
use domain::{AccountId, BusinessId};
use postgres::StoreError;

use crate::domain::{Membership, Role};
use crate::single_sign_on::domain::may_use_password;
use crate::state::State;
use crate::store::{business_sso, memberships};

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
pub(crate) async fn check(
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

/// The membership that the person used last, of those that the password opens. Locked until the transaction ends.
pub(crate) async fn latest_membership(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: AccountId,
) -> Result<Membership, SsoRequiredError> {
    let mut refused = None;
    for membership in memberships::lock_by_use(conn, account).await? {
        match check(conn, state, membership.business, membership.role).await {
            Ok(()) => return Ok(membership),
            Err(error @ SsoRequiredError::Store(_)) => return Err(error),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let none = || StoreError::Corrupt("an account belongs to no business".to_owned()).into();
    Err(refused.unwrap_or_else(none))
}
