//! The requester fetches an approved password reset link. The link is created now: before, no secret of it exists.

use chrono::{DateTime, Utc};
use domain::ApprovalId;
use identity::LinkToken;

use crate::account::commands::reset_password::issue;
use crate::approvals::commands::decide_approval::{DecideError, business_of, load};
use crate::approvals::domain::ProtectedAction;
use crate::approvals::store::approvals;
use crate::audit::domain::Author;
use crate::console::commands::staff::still_may;
use crate::domain::OperatorActor;
use crate::state::State;
use crate::store::{memberships, user_accounts};

/// Only once. The person who approved must still be allowed to.
pub(crate) async fn fetch_reset_link(
    state: &State,
    author: &Author,
    id: ApprovalId,
) -> Result<(LinkToken, DateTime<Utc>), DecideError> {
    let now = state.unit.clock.now();
    let issued: Result<_, DecideError> = state
        .unit
        .database
        .transaction(async |conn| {
            let (before, by) = load(conn, state, author, id).await?;
            let approver = before
                .decision
                .as_ref()
                .map(|decision| OperatorActor::Person { id: decision.by, email: decision.email.clone() });
            let approver_may = match &approver {
                Some(approver) => still_may(conn, state, approver, before.kind().permission()).await?,
                None => false,
            };
            let after = before.fetch_link(&by, approver_may, now)?;
            let ProtectedAction::IssueResetLink { user_id } = after.action else {
                return Err(DecideError::Unknown);
            };
            let account = memberships::account_of(conn, (business_of(&after)?, user_id)).await?;
            let account = account.ok_or(DecideError::UserRemoved)?;
            let account = user_accounts::of(conn, account).await?.ok_or(DecideError::UserRemoved)?;
            approvals::update(conn, &after).await?;
            Ok(issue(conn, state, author, &account, now).await?)
        })
        .await;
    let issued = issued?;
    state.mailbox.wake_sender();
    tracing::info!(approval_id = %id, "approved password reset link fetched");
    Ok(issued)
}
