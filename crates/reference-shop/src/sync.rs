//! Creating the one delivery of an order, with the sync record of `spec.md` §3.3.
//!
//! `not_started`, `failed` → `creating` → `created`, or `failed`. A claim is a compare-and-set in the database, so that of
//! any number of callers, in any number of processes, one sends a request.
//!
//! A process that dies while its request is under way leaves `creating` behind. After a lease (60 s, longer than any
//! request can take) the next call resumes it. Nobody knows then whether the service heard the first request, and it
//! does not matter: the resumed request carries the same Idempotency-Key and the same body, so the service answers with
//! the delivery it made the first time, if it made one. That is also why a time-out may simply be tried again.

use chrono::TimeDelta;
use domain::Mode;
use settings::Secret;

use crate::client::{Answer, Refusal};
use crate::store::orders::{self, Claim};
use crate::{DeliveryDetails, LocalOrderId, Shop, ShopError, SyncOutcome, SyncStatus};

impl Shop {
    /// Creates the delivery of one order, once: call it when the order was confirmed, and again for an order that
    /// failed, when somebody decides to (never for many orders, in a loop, or at start).
    ///
    /// The request runs to its end, and its outcome is stored, even when the caller stops waiting.
    ///
    /// # Errors
    /// When there is no such order or the shop's own database cannot be used. What goes wrong at the delivery service
    /// is [`SyncOutcome::Failed`].
    pub async fn sync_order(&self, id: &LocalOrderId) -> Result<SyncOutcome, ShopError> {
        let (shop, id) = (self.clone(), id.clone());
        tokio::spawn(async move { shop.claim_and_request(&id).await }).await?
    }

    async fn claim_and_request(&self, id: &LocalOrderId) -> Result<SyncOutcome, ShopError> {
        let api_key = self.api_key();
        let now = self.inner.clock.now();
        let lease = TimeDelta::seconds(i64::from(self.inner.settings.lease_seconds));
        let claim = self
            .read(async |conn| orders::claim(conn, id, mode_of(&api_key), now, now - lease).await)
            .await?;
        let Some(Claim { attempt, body }) = claim else {
            return self.outcome_without_request(id).await;
        };
        let idempotency_key = format!("{}-{id}", self.inner.settings.name);
        // No connection is held while the delivery service takes its time.
        let answer = self.inner.service.create_order(&api_key, &idempotency_key, id, body).await;
        let outcome = self.save(id, attempt, answer).await?;
        match &outcome {
            SyncOutcome::Failed { status, code, .. } => {
                tracing::warn!(order = %id, attempt, status, code, "the delivery was not created");
            }
            _ => tracing::info!(order = %id, attempt, "the delivery is created"),
        }
        Ok(outcome)
    }

    async fn save(&self, id: &LocalOrderId, attempt: i32, answer: Answer) -> Result<SyncOutcome, ShopError> {
        match answer {
            // Any attempt's success is the truth, even that of an attempt whose lease has ended.
            Answer::Created(delivery) => {
                let saved = self.read(async |conn| orders::save_created(conn, id, &delivery).await).await?;
                Ok(SyncOutcome::Created(self.newest_details(saved, delivery, id).await?))
            }
            Answer::Exists(delivery) => {
                let saved = self.read(async |conn| orders::save_created(conn, id, &delivery).await).await?;
                Ok(SyncOutcome::Recovered(self.newest_details(saved, delivery, id).await?))
            }
            Answer::Refused(Refusal { status, code, message }) => {
                if self.read(async |conn| orders::save_failed(conn, id, attempt, &message).await).await? {
                    return Ok(SyncOutcome::Failed { status, code, message });
                }
                // A later attempt took over, or a webhook proved meanwhile that the delivery exists.
                self.outcome_without_request(id).await
            }
        }
    }

    /// A webhook may have come before the answer to the request that caused it, with a later status.
    async fn newest_details(
        &self,
        saved: bool,
        answered: DeliveryDetails,
        id: &LocalOrderId,
    ) -> Result<DeliveryDetails, ShopError> {
        if saved {
            return Ok(answered);
        }
        Ok(self.order(id).await?.and_then(|order| order.delivery).unwrap_or(answered))
    }

    async fn outcome_without_request(&self, id: &LocalOrderId) -> Result<SyncOutcome, ShopError> {
        let order = self.order(id).await?.ok_or_else(|| ShopError::UnknownOrder(id.clone()))?;
        Ok(match (order.sync_status, order.delivery, order.sync_error) {
            (SyncStatus::Created, Some(delivery), _) => SyncOutcome::AlreadyCreated(delivery),
            // Another call's attempt ended between this one's try to claim and its look at the order.
            (SyncStatus::Failed, _, Some(message)) => {
                SyncOutcome::Failed { status: None, code: None, message }
            }
            _ => SyncOutcome::InProgress,
        })
    }
}

/// What the key itself says (`spec.md` §2.4).
fn mode_of(api_key: &Secret) -> Mode {
    if api_key.expose().starts_with("sk_test_") { Mode::Test } else { Mode::Live }
}
