//! Creates the one delivery of a local order, however often and from however many processes it is asked for.
//!
//! A process that dies during its call leaves `creating` behind. When its lease has ended, the next call repeats the
//! request with the same key and body, so the service returns the delivery that it created, if any.

use std::time::Duration;

use serde_json::Value;

use crate::orders::check_idempotency_key;
use crate::sync_store::sha256_of;
use crate::{
    ApiError, Claim, Delivery, Error, ExistingOrder, OrderBody, Result, SyncError, SyncStatus, SyncStore,
    Waybill,
};

/// How much longer than the client's deadline a lease is: time to store the outcome.
const LEASE_MARGIN: Duration = Duration::from_secs(30);
const LEASE_MARGIN_MIN: Duration = Duration::from_secs(1);

/// The service has not accepted this body, so the next attempt may send a corrected one. Otherwise it repeats it.
const BODY_REFUSED: [u16; 5] = [400, 402, 413, 415, 422];

/// The result of [`OrderSync::ensure`].
#[derive(Clone, Debug, PartialEq)]
pub enum SyncOutcome {
    /// This call created the delivery.
    Created(Delivery),
    /// An earlier attempt, or another call with the reference, had created it.
    Recovered(Delivery),
    /// The record had the delivery, so nothing was sent.
    AlreadyCreated(Delivery),
    /// Another caller is at it.
    InProgress,
    /// Keep the customer's order, show the error to your staff, and call again for this one order. `cause` is missing if
    /// another caller failed.
    Failed { error: SyncError, cause: Option<Error> },
}

impl SyncOutcome {
    /// `created`, `recovered`, `already_created`, `in_progress` or `failed`.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Created(_) => "created",
            Self::Recovered(_) => "recovered",
            Self::AlreadyCreated(_) => "already_created",
            Self::InProgress => "in_progress",
            Self::Failed { .. } => "failed",
        }
    }

    pub fn delivery(&self) -> Option<&Delivery> {
        match self {
            Self::Created(delivery) | Self::Recovered(delivery) | Self::AlreadyCreated(delivery) => {
                Some(delivery)
            }
            Self::InProgress | Self::Failed { .. } => None,
        }
    }
}

/// The sync record of a website's orders: `Sync` in the other languages.
#[derive(Clone, Debug)]
pub struct OrderSync<S> {
    client: Waybill,
    store: S,
    website: String,
    lease: Duration,
}

impl<S: SyncStore> OrderSync<S> {
    /// `website`: of yours; the Idempotency-Key is `<website>-<local order id>`. Never change it. Several websites of one
    /// account need different references: an existing delivery with the order's reference counts as this order's.
    ///
    /// # Errors
    /// When the name cannot be part of a key.
    pub fn new(client: Waybill, store: S, website: impl Into<String>) -> Result<Self> {
        let lease = client.deadline() + LEASE_MARGIN;
        let sync = Self { client, store, website: website.into(), lease };
        check_idempotency_key(&sync.key_of("1"))?;
        Ok(sync)
    }

    /// With another lease: longer than the client's deadline by at least a second.
    ///
    /// # Errors
    /// When it is shorter.
    pub fn with_lease(self, lease: Duration) -> Result<Self> {
        if lease < self.client.deadline() + LEASE_MARGIN_MIN {
            return Err(Error::Argument("the lease must be longer than the client's deadline by a second"));
        }
        Ok(Self { lease, ..self })
    }

