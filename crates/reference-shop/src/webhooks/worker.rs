//! Processes stored webhooks in order of arrival, one transaction each.

use std::sync::Arc;
use std::time::Duration;

use diesel_async::AsyncPgConnection;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::decide::{Progress, decide, is_for_this_shop};
use super::event::WebhookEvent;
use crate::store::{orders, webhooks};
use crate::{Shop, ShopError, WebhookOutcome};

const BATCH_MAX: i64 = 50;
/// Polls too, so that it finds a webhook whose notification was lost with another process.
const POLL_EVERY: Duration = Duration::from_secs(5);
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Runs until it is stopped, between two webhooks.
pub(super) async fn run(shop: Shop, notifier: Arc<Notify>, stopping: CancellationToken) {
    loop {
        let pause = match process_all(&shop, &stopping).await {
            Ok(()) => POLL_EVERY,
            Err(error) => {
                tracing::error!(%error, "webhook processing failed; retrying");
                RETRY_AFTER
            }
        };
        tokio::select! {
            () = stopping.cancelled() => return,
            () = notifier.notified(), if pause == POLL_EVERY => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Processes all stored webhooks. A failing webhook does not delay others; the last error is returned.
async fn process_all(shop: &Shop, stopping: &CancellationToken) -> Result<(), ShopError> {
    loop {
        let waiting = shop.read(async |conn| webhooks::waiting(conn, BATCH_MAX).await).await?;
        let mut failed = None;
        let mut done = 0;
        for event_id in &waiting {
            if stopping.is_cancelled() {
                return Ok(());
            }
            match process_one(shop, event_id).await {
                Ok(processed) => done += usize::from(processed),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) => return Err(error),
            None if done == 0 => return Ok(()),
            None => {}
        }
    }
}

async fn process_one(shop: &Shop, event_id: &str) -> Result<bool, ShopError> {
    shop.transaction(async |conn| {
        let Some(body) = webhooks::lock_waiting(conn, event_id).await? else {
            return Ok(false);
        };
        let outcome = match apply(shop, conn, &body).await? {
            Ok(()) => WebhookOutcome::Applied,
            Err(outcome) => outcome,
        };
        let saved = webhooks::save_outcome(conn, event_id, outcome, shop.inner.clock.now()).await?;
        tracing::info!(event = event_id, %outcome, "webhook processed");
        Ok(saved)
    })
    .await
}

/// The inner error is the reason for not updating an order.
async fn apply(
    shop: &Shop,
    conn: &mut AsyncPgConnection,
    body: &[u8],
) -> Result<Result<(), WebhookOutcome>, ShopError> {
    let Some(event) = WebhookEvent::parse(body) else {
        return Ok(Err(WebhookOutcome::Incomplete));
    };
    let mode = match is_for_this_shop(&event, &shop.inner.settings.modes) {
        Ok(mode) => mode,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let (reference, code) = event
        .order
        .as_ref()
        .map_or((None, None), |order| (order.order_reference.as_deref(), order.tracking_code.as_deref()));
    let order = orders::lock_by_reference_or_tracking_code(conn, reference, code).await?;
    let Progress { delivery, cod_status, sequence } = match decide(&event, mode, order.as_ref()) {
        Ok(progress) => progress,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let Some(order) = order else {
        return Ok(Err(WebhookOutcome::UnknownOrder));
    };
    // The signed event proves that the delivery exists, even if the response to the shop's request was lost. Storing
    // the details prevents a second request.
    orders::save_created(conn, &order.id, &delivery).await?;
    let saved =
        orders::save_progress(conn, &order.id, &delivery.status, cod_status.as_deref(), sequence).await?;
    Ok(if saved { Ok(()) } else { Err(WebhookOutcome::UnknownOrder) })
}
