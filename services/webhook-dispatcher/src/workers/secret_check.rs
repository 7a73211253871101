//! Warns operators about signing secrets that no configured key decrypts.

use std::sync::Arc;
use std::time::Duration;

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use super::gauge_value;
use crate::queries;
use crate::state::State;

const INTERVAL: Duration = Duration::from_secs(10 * 60);
/// The first check must not wait long: it shows a wrong key right after a deployment.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

pub(crate) async fn check_secrets(state: Arc<State>, stop: CancellationToken) {
    let mut pause = Duration::ZERO;
    while tokio::time::timeout(pause, stop.cancelled()).await.is_err() {
        pause = match check(&state).await {
            Ok(()) => INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "checking signing secrets failed; it is retried");
                RETRY_INTERVAL
            }
        };
    }
}

async fn check(state: &State) -> Result<(), StoreError> {
    let endpoints = queries::endpoints_with_unreadable_secrets(state).await?;
    metrics::gauge!("webhook_endpoints_with_unreadable_secret").set(gauge_value(endpoints));
    if endpoints > 0 {
        tracing::warn!(
            endpoints,
            "signing secrets are encrypted with a key that is neither WAYBILL_SECRETS__KEY nor one of \
             WAYBILL_SECRETS__PREVIOUS_KEYS; their webhooks wait"
        );
    }
    Ok(())
}
