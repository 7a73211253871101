//! Creates the one delivery of a local order, however often and from however many processes it is asked for.
//!
//! A process that dies during its call leaves `creating` behind. When its lease has ended, the next call repeats the
//! request with the same key and body, so the service returns the delivery that it created, if any.

use std::time::Duration;

use serde_json::Value;

use crate::orders::check_idempotency_key;
use crate::sync_store::sha256_of;
use crate::{
    ApiError, Claim, Delivery, Error, ExistingOrder, OpenRecord, OrderBody, Result, SyncError, SyncRecord,
    SyncStatus, SyncStore, Waybill,
};

/// How much longer than the client's deadline a lease is: time to store the outcome.
const LEASE_MARGIN: Duration = Duration::from_secs(30);
const LEASE_MARGIN_MIN: Duration = Duration::from_secs(1);

/// The service has not accepted this body, so the next attempt may send a corrected one. Otherwise it repeats it.
const BODY_REFUSED: [u16; 5] = [400, 402, 413, 415, 422];

/// Between the attempts of [`OrderSync::retry_due`]: growing, for about half a day.
const RETRY_MIN: Duration = Duration::from_secs(30);
const RETRY_MAX: Duration = Duration::from_secs(3_600);
const RETRIES_MAX: i64 = 20;
const DUE_MAX: u32 = 100;

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
    /// Keep the customer's order, show the error to your staff, and call again for this one order. `retry_after`:
    /// [`OrderSync::retry_due`] repeats it then, because the service was busy or unreachable; without it, a person has to do
    /// something first. `cause` is missing if another caller failed.
    Failed { error: SyncError, retry_after: Option<Duration>, cause: Option<Error> },
}

impl SyncOutcome {
    /// Whether [`OrderSync::retry_due`] repeats it.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Failed { retry_after: Some(_), .. })
    }

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
    recover_other_body: bool,
}

impl<S: SyncStore> OrderSync<S> {
    /// `website`: of yours; the Idempotency-Key is `<website>-<local order id>`. Never change it. Several websites of one
    /// account need different references: an existing delivery with the order's reference counts as this order's.
    ///
    /// # Errors
    /// When the name cannot be part of a key.
    pub fn new(client: Waybill, store: S, website: impl Into<String>) -> Result<Self> {
        let lease = client.deadline() + LEASE_MARGIN;
        let sync = Self { client, store, website: website.into(), lease, recover_other_body: true };
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

    /// Whether a delivery that has the key or the reference is this order's if its body differs. True by default: the body may
    /// differ after the sync record was lost. With false the call fails, and its `cause` has the delivery as `order`.
    #[must_use]
    pub fn with_recover_other_body(self, recover_other_body: bool) -> Self {
        Self { recover_other_body, ..self }
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
        let now_ms = self.now_ms();
        let body = match record {
            Some(record) if record.delivery.is_some() => return Ok(self.outcome_of(Some(record))),
            Some(record) if record.status == SyncStatus::Creating && record.lease_until_ms > now_ms => {
                return Ok(SyncOutcome::InProgress);
            }
            record => record.and_then(|record| record.body),
        };
        let body = match body {
            Some(body) => OrderBody::from_json(body),
            None => to_waybill().await?.into(),
        };
        let now_ms = self.now_ms();
        let lease_until_ms = now_ms.saturating_add(millis(self.lease));
        let claim = self.store.claim(local_order_id, body.as_str(), now_ms, lease_until_ms).await?;
        let Some(claim) = claim else {
            // Another caller got it.
            return Ok(self.outcome_of(self.store.get(local_order_id).await?));
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
        let found = api.filter(|_| self.recover_other_body).and_then(|error| existing_order(error, &body));
        if let Some(found) = found {
            let delivery = Delivery::from(found.clone());
            self.store.created(local_order_id, &delivery, "").await?;
            return Ok(SyncOutcome::Recovered(delivery));
        }
        let keep_body = !api.is_some_and(|error| BODY_REFUSED.contains(&error.status));
        let error = SyncError { code: cause.code().to_owned(), message: cause.message() };
        let retry_after = retry_after(&cause, attempt);
        let retry_at_ms = retry_after.map(|pause| self.now_ms().saturating_add(millis(pause)));
        if self.store.failed(local_order_id, attempt, &error, keep_body, retry_at_ms).await? {
            return Ok(SyncOutcome::Failed { error, retry_after, cause: Some(cause) });
        }
        Ok(self.outcome_of(self.store.get(local_order_id).await?))
    }

    /// The orders without a delivery, at most `limit`, the longest untouched first, to show them to your staff.
    pub async fn open(&self, limit: u32) -> Result<Vec<OpenRecord>, S::Error> {
        self.store.open(limit, None).await
    }

    /// Repeats what is due, one order after the other: attempts that failed because the service was busy or unreachable, with
    /// growing pauses, and those of processes that died. Call it from a scheduled job, or use [`OrderSync::work`]. `report`
    /// gets each outcome, and the error of an order whose call failed, for instance in `to_waybill`.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub async fn retry_due<B, Building>(
        &self,
        to_waybill: impl Fn(String) -> Building + Send + Sync,
        report: impl Fn(&str, Result<SyncOutcome, S::Error>) + Send + Sync,
    ) -> Result<(), S::Error>
    where
        B: Into<OrderBody>,
        Building: Future<Output = Result<B, S::Error>> + Send,
    {
        for due in self.store.open(DUE_MAX, Some(self.now_ms())).await? {
            let id = due.local_order_id;
            let outcome = self.ensure(&id, || to_waybill(id.clone())).await;
            report(&id, outcome);
        }
        Ok(())
    }

    /// Calls [`OrderSync::retry_due`] again and again: spawn it as a task. Several processes may do so at once. `report` gets
    /// an empty id if the records cannot be read.
    pub async fn work<B, Building>(
        &self,
        every: Duration,
        to_waybill: impl Fn(String) -> Building + Send + Sync,
        report: impl Fn(&str, Result<SyncOutcome, S::Error>) + Send + Sync,
    ) where
        B: Into<OrderBody>,
        Building: Future<Output = Result<B, S::Error>> + Send,
    {
        loop {
            if let Err(error) = self.retry_due(&to_waybill, &report).await {
                report("", Err(error));
            }
            self.client.environment().sleep(every).await;
        }
    }

    fn now_ms(&self) -> i64 {
        self.client.environment().now_ms()
    }

    /// What another caller has stored.
    fn outcome_of(&self, record: Option<SyncRecord>) -> SyncOutcome {
        match record {
            Some(SyncRecord { delivery: Some(delivery), .. }) => SyncOutcome::AlreadyCreated(delivery),
            Some(SyncRecord { status: SyncStatus::Failed, error: Some(error), retry_at_ms, .. }) => {
                let left = |at: i64| Duration::from_millis(u64::try_from(at - self.now_ms()).unwrap_or(0));
                SyncOutcome::Failed { error, retry_after: retry_at_ms.map(left), cause: None }
            }
            _ => SyncOutcome::InProgress,
        }
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

/// The pause after an attempt that failed by itself; `None` if a person decides.
fn retry_after(cause: &Error, attempt: i64) -> Option<Duration> {
    if !cause.is_transient() || attempt >= RETRIES_MAX {
        return None;
    }
    let doublings = u32::try_from(attempt - 1).unwrap_or(0);
    let growing = RETRY_MIN.saturating_mul(2_u32.saturating_pow(doublings)).min(RETRY_MAX);
    Some(growing.max(cause.api().and_then(|error| error.retry_after).unwrap_or_default()))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
