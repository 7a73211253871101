//! A business says where its parcels are picked up.

use domain::BusinessId;
use internal_api::ordering::PickupProfile;
use postgres::StoreError;

use super::{announce, write_audit};
use crate::app::App;
use crate::domain::{Act, Action, Author, Target, TargetKind};
use crate::store::pickup_profiles;

/// Keeps the profile, which is complete, and tells the others unless it is what they know already.
pub(crate) async fn put_pickup_profile(
    app: &App,
    business: BusinessId,
    author: &Author,
    profile: &PickupProfile,
) -> Result<(), StoreError> {
    let outcome: Result<(), StoreError> = app
        .database
        .transaction(async |conn| {
            if pickup_profiles::find(conn, business).await?.as_ref() == Some(profile) {
                return Ok(());
            }
            pickup_profiles::put(conn, business, profile, app.clock.now()).await?;
            let act = Act::new(Action::PickupProfileChanged).on(Target::new(TargetKind::Business, business));
            write_audit(conn, app, business, author, &act).await?;
            announce(conn, app, business).await
        })
        .await;
    outcome?;
    app.notifier.notify();
    tracing::info!(business_id = %business, "a pickup profile was written");
    Ok(())
}
