//! The working API keys that a user created. The user may have copied them, and they keep working after a removal.

use domain::{BusinessId, UserId};
use internal_api::keys::ApiKeyView;
use internal_api::{CallError, PageQuery};

use crate::state::State;

const PAGE: usize = 100;
/// Keys that ended are kept, so the working ones may be on later pages.
const PAGES_MAX: usize = 10;

/// Newest first. Includes keys that were rotated and are in their grace period.
///
/// # Errors
/// When key-management does not answer.
pub(crate) async fn working_keys_of_user(
    state: &State,
    business: BusinessId,
    user: UserId,
) -> Result<Vec<ApiKeyView>, CallError> {
    let now = state.unit.clock.now();
    let mut working = Vec::new();
    let mut starting_after = None;
    for _ in 0..PAGES_MAX {
        let query = PageQuery { limit: PAGE, starting_after };
        let page = state.peers.keys.list_of(business, user, &query).await?;
        starting_after = page.data.last().map(|key| key.id.to_string());
        let works = |key: &ApiKeyView| key.revoked_at.is_none() && key.expires_at.is_none_or(|end| end > now);
        working.extend(page.data.into_iter().filter(works));
        if !page.has_more {
            break;
        }
    }
    Ok(working)
}
