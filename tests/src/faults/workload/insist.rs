//! Retries a request until it is answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use demo::clients::Reply;
use demo::eventually;

/// Longer than any fault and its recovery.
const LIMIT: Duration = Duration::from_secs(90);

/// As [`insist`]. Also returns whether an earlier request was lost, because it may still be running.
pub(super) async fn insist_and_report_loss<F>(
    what: &str,
    mut send: impl FnMut() -> F,
) -> anyhow::Result<(Reply, bool)>
where
    F: Future<Output = anyhow::Result<Reply>>,
{
    let lost = AtomicBool::new(false);
    let reply = insist(what, || {
        let sent = send();
        async {
            let reply = sent.await;
            lost.fetch_or(reply.is_err(), Ordering::Relaxed);
            reply
        }
    })
    .await?;
    Ok((reply, lost.into_inner()))
}

/// Retries until the response is neither a failure nor a request to retry.
pub(super) async fn insist<F>(what: &str, mut send: impl FnMut() -> F) -> anyhow::Result<Reply>
where
    F: Future<Output = anyhow::Result<Reply>>,
{
    eventually(what, LIMIT, || {
        let sent = send();
        // A failed connection: the outcome is unknown, so the request is repeated.
        async { Ok(sent.await.ok().filter(is_final)) }
    })
    .await
}

fn is_final(reply: &Reply) -> bool {
    let status = reply.status.as_u16();
    let comes_again = matches!(reply.code(), "idempotency_in_progress" | "order_in_progress");
    status < 500 && status != 429 && !comes_again
}
