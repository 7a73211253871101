//! Completes rotations: moves staged secrets whose time has come into place.

use std::sync::Arc;
use std::time::Duration;

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::commands::promote_staged_secrets;
use crate::state::State;

/// Not urgent: signing already uses the staged secret from its time on.
pub(crate) const ROTATION_INTERVAL: Duration = Duration::from_secs(60);

pub(crate) async fn rotate_secrets(state: Arc<State>, stop: CancellationToken) -> Result<(), StoreError> {
    promote_staged_secrets(&state, &stop).await
}
