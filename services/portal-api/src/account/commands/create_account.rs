//! A person gets an account with their first membership.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, UserId};
use identity::accounts::{self, NewAccount};
use postgres::StoreError;

use crate::domain::{Role, UserAccount};
use crate::state::State;
use crate::store::memberships::{self, NewMembership};

/// `None` if the e-mail address already has an account.
pub(crate) async fn with_membership(
    conn: &mut AsyncPgConnection,
    state: &State,
    new: &NewAccount<'_>,
    (business, role): (BusinessId, Role),
) -> Result<Option<UserAccount>, StoreError> {
    if !accounts::insert(conn, new).await? {
        return Ok(None);
    }
    let user = UserId::generate(&state.unit.clock, &state.unit.entropy);
    let (account, created_at) = (new.id, new.created_at);
    memberships::insert(conn, &NewMembership { user, business, account, role, created_at }).await?;
    Ok(Some(UserAccount {
        account,
        user,
        business,
        email: new.email.as_str().to_owned(),
        email_verified: new.email_verified_at.is_some(),
    }))
}
