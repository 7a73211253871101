//! Creates the one delivery of an order, with the sync record of SPECIFICATION §3.3 in the shop's own table of orders.
//!
//! `not_started`, `failed` → `creating` → `created`, or `failed`. `waybill-client` decides what an attempt does; this
//! module is its store. A lease of 60 s is longer than any request.

use chrono::TimeDelta;
use domain::Mode;
use waybill_client::{Claim, Delivery, OrderBody, OrderSync, SyncError, SyncRecord, SyncStore, sha256_of};

use crate::store::orders;
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
        tokio::spawn(async move { shop.ensure(&id).await }).await?
    }

    async fn ensure(&self, id: &LocalOrderId) -> Result<SyncOutcome, ShopError> {
        let settings = &self.inner.settings;
        let client = self.inner.client.with_key(self.api_key().expose())?;
        let mode = match client.mode() {
            waybill_client::Mode::Test => Mode::Test,
            waybill_client::Mode::Live => Mode::Live,
        };
        let sync = OrderSync::new(client, Records { shop: self, mode }, settings.name.as_str())?;
        let sync = sync.with_lease(settings.lease())?;
        let outcome = sync.ensure(id.as_str(), || self.body_of(id)).await?;
        if let waybill_client::SyncOutcome::Failed { error, .. } = &outcome {
            tracing::warn!(order = %id, code = error.code, "delivery not created");
        } else {
            tracing::info!(order = %id, outcome = outcome.status(), "delivery ensured");
        }
        self.newest(id, outcome).await
    }

    async fn body_of(&self, id: &LocalOrderId) -> Result<OrderBody, ShopError> {
        let body = self.read(async |conn| orders::body(conn, id).await).await?;
        body.map(OrderBody::from_json).ok_or_else(|| ShopError::UnknownOrder(id.clone()))
    }

    /// A webhook can arrive before the response to the request that caused it, with a newer status.
    async fn newest(
        &self,
        id: &LocalOrderId,
        outcome: waybill_client::SyncOutcome,
    ) -> Result<SyncOutcome, ShopError> {
        use waybill_client::SyncOutcome as Outcome;
        let stored = self.order(id).await?.and_then(|order| order.delivery);
        let newest = |answered: Delivery| stored.unwrap_or_else(|| answered.into());
        Ok(match outcome {
            Outcome::Created(delivery) => SyncOutcome::Created(newest(delivery)),
            Outcome::Recovered(delivery) => SyncOutcome::Recovered(newest(delivery)),
            Outcome::AlreadyCreated(delivery) => SyncOutcome::AlreadyCreated(newest(delivery)),
            Outcome::InProgress => SyncOutcome::InProgress,
            Outcome::Failed { error, cause } => SyncOutcome::Failed {
                status: cause.as_ref().and_then(|cause| Some(cause.api()?.status)),
                code: cause.map(|cause| cause.code().to_owned()),
                message: error.message,
            },
        })
    }
}

/// The sync records, which are part of the shop's orders. The shop keeps each order's body. An order that a Test key has
/// sent counts as not sent once the shop has a Live key; a Test key never replaces a live record.
struct Records<'a> {
    shop: &'a Shop,
    mode: Mode,
}

impl SyncStore for Records<'_> {
    type Error = ShopError;

    async fn claim(&self, id: &str, _: &str, _: i64, _: i64) -> Result<Option<Claim>, ShopError> {
        let (id, now) = (LocalOrderId::parse(id)?, self.shop.inner.clock.now());
        let abandoned = now - self.lease();
        self.shop.read(async |conn| orders::claim(conn, &id, self.mode, now, abandoned).await).await
    }

    async fn created(&self, id: &str, delivery: &Delivery, _: &str) -> Result<(), ShopError> {
        let (id, details) = (LocalOrderId::parse(id)?, DeliveryDetails::from(delivery.clone()));
        // Another attempt or a webhook may have stored it.
        let _is_new =
            self.shop.read(async |conn| orders::save_created(conn, &id, self.mode, &details).await).await?;
        Ok(())
    }

    async fn failed(&self, id: &str, attempt: i64, error: &SyncError, _: bool) -> Result<bool, ShopError> {
        let id = LocalOrderId::parse(id)?;
        self.shop.read(async |conn| orders::save_failed(conn, &id, attempt, &error.message).await).await
    }

    async fn get(&self, id: &str) -> Result<Option<SyncRecord>, ShopError> {
        let id = LocalOrderId::parse(id)?;
        let Some(order) = self.shop.order(&id).await? else { return Ok(None) };
        if self.mode == Mode::Live && order.mode == Some(Mode::Test) {
            return Ok(None);
        }
        let status = match order.sync_status {
            SyncStatus::NotStarted => return Ok(None),
            SyncStatus::Creating => waybill_client::SyncStatus::Creating,
            SyncStatus::Created => waybill_client::SyncStatus::Created,
            SyncStatus::Failed => waybill_client::SyncStatus::Failed,
        };
        let body = self.shop.body_of(&id).await?;
        let until = order.last_attempt_at.map_or(0, |at| (at + self.lease()).timestamp_millis());
        Ok(Some(SyncRecord {
            status,
            body_sha256: sha256_of(body.as_str()),
            body: Some(body.as_str().to_owned()),
            // A claim compares with microseconds; the millisecond in which the lease ends still belongs to it.
            lease_until_ms: until + 1,
            delivery: order.delivery.map(Into::into),
            error: order.sync_error.map(|message| SyncError { code: String::new(), message }),
        }))
    }
}

impl Records<'_> {
    fn lease(&self) -> TimeDelta {
        TimeDelta::seconds(i64::from(self.shop.inner.settings.lease_seconds))
    }
}

impl From<Delivery> for DeliveryDetails {
    fn from(Delivery { id, tracking_code, tracking_url, status }: Delivery) -> Self {
        Self { service_order_id: id, tracking_code, tracking_url, status }
    }
}

impl From<DeliveryDetails> for Delivery {
    fn from(details: DeliveryDetails) -> Self {
        let DeliveryDetails { service_order_id: id, tracking_code, tracking_url, status } = details;
        Self { id, tracking_code, tracking_url, status }
    }
}
