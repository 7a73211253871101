//! A business requests a plan, which the operator then activates.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::{Business, Subscription};
use crate::commands::announce::announce_business_change;
use crate::state::State;
use crate::store::{businesses, refusals};

/// Returns the changed subscription; `None` for an unknown business. The request of a refused business asks the operator again.
pub(crate) async fn request_subscription(
    state: &State,
    business: BusinessId,
    author: &Author,
    plan: &str,
) -> Result<Option<Subscription>, StoreError> {
    let outcome: Result<Option<Subscription>, StoreError> = state
        .unit
        .transaction(async |conn| {
            let Some(mut found) = businesses::find_for_update(conn, business).await? else { return Ok(None) };
            let requested = found.subscription.request(plan);
            if requested != found.subscription {
                found.subscription = requested;
                let now = state.unit.clock.now();
                businesses::update(conn, &found, now).await?;
                end_standing_refusal(conn, &found, now).await?;
                announce_business_change(conn, state, business).await?;
                let target = Target::new(TargetKind::Business, business);
                let event = AuditEvent::new(Action::SubscriptionRequested).on(target).with("plan", plan);
                write_audit(conn, state, business, author, &event).await?;
            }
            Ok(Some(found.subscription))
        })
        .await;
    let subscription = outcome?;
    tracing::info!(business_id = %business, "subscription requested");
    Ok(subscription)
}

/// Without it, the request would be in no list of the operator. The caller has locked the business.
async fn end_standing_refusal(
    conn: &mut AsyncPgConnection,
    business: &Business,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    if business.awaits_operator()
        && let Some(refusal) = refusals::find(conn, business.id).await?
        && refusal.asked_again_at.is_none()
    {
        refusals::ask_again(conn, business.id, None, now).await?;
    }
    Ok(())
}
