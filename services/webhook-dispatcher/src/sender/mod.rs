//! Sends webhooks: claims due deliveries, calls the endpoints outside of any transaction, and records the outcomes.

mod claim;
mod client;
mod connector;
mod deliver;
mod eager;
mod eager_send;
mod exchange;
mod express;
mod failures;
mod headers;
mod proxy;
mod recorder;
mod run;
mod scan;
mod schedule;
mod tasks;

use std::sync::Arc;
use std::time::Duration;

use domain::{BusinessId, EndpointId, Mode};
use outbound::{NameServers, Policy, TargetRefused, VettingResolver};
use outbox::Unit;
use postgres::Database;
use settings::Brand;
use strum::VariantArray;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use url::Url;
use webhook_signature::Secret;

use self::client::{Attempted, WebhookClient};
use self::connector::Connector;
use self::exchange::Exchange;
use self::recorder::Recorder;
use self::schedule::{InFlight, Limits, Schedule, TestSlot};
use self::tasks::Tasks;
use crate::domain::RetrySchedule;
use crate::secrets::{DecryptError, SecretCipher};
use crate::store::{Lease, Outcome, Recorded};

pub(crate) use self::client::{OUTCOMES, Webhook};
pub(crate) use self::eager_send::EagerSend;
pub(crate) use self::express::{ReadyToSend, Reservation};
pub(crate) use self::proxy::{InvalidProxy, ProxyAddress};
pub(crate) use self::schedule::{Key, NoTestSlot};

/// The operator's limits and rules for sending.
pub(crate) struct SenderOptions {
    pub policy: Policy,
    pub name_servers: NameServers,
    pub proxy: Option<ProxyAddress>,
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
    /// Its own connections.
    database: Database,
    /// Identifies this instance.
    instance: i64,
    client: WebhookClient,
    resolver: VettingResolver,
    recorder: Recorder,
    schedule: Schedule,
    scan_requested: Notify,
    tasks: Tasks,
    /// The service stops, and attempts in flight had their time.
    give_up: CancellationToken,
    retries: RetrySchedule,
}

impl Sender {
    /// # Errors
    /// When a setting is not usable.
    pub(crate) fn new(
        unit: &Unit,
        database: Database,
        secrets: SecretCipher,
        brand: &Brand,
        options: SenderOptions,
    ) -> anyhow::Result<Arc<Self>> {
        let resolver = VettingResolver::new(&options.name_servers, options.policy)?;
        let connector = Connector::new(resolver.clone(), options.proxy)?;
        let exchange = Exchange::new(connector, options.timeout, options.per_endpoint);
        let limits = Limits {
            concurrency: options.concurrency,
            per_endpoint: i64::try_from(options.per_endpoint)?,
            per_second: options.per_second,
        };
        let instance = i64::from_le_bytes(unit.entropy.bytes());
        let schedule = Schedule::new(instance, limits);
        Ok(Arc::new(Self {
            client: WebhookClient::new(exchange, brand, secrets, unit.clock.clone())?,
            recorder: Recorder::start(unit, schedule.clone()),
            instance,
            unit: unit.clone(),
            database,
            resolver,
            schedule,
            scan_requested: Notify::new(),
            tasks: Tasks::new(),
            give_up: CancellationToken::new(),
            retries: options.schedule,
        }))
    }

    /// As [`VettingResolver::vet_target`].
    pub(crate) async fn vet_target(&self, url: &Url) -> Result<(), TargetRefused> {
        self.resolver.vet_target(url).await
    }

    /// To be called after a commit that makes deliveries of an endpoint due.
    pub(crate) fn wake_for(&self, key: Key) {
        for mode in Mode::VARIANTS {
            self.schedule.note(key, *mode, Duration::ZERO);
        }
    }

    /// The same if the endpoint itself was changed.
    pub(crate) fn wake_for_changed(&self, key: Key) {
        self.schedule.limit_is_unknown(key);
        self.wake_for(key);
    }

    /// The same for new ones.
    pub(crate) fn wake_for_new(&self, key: Key, mode: Mode) {
        self.schedule.note(key, mode, Duration::ZERO);
    }

    /// The same for what an outcome makes due.
    pub(crate) fn wake_for_recorded(&self, outcome: &Outcome, recorded: &Recorded) {
        self.schedule.note_recorded(outcome, recorded);
    }

    /// The same if the endpoints are unknown.
    pub(crate) fn wake(&self) {
        self.scan_requested.notify_one();
    }

    /// Whether this instance does what one of all must do.
    pub(crate) fn is_first(&self) -> bool {
        self.schedule.is_first()
    }

    /// To be called when deliveries were stored behind others of their orders.
    pub(crate) fn hurry_outcomes(&self) {
        self.recorder.hurry();
    }

    /// Reserves a slot for a connection test, until the slot is dropped.
    pub(crate) fn reserve_test_slot(&self, business: BusinessId) -> Result<TestSlot, NoTestSlot> {
        self.schedule.reserve_test(business)
    }

    /// Counts a delivery as in flight, and renews its lease, until the result is dropped.
    pub(crate) fn track(&self, lease: Lease, endpoint: EndpointId, mode: Mode) -> InFlight {
        self.schedule.insert(lease, endpoint, mode)
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
