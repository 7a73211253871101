//! Endpoints that only fail: their owners are told in time, and in the end they are disabled.

use postgres::StoreError;

use super::BATCH_MAX;
use crate::announcements::announce;
use crate::app::App;
use crate::domain::{DISABLED_PERCENT, notices_due};
use crate::store::{self, Notice};

pub(super) async fn warn_and_disable(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    let limit = app.patience.disable;
    let told = app
        .database
        .transaction(async |conn| {
            let failing = store::failing_endpoints(conn, limit / 2, BATCH_MAX).await?;
            let notices: Vec<Notice> = failing
                .into_iter()
                .flat_map(|endpoint| {
                    let due = notices_due(endpoint.last_attempt_at - endpoint.failing_since, limit);
                    due.map(move |percent| Notice { endpoint: endpoint.clone(), percent })
                })
                .collect();
            let (told, troubles) = store::tell(conn, &notices, now).await?;
            announce(conn, (&app.clock, &app.entropy), troubles, now).await?;
            Ok::<_, StoreError>(told)
        })
        .await?;
    for notice in told {
        let (endpoint_id, business_id) = (notice.endpoint.id, notice.endpoint.business_id);
        if notice.percent == DISABLED_PERCENT {
            tracing::warn!(%endpoint_id, %business_id, "an endpoint that only failed was disabled");
        } else {
            let percent = notice.percent;
            tracing::warn!(%endpoint_id, %business_id, percent, "an endpoint only fails; its owner is warned");
        }
    }
    Ok(())
}
