//! Sends webhooks: claims due deliveries, calls the endpoints outside of any transaction, and records the outcomes.

mod capacity;
mod claim;
mod client;
mod deliver;
mod dispatch;
mod eager;
mod eager_send;
mod exchange;
mod express;
mod failures;
mod headers;
mod recorder;
mod scan;
mod tasks;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, Mode};
use outbound::{NameServers, Policy, TargetRefused, VettingResolver};
use outbox::Unit;
use settings::Brand;
use url::Url;
use webhook_signature::Secret;

use self::capacity::{Capacity, InFlight, TestSlot};
use self::client::{Attempted, WebhookClient};
use self::exchange::Exchange;
use self::recorder::Recorder;
use self::tasks::Tasks;
use crate::domain::RetrySchedule;
use crate::secrets::{DecryptError, SecretCipher};
use crate::store::{Lease, Outcome};

pub(crate) use self::capacity::NoTestSlot;
pub(crate) use self::client::{OUTCOMES, Webhook};
pub(crate) use self::eager_send::EagerSend;
pub(crate) use self::express::{ReadyToSend, Reservation};

/// The operator's limits and rules for sending.
pub(crate) struct SenderOptions {
    pub policy: Policy,
    pub name_servers: NameServers,
    /// For a whole attempt.
    pub timeout: Duration,
    pub concurrency: usize,
    /// Concurrent attempts to one endpoint.
    pub per_endpoint: usize,
    /// The rate limit of endpoints without one of their own.
    pub per_second: u32,
    pub schedule: RetrySchedule,
}

/// The entry to this subsystem, shared by commands, workers and the dispatch loop.
pub(crate) struct Sender {
    unit: Unit,
    /// Identifies this instance.
    instance: i64,
    client: WebhookClient,
    resolver: VettingResolver,
    recorder: Recorder,
    capacity: Capacity,
    tasks: Tasks,
    schedule: RetrySchedule,
}

impl Sender {
    /// # Errors
    /// When a setting is not usable.
    pub(crate) fn new(
        unit: &Unit,
        secrets: SecretCipher,
        brand: &Brand,
        options: SenderOptions,
    ) -> anyhow::Result<Arc<Self>> {
        let resolver = VettingResolver::new(&options.name_servers, options.policy)?;
        let exchange = Exchange::new(resolver.clone(), brand, options.timeout, options.per_endpoint)?;
        let per_endpoint = i64::try_from(options.per_endpoint)?;
        let capacity = Capacity::new(options.concurrency, per_endpoint, options.per_second);
        Ok(Arc::new(Self {
            client: WebhookClient::new(exchange, brand, secrets, unit.clock.clone())?,
            recorder: Recorder::start(unit, capacity.clone()),
            instance: i64::from_le_bytes(unit.entropy.bytes()),
            unit: unit.clone(),
            resolver,
            capacity,
            tasks: Tasks::new(),
            schedule: options.schedule,
        }))
    }

    /// As [`VettingResolver::vet_target`].
    pub(crate) async fn vet_target(&self, url: &Url) -> Result<(), TargetRefused> {
        self.resolver.vet_target(url).await
    }

    /// To be called after a commit that made deliveries of an endpoint due at that time.
    pub(crate) fn wake_for(&self, endpoint: EndpointId, business: BusinessId, at: DateTime<Utc>) {
        self.capacity.note([(endpoint, business)], at, self.unit.clock.now());
    }

    /// The same if the endpoints are unknown.
    pub(crate) fn wake(&self) {
        self.capacity.request_scan();
    }

    /// The same for new deliveries.
    pub(crate) fn wake_for_new<'a>(
        &self,
        due: impl IntoIterator<Item = &'a (EndpointId, BusinessId, Mode)>,
        at: DateTime<Utc>,
    ) {
        self.capacity.note_new(due, at);
    }

    /// To be called when deliveries were stored behind others of their orders.
    pub(crate) fn hurry_outcomes(&self) {
        self.recorder.hurry();
    }

    /// Reserves a slot for a connection test, until the slot is dropped.
    pub(crate) fn reserve_test_slot(&self, business: BusinessId) -> Result<TestSlot, NoTestSlot> {
        self.capacity.reserve_test(business)
    }

    /// Counts a delivery as in flight, and renews its lease, until the result is dropped.
    pub(crate) fn track(&self, lease: Lease, endpoint: EndpointId, mode: Mode) -> InFlight {
        self.capacity.insert(lease, endpoint, mode)
    }

    /// As [`WebhookClient::attempt`].
    pub(crate) async fn attempt(&self, webhook: Webhook<'_>) -> Result<Attempted, DecryptError> {
        self.client.attempt(webhook).await
    }

    /// As [`WebhookClient::send_forged`].
    pub(crate) async fn send_forged(
        &self,
        webhook: Webhook<'_>,
        other_secret: Secret,
    ) -> Result<Option<u16>, DecryptError> {
        self.client.send_forged(webhook, other_secret).await
    }

    /// As [`Recorder::record`].
    pub(crate) async fn record(&self, outcome: Outcome) -> bool {
        self.recorder.record(outcome).await
    }
}
