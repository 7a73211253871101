//! Open invitations.

use domain::{BusinessId, InvitationId};
use identity::{LinkToken, accounts};
use postgres::StoreError;

use crate::business::domain::BusinessStatus;
use crate::domain::Invitation;
use crate::state::State;
use crate::team::store::invitations;

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

/// An invitation as the holder of its link sees it.
pub(crate) struct FoundInvitation {
    pub(crate) invitation: Invitation,
    pub(crate) business_name: String,
    pub(crate) business_status: BusinessStatus,
    /// Whether the invited address has an account. Only the holder of the link learns it, who reads the mails to the address.
    pub(crate) has_account: bool,
}

pub(crate) async fn find(state: &State, token: &LinkToken) -> Result<Option<FoundInvitation>, StoreError> {
    let now = state.unit.clock.now();
    state
        .unit
        .database
        .read(async |conn| {
            let found = invitations::find(conn, token, now).await?;
            let Some((invitation, business_name, business_status)) = found else { return Ok(None) };
            let has_account = accounts::is_taken(conn, &invitation.email).await?;
            Ok(Some(FoundInvitation { invitation, business_name, business_status, has_account }))
        })
        .await
}
