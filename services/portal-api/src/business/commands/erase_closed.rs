//! Erases closed businesses whose books the law no longer keeps: their users, contact, pickup profile, notes and name, once all
//! other services have erased what they have of it (SPECIFICATION §13.7).

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Paise};
use internal_api::cash::CashQuery;
use internal_api::orders::ErasureView;
use internal_api::{CallError, ErasureProgress};
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::commands::complete_closing::{delete_endpoints, revoke_keys};
use crate::state::State;
use crate::store::{business_sso, businesses, closings, contacts, pickup_profiles, refusals, staff_notes};
use crate::team::commands::change_user::{ChangeUserError, remove_everybody};

/// The businesses of one round. One that waits is looked at in each round.
const ROUND_MAX: i64 = 100;
/// The calls to a service in one round. Each erases a bounded part.
const CALLS_MAX: usize = 20;
/// Other services keep the id.
const NAME: &str = "Erased business";

/// What an erasure waits for.
#[derive(Debug, thiserror::Error)]
enum Delay {
    /// Such as a payment that arrived after the closing.
    #[error("the wallet has a balance, which belongs to the business: pay it out")]
    Balance,
    /// Such as a report that arrived after the closing. What the staff writes about it is erased too.
    #[error("cash is not paid out, or has open discrepancies: settle it")]
    Cash,
    #[error("order-api erases its orders")]
    Orders,
    #[error("{0} has not erased everything yet")]
    Rest(&'static str),
    /// Also a service of release 1.0.0, which does not know the call.
    #[error(transparent)]
    Peer(#[from] CallError),
}

/// One round. A business that fails is tried again in the next one.
pub(crate) async fn erase_closed(state: &State) -> Result<(), StoreError> {
    let (now, database) = (state.unit.clock.now(), &state.unit.database);
    let due: Result<Vec<BusinessId>, StoreError> =
        database.read(async |conn| closings::due(conn, now, ROUND_MAX).await).await;
    for business in due? {
        match prepare(state, business).await {
            Ok(()) => {}
            Err(delay @ (Delay::Orders | Delay::Rest(_))) => {
                tracing::info!(%delay, business_id = %business, "erasure of a closed business continues");
                continue;
            }
            Err(delay) => {
                tracing::warn!(%delay, business_id = %business, "erasure of a closed business waits");
                continue;
            }
        }
        let erased: Result<(), ChangeUserError> =
            state.unit.transaction(async |conn| erase(conn, state, business, now).await).await;
        match erased {
            Ok(()) => tracing::info!(business_id = %business, "closed business erased"),
            Err(error) => {
                tracing::warn!(%error, business_id = %business, "erasure of a closed business failed")
            }
        }
    }
    Ok(())
}

/// Nothing is open, and all other services have erased the business.
async fn prepare(state: &State, business: BusinessId) -> Result<(), Delay> {
    if state.peers.wallet.wallet(business).await?.balance_paise != Paise::ZERO {
        return Err(Delay::Balance);
    }
    // The totals come with each page.
    let page = CashQuery { limit: Some(1), ..CashQuery::default() };
    let cash = state.peers.wallet.cash(business, &page).await?.totals;
    if cash.discrepancies != 0 || cash.outstanding_paise != Paise::ZERO {
        return Err(Delay::Cash);
    }
    let latest = state.peers.orders.latest_erasure(business).await?.erasure;
    if !latest.as_ref().is_some_and(is_whole) {
        // Returns a running one.
        state.peers.orders.begin_whole_erasure(business).await?;
        return Err(Delay::Orders);
    }
    // An instance of release 1.0.0 may have made some after the completion.
    let author = Author::system(None);
    revoke_keys(state, business, &author).await?;
    delete_endpoints(state, business, &author).await?;
    let peers = &state.peers;
    erase_rest("key-management", || peers.keys.erase_business(business)).await?;
    erase_rest("wallet", || peers.wallet.erase_business(business)).await?;
    erase_rest("webhook-dispatcher", || peers.webhooks.erase_business(business)).await
}

/// Repeats the call until the service has nothing left.
async fn erase_rest<F>(service: &'static str, call: impl Fn() -> F) -> Result<(), Delay>
where
    F: Future<Output = Result<ErasureProgress, CallError>>,
{
    for _ in 0..CALLS_MAX {
        if call().await?.complete {
            return Ok(());
        }
    }
    Err(Delay::Rest(service))
}

/// Release 1.0.0 of order-api leaves orders that are not completed.
fn is_whole(erasure: &ErasureView) -> bool {
    erasure.everything && erasure.completed_at.is_some() && erasure.not_completed == 0
}

async fn erase(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<(), ChangeUserError> {
    businesses::find_for_update(conn, business).await?.ok_or(ChangeUserError::Unknown)?;
    // Another instance may have been faster.
    if !closings::set_erased(conn, business, now).await? {
        return Ok(());
    }
    // Before the users: a log-in with the provider would create them again.
    business_sso::remove(conn, business).await?;
    remove_everybody(conn, business).await?;
    contacts::remove(conn, business).await?;
    pickup_profiles::remove(conn, business).await?;
    staff_notes::remove_all(conn, business).await?;
    // Its reason may name people.
    refusals::remove(conn, business).await?;
    businesses::rename(conn, business, NAME, now).await?;
    let event = AuditEvent::new(Action::BusinessErased).on(Target::new(TargetKind::Business, business));
    Ok(write_audit(conn, state, business, &Author::system(None), &event).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_erased_by_a_completed_erasure_of_everything_that_left_none() {
        let (requested_at, completed_at) = (DateTime::UNIX_EPOCH, Some(DateTime::UNIX_EPOCH));
        let whole = ErasureView { requested_at, erased: 1, not_completed: 0, completed_at, everything: true };
        assert!(is_whole(&whole));
        for other in [
            ErasureView { everything: false, ..whole },
            ErasureView { completed_at: None, ..whole },
            ErasureView { not_completed: 1, ..whole },
        ] {
            assert!(!is_whole(&other), "{other:?}");
        }
    }
}