    /// Call it when the order is confirmed, and again when somebody retries a failed order. Never call it for old orders
    /// or at the start. `to_waybill` is called only if no earlier attempt may have sent a body.
    ///
    /// A dropped future is like a process that dies: the next call continues when the lease has ended. Spawn a task
    /// where callers may go away.
    ///
    /// # Errors
    /// Those of the store and of `to_waybill`, and a wrong id. Those of the call are [`SyncOutcome::Failed`].
    pub async fn ensure<B, Building>(
        &self,
        local_order_id: &str,
        to_waybill: impl FnOnce() -> Building + Send,
    ) -> Result<SyncOutcome, S::Error>
    where
        B: Into<OrderBody>,
        Building: Future<Output = Result<B, S::Error>> + Send,
    {
        let key = self.key_of(local_order_id);
        check_idempotency_key(&key)?;
        let record = self.store.get(local_order_id).await?;
        let now_ms = self.client.environment().now_ms();
        let body = match record {
            Some(record) if record.delivery.is_some() => return Ok(outcome_of(Some(record))),
            Some(record) if record.status == SyncStatus::Creating && record.lease_until_ms > now_ms => {
                return Ok(SyncOutcome::InProgress);
            }
            record => record.and_then(|record| record.body),
        };
        let body = match body {
            Some(body) => OrderBody::from_json(body),
            None => to_waybill().await?.into(),
        };
        let now_ms = self.client.environment().now_ms();
        let lease_until_ms = now_ms.saturating_add(i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX));
        let claim = self.store.claim(local_order_id, body.as_str(), now_ms, lease_until_ms).await?;
        let Some(claim) = claim else {
            // Another caller got it.
            return Ok(outcome_of(self.store.get(local_order_id).await?));
        };
        match self.client.orders.create(OrderBody::from_json(claim.body.as_str()), &key).await {
            Ok(created) => {
                let delivery = Delivery::from(created.order);
                self.store.created(local_order_id, &delivery, &sha256_of(&claim.body)).await?;
                Ok(if created.replayed {
                    SyncOutcome::Recovered(delivery)
                } else {
                    SyncOutcome::Created(delivery)
                })
            }
            Err(cause) => self.refused(local_order_id, claim, cause).await,
        }
    }

    async fn refused(
        &self,
        local_order_id: &str,
        Claim { attempt, body }: Claim,
        cause: Error,
    ) -> Result<SyncOutcome, S::Error> {
        let api = cause.api();
        if let Some(found) = api.and_then(|error| existing_order(error, &body)) {
            let delivery = Delivery::from(found.clone());
            self.store.created(local_order_id, &delivery, "").await?;
            return Ok(SyncOutcome::Recovered(delivery));
        }
        let keep_body = !api.is_some_and(|error| BODY_REFUSED.contains(&error.status));
        let error = SyncError { code: cause.code().to_owned(), message: cause.message() };
        if self.store.failed(local_order_id, attempt, &error, keep_body).await? {
            return Ok(SyncOutcome::Failed { error, cause: Some(cause) });
        }
        Ok(outcome_of(self.store.get(local_order_id).await?))
    }

    /// Whether the order differs from what was sent last, or may differ, because the delivery was recovered with a body
    /// that is unknown here. Build it with the same function as for `ensure`.
    pub async fn has_changed(
        &self,
        local_order_id: &str,
        order: impl Into<OrderBody> + Send,
    ) -> Result<bool, S::Error> {
        let sha256 = sha256_of(order.into().as_str());
        Ok(self.store.get(local_order_id).await?.is_some_and(|record| record.body_sha256 != sha256))
    }

    fn key_of(&self, local_order_id: &str) -> String {
        format!("{}-{local_order_id}", self.website)
    }
}

/// The delivery of this local order that the service has already, if the error contains it.
fn existing_order<'e>(error: &'e ApiError, body: &str) -> Option<&'e ExistingOrder> {
    let is_same = match error.code.as_str() {
        "order_reference_exists" => true,
        // After the sync record was lost, a new body may differ. Key and reference still prove that it is the same order.
        "idempotency_key_reused" => {
            let sent: Value = serde_json::from_str(body).unwrap_or_default();
            let found = error.order.as_ref()?;
            sent["orderReference"] == found.order_reference.as_str()
        }
        _ => false,
    };
    error.order.as_ref().filter(|_| is_same)
}

/// What another caller has stored.
fn outcome_of(record: Option<crate::SyncRecord>) -> SyncOutcome {
    match record {
        Some(crate::SyncRecord { delivery: Some(delivery), .. }) => SyncOutcome::AlreadyCreated(delivery),
        Some(crate::SyncRecord { status: SyncStatus::Failed, error: Some(error), .. }) => {
            SyncOutcome::Failed { error, cause: None }
        }
        _ => SyncOutcome::InProgress,
    }
}
