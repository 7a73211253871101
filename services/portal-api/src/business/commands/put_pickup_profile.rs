//! A business sets its pickup profile.

use domain::BusinessId;
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::PickupProfile;
use crate::commands::announce::announce_business_change;
use crate::state::State;
use crate::store::pickup_profiles;

/// Stores the profile, and announces it if it has changed.
pub(crate) async fn put_pickup_profile(
    state: &State,
    business: BusinessId,
    author: &Author,
    profile: &PickupProfile,
) -> Result<(), StoreError> {
    let outcome: Result<(), StoreError> = state
        .unit
        .transaction(async |conn| {
            if pickup_profiles::find(conn, business).await?.as_ref() == Some(profile) {
                return Ok(());
            }
            pickup_profiles::put(conn, business, profile, state.unit.clock.now()).await?;
            let target = Target::new(TargetKind::Business, business);
            let event = AuditEvent::new(Action::PickupProfileChanged).on(target);
            write_audit(conn, state, business, author, &event).await?;
            announce_business_change(conn, state, business).await
        })
        .await;
    outcome?;
    tracing::info!(business_id = %business, "pickup profile saved");
    Ok(())
}
