//! Rules about owners that several use cases share.

use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use postgres::StoreError;

use crate::audit::domain::{Actor, Author};
use crate::domain::Role;
use crate::mail::Mail;
use crate::state::State;
use crate::store::users;

/// Whether the author may act as an owner. Repeats the guard's check with the business's row locked, because the author may
/// have been demoted or removed since.
pub(crate) async fn is_still_owner(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    author: &Author,
) -> Result<bool, StoreError> {
    match author.actor {
        Actor::User { id, .. } => users::is_owner(conn, business, id).await,
        Actor::Operator(_) | Actor::System => Ok(true),
    }
}

/// Mails all owners.
pub(crate) async fn mail_owners(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    mail: &Mail<'_>,
) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    for owner in users::emails_of(conn, business, &[Role::Owner]).await? {
        state.mailbox.queue(conn, business, &owner, mail, now).await?;
    }
    Ok(())
}

/// Mails the other owners about a new owner, so that nobody takes over a business unnoticed.
pub(crate) async fn mail_other_owners(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    new_owner: &str,
) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let mail = Mail::NewOwner { email: new_owner };
    for owner in users::emails_of(conn, business, &[Role::Owner]).await? {
        if owner != new_owner {
            state.mailbox.queue(conn, business, &owner, &mail, now).await?;
        }
    }
    Ok(())
}
