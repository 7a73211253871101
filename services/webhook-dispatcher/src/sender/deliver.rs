//! Sends one delivery and decides its next state.

use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument;

use super::Sender;
use super::client::Webhook;
use super::express::ReadyToSend;
use super::schedule::InFlight;
use crate::domain::Failure;
use crate::store::{ClaimedDelivery, Lease, NextState, Outcome};

/// A secret that cannot be decrypted is the operator's error: it delays the delivery but uses up no attempt.
const UNREADABLE_SECRET_PAUSE: Duration = Duration::from_secs(60);

impl Sender {
    /// Sends a delivery and stores the outcome. Returns the lease if the service stops before the attempt has ended.
    pub(super) async fn deliver(&self, claimed: ClaimedDelivery, guard: InFlight) -> Option<Lease> {
        match self.give_up.run_until_cancelled(self.send(claimed, &guard)).await {
            Some(outcome) => {
                self.recorder.record(outcome).await;
                None
            }
            None => Some(guard.lease()),
        }
    }

    /// Returns the delivery if the service stops.
    pub(super) fn start(self: &Arc<Self>, ready: ReadyToSend) -> Option<ReadyToSend> {
        let sender = self.clone();
        self.tasks.start(ready, |(claimed, guard)| async move {
            let span = span_of(&claimed);
            sender.deliver(claimed, guard).instrument(span).await
        })
    }

    /// Sends a delivery. The caller stores the outcome.
    pub(super) async fn send(&self, claimed: ClaimedDelivery, guard: &InFlight) -> Outcome {
        if claimed.number == 1 {
            let lag = (self.unit.clock.now() - claimed.occurred_at).to_std().unwrap_or_default();
            metrics::histogram!("webhook_first_attempt_lag_seconds").record(lag);
        }
        if claimed.is_wanted {
            guard.spend_token();
        }
        let outcome = self.outcome_of(claimed).await;
        if let Some(attempt) = &outcome.attempt {
            guard.attempted(attempt.succeeded(), attempt.duration_ms);
        }
        outcome
    }

    async fn outcome_of(&self, claimed: ClaimedDelivery) -> Outcome {
        let mut outcome = Outcome {
            delivery: claimed.id,
            business_id: claimed.business_id,
            endpoint: claimed.endpoint_id,
            mode: claimed.mode,
            order: claimed.order_id,
            queue_order: claimed.queue_order,
            token: claimed.token,
            number: claimed.number,
            attempt: None,
            next: NextState::Discarded,
            at: self.unit.clock.now(),
            is_test: claimed.kind == domain::EventKind::WebhookTest,
            disable_reason: None,
            requested_pause: None,
        };
        if !claimed.is_wanted {
            return outcome;
        }
        let webhook = Webhook {
            endpoint: claimed.endpoint_id,
            url: &claimed.url,
            secrets: &claimed.secrets,
            event: claimed.event_id,
            mode: claimed.mode,
            body: claimed.body,
        };
        let attempted = self.client.attempt(webhook).await;
        outcome.at = self.unit.clock.now();
        match attempted {
            Err(error) => {
                tracing::error!(%error, "decrypting a signing secret failed; check WAYBILL_SECRETS__KEY");
                outcome.next = NextState::Retry(UNREADABLE_SECRET_PAUSE);
            }
            Ok(attempted) => {
                outcome.disable_reason = attempted.disable_reason();
                outcome.requested_pause = attempted.requested_pause();
                outcome.next = match &attempted.failure {
                    None => NextState::Succeeded,
                    // The owner waits for the test's result, so it is not retried.
                    Some(_) if outcome.is_test => NextState::Failed,
                    Some(failure) => {
                        log_failure(failure);
                        let jitter = self.unit.entropy.jitter();
                        let (mode, number) = (claimed.mode, claimed.number_in_schedule);
                        match self.retries.next_attempt(mode, number, attempted.retry_after, jitter) {
                            Some(delay) => NextState::Retry(delay),
                            None => NextState::Failed,
                        }
                    }
                };
                outcome.attempt = Some(attempted.attempt);
            }
        }
        outcome
    }
}

/// In the trace of the event: a webhook can be followed back to the API call that caused it.
pub(super) fn span_of(claimed: &ClaimedDelivery) -> tracing::Span {
    let span = tracing::info_span!(
        "webhook",
        delivery_id = %claimed.id,
        event_id = %claimed.event_id,
        endpoint_id = %claimed.endpoint_id,
        business_id = %claimed.business_id,
        attempt = claimed.number,
        trace_id = tracing::field::Empty,
    );
    if let Some(trace) = &claimed.trace {
        trace.set_as_parent_of(&span);
    }
    if let Some(trace_id) = telemetry::trace_id(&span) {
        span.record("trace_id", trace_id);
    }
    span
}

/// Logs only the kind of failure: a URL's path may contain a secret, and a host name is the owner's private matter.
fn log_failure(failure: &Failure) {
    match failure {
        Failure::Status(status) | Failure::Redirect(status) => {
            tracing::info!(status, "webhook not accepted")
        }
        Failure::Timeout(_) => tracing::info!("webhook timed out"),
        Failure::Proxy(fault) => tracing::warn!(%fault, "webhook proxy failed"),
        Failure::Refused(_) => tracing::warn!("webhook not sent: its target is not allowed"),
        _ => tracing::info!("webhook endpoint unreachable"),
    }
}
