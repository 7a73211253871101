//! Processes stored webhooks in order of arrival, one transaction each.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
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
/// The service sends no event again after 30 days.
const KEPT: TimeDelta = TimeDelta::days(31);

/// Runs until it is stopped, between two webhooks.
pub(super) async fn run(shop: Shop, notifier: Arc<Notify>, stopping: CancellationToken) {
    let mut forgotten = None;
    loop {
        let worked = match process_all(&shop, &stopping).await {
            Ok(()) => forget_daily(&shop, &mut forgotten).await,
            failed => failed,
        };
        let pause = match worked {
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

/// Processes all stored webhooks. Failing webhooks, however many, do not delay others; the last error is returned.
async fn process_all(shop: &Shop, stopping: &CancellationToken) -> Result<(), ShopError> {
    let (mut after, mut failed) = (0, None);
    loop {
        let waiting = shop.read(async |conn| webhooks::waiting(conn, after, BATCH_MAX).await).await?;
        let Some((last, _)) = waiting.last() else { break };
        after = *last;
        for (_, event_id) in &waiting {
            if stopping.is_cancelled() {
                return Ok(());
            }
            if let Err(error) = process_one(shop, event_id).await {
                failed = Some(error);
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Deletes webhooks that were processed long ago, once a day.
async fn forget_daily(shop: &Shop, forgotten: &mut Option<DateTime<Utc>>) -> Result<(), ShopError> {
    let now = shop.inner.clock.now();
    if forgotten.is_none_or(|at| now - at >= TimeDelta::days(1)) {
        shop.read(async |conn| webhooks::forget(conn, now - KEPT).await).await?;
        *forgotten = Some(now);
    }
    Ok(())
}

async fn process_one(shop: &Shop, event_id: &str) -> Result<(), ShopError> {
    shop.transaction(async |conn| {
        let Some(body) = webhooks::lock_waiting(conn, event_id).await? else {
            return Ok(());
        };
        let outcome = match apply(shop, conn, &body).await? {
            Ok(()) => WebhookOutcome::Applied,
            Err(outcome) => outcome,
        };
        webhooks::save_outcome(conn, event_id, outcome, shop.inner.clock.now()).await?;
        tracing::info!(event = event_id, %outcome, "webhook processed");
        Ok(())
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
    orders::save_created(conn, &order.id, mode, &delivery).await?;
    let saved =
        orders::save_progress(conn, &order.id, &delivery.status, cod_status.as_deref(), sequence).await?;
    Ok(if saved { Ok(()) } else { Err(WebhookOutcome::UnknownOrder) })
}
