//! A business asks for a plan; the operator makes it active.

use domain::BusinessId;
use postgres::StoreError;

use super::{announce, write_audit};
use crate::app::App;
use crate::domain::{Act, Action, Author, Subscription, Target, TargetKind};
use crate::store::businesses;

/// The subscription as it is then; `None` for an unknown business.
pub(crate) async fn request_subscription(
    app: &App,
    business: BusinessId,
    author: &Author,
    plan: &str,
) -> Result<Option<Subscription>, StoreError> {
    let outcome: Result<Option<Subscription>, StoreError> = app
        .database
        .transaction(async |conn| {
            let Some(mut found) = businesses::find_for_update(conn, business).await? else { return Ok(None) };
            let requested = found.subscription.request(plan);
            if requested != found.subscription {
                found.subscription = requested;
                businesses::update(conn, &found, app.clock.now()).await?;
                announce(conn, app, business).await?;
                let target = Target::new(TargetKind::Business, business);
                let act = Act::new(Action::SubscriptionRequested).on(target).with("plan", plan);
                write_audit(conn, app, business, author, &act).await?;
            }
            Ok(Some(found.subscription))
        })
        .await;
    let subscription = outcome?;
    app.notifier.notify();
    tracing::info!(business_id = %business, "a subscription was asked for");
    Ok(subscription)
}
