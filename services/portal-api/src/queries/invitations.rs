//! Open invitations.

use domain::{BusinessId, InvitationId};
use postgres::StoreError;

use crate::domain::{Invitation, LinkToken};
use crate::state::State;
use crate::store::invitations;

/// Newest first. See [`invitations::list`].
pub(crate) async fn list(
    state: &State,
    business: BusinessId,
    limit: usize,
    after: Option<InvitationId>,
) -> Result<Option<Vec<Invitation>>, StoreError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    database.read(async |conn| invitations::list(conn, business, limit, after, now).await).await
}

/// The invitation of a link, with the name of the business.
pub(crate) async fn find(
    state: &State,
    token: &LinkToken,
) -> Result<Option<(Invitation, String)>, StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.read(async |conn| invitations::find(conn, token, now).await).await
}
