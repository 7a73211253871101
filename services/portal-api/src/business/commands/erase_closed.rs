//! Erases closed businesses whose books the law no longer keeps: their users, contact, pickup profile, notes and name, and what is
//! left of their customers' data in order-api and webhook-dispatcher (SPECIFICATION §13.7).

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::state::State;
use crate::store::{business_sso, businesses, closings, contacts, pickup_profiles, staff_notes};
use crate::team::commands::change_user::{ChangeUserError, remove_everybody};

/// The businesses of one round.
const ROUND_MAX: i64 = 10;
/// Other services keep the id.
const NAME: &str = "Erased business";

/// One round. A business that fails is tried again in the next one.
pub(crate) async fn erase_closed(state: &State) -> Result<(), StoreError> {
    let (now, database) = (state.unit.clock.now(), &state.unit.database);
    let due: Result<Vec<BusinessId>, StoreError> =
        database.read(async |conn| closings::due(conn, now, ROUND_MAX).await).await;
    for business in due? {
        // Runs in order-api. It erases nothing twice, and returns a running one.
        if let Err(error) = state.peers.orders.begin_erasure(business).await {
            tracing::warn!(%error, business_id = %business, "erasure of a closed business waits for order-api");
            continue;
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
    businesses::rename(conn, business, NAME, now).await?;
    let event = AuditEvent::new(Action::BusinessErased).on(Target::new(TargetKind::Business, business));
    Ok(write_audit(conn, state, business, &Author::system(None), &event).await?)
}
