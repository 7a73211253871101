//! Creates the one delivery of an order, with the sync record of SPECIFICATION §3.3.
//!
//! `not_started`, `failed` → `creating` → `created`, or `failed`. A claim is a compare-and-set in the database: of
//! several concurrent callers, in any process, one sends a request.
//!
//! A process that dies during its request leaves `creating` behind. After a lease (60 s, longer than any request) the
//! next call resumes the attempt. It need not know whether the service received the first request: the resumed request
//! has the same Idempotency-Key and body, so the service returns the delivery that it created, if any. For the same
//! reason a timeout may simply be retried.

use chrono::TimeDelta;
use domain::Mode;
use settings::Secret;

use crate::client::{Answer, Refusal};
use crate::store::orders::{self, Claim};
use crate::{DeliveryDetails, LocalOrderId, Shop, ShopError, SyncOutcome, SyncStatus};

impl Shop {
    /// Creates the delivery of one order, once. Call it when the order is confirmed, and again for a failed order when
    /// somebody decides to retry it (never for many orders in a loop, and never at the start).
    ///
    /// The request completes and its result is stored even when the caller stops waiting.
    ///
    /// # Errors
    /// When the order does not exist or the shop's own database is unavailable. Errors of the delivery service are
    /// [`SyncOutcome::Failed`].
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
        // No database connection is held during the request.
        let answer = self.inner.service.create_order(&api_key, &idempotency_key, id, body).await;
        let outcome = self.save(id, attempt, answer).await?;
        match &outcome {
            SyncOutcome::Failed { status, code, .. } => {
                tracing::warn!(order = %id, attempt, status, code, "delivery not created");
            }
            _ => tracing::info!(order = %id, attempt, "delivery created"),
        }
        Ok(outcome)
    }

    async fn save(&self, id: &LocalOrderId, attempt: i32, answer: Answer) -> Result<SyncOutcome, ShopError> {
        match answer {
            // Any attempt's success counts, even after its lease has expired.
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
                // A later attempt took over, or a webhook has proved that the delivery exists.
                self.outcome_without_request(id).await
            }
        }
    }

    /// A webhook can arrive before the response to the request that caused it, with a newer status.
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
            // Another attempt ended between this call's claim and its read.
            (SyncStatus::Failed, _, Some(message)) => {
                SyncOutcome::Failed { status: None, code: None, message }
            }
            _ => SyncOutcome::InProgress,
        })
    }
}

/// The mode that the key's prefix names (SPECIFICATION §2.4).
fn mode_of(api_key: &Secret) -> Mode {
    if api_key.expose().starts_with("sk_test_") { Mode::Test } else { Mode::Live }
}
