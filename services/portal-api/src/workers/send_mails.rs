//! Sends queued mails until it is stopped.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::mail::MailSender;

/// Between two looks at the queue without a wake-up. Retries and mails of other instances have none.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Sends batch after batch while there are due mails.
pub(crate) async fn send_mails(sender: MailSender, stop: CancellationToken) {
    while !stop.is_cancelled() {
        match sender.send_batch().await {
            Ok(0) => {}
            Ok(_) => continue,
            Err(error) => tracing::warn!(%error, "sending mails failed: cannot read or write the queue"),
        }
        tokio::select! {
            () = sender.queued().notified() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = stop.cancelled() => {}
        }
    }
}
