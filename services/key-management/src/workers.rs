//! What goes on in the background: ending graces, and writing when keys were last used.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::commands;

/// A revocation takes effect within a second (`design.md` §5), and so does the end of a grace.
const END_GRACES_EVERY: Duration = Duration::from_millis(500);
const NOTE_USES_EVERY: Duration = Duration::from_secs(3);

pub(crate) async fn end_graces(app: App, stop: CancellationToken) {
    while !stopped_within(&stop, END_GRACES_EVERY).await {
        if let Err(error) = commands::end_graces(&app).await {
            tracing::warn!(%error, "ended graces were not recorded yet");
        }
    }
}

/// Writes once more when the service stops.
pub(crate) async fn note_uses(app: App, stop: CancellationToken) {
    loop {
        let stopping = stopped_within(&stop, NOTE_USES_EVERY).await;
        if let Err(error) = commands::note_uses(&app).await {
            tracing::warn!(%error, "the last uses of keys were not written yet");
        }
        if stopping {
            return;
        }
    }
}

async fn stopped_within(stop: &CancellationToken, wait: Duration) -> bool {
    tokio::time::timeout(wait, stop.cancelled()).await.is_ok()
}
