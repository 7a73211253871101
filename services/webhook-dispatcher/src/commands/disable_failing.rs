//! Warns the owners of endpoints that only fail, and disables the endpoints in the end.

use postgres::StoreError;

use crate::domain::{DISABLED_PERCENT, notices_due};
use crate::state::State;
use crate::store::{self, Notice};

/// Endpoints per run.
const BATCH_MAX: i64 = 1_000;

/// # Errors
/// When the database is unreachable.
pub(crate) async fn disable_failing(state: &State) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let limit = state.disable_after;
    let unit = &state.unit;
    let recorded = unit
        .transaction(async |conn| {
            let failing = store::failing_endpoints(conn, limit / 2, BATCH_MAX).await?;
            let notices: Vec<Notice> = failing
                .into_iter()
                .flat_map(|endpoint| {
                    let due = notices_due(endpoint.last_attempt_at - endpoint.failing_since, limit);
                    due.map(move |percent| Notice { endpoint: endpoint.clone(), percent })
                })
                .collect();
            let (recorded, announcements) = store::record_notices(conn, &notices, now).await?;
            store::announce(conn, unit, announcements, now).await?;
            Ok::<_, StoreError>(recorded)
        })
        .await?;
    for notice in recorded {
        let (endpoint_id, business_id) = (notice.endpoint.id, notice.endpoint.business_id);
        if notice.percent == DISABLED_PERCENT {
            tracing::warn!(%endpoint_id, %business_id, "endpoint disabled: every attempt failed");
        } else {
            let percent = notice.percent;
            tracing::warn!(%endpoint_id, %business_id, percent, "endpoint only fails; its owner is warned");
        }
    }
    Ok(())
}
