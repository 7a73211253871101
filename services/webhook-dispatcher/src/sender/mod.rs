//! Sends webhooks: claims due deliveries, calls the endpoints outside of any transaction, and records the outcomes.

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
mod in_flight;
mod loads;
mod pace;
mod recorder;
mod resolver;
mod scan;
mod test_slots;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, Mode, WebhookDeliveryId};
use outbox::Unit;
use settings::Brand;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use url::Url;
use webhook_signature::Secret;

use self::client::{Attempted, WebhookClient};
use self::exchange::Exchange;
use self::express::{Express, Handed};
use self::in_flight::{InFlight, InFlightSet};
use self::loads::Loads;
use self::recorder::Recorder;
use self::resolver::VettingResolver;
use self::test_slots::{TestSlot, TestSlots};
use self::waiting::Waiting;
use crate::domain::{NameServers, Policy, RetrySchedule, Slots, TargetRefused};
use crate::secrets::{DecryptError, SecretCipher};
use crate::store::{Lease, Outcome, Subscriber};

pub(crate) use self::client::{OUTCOMES, Webhook};
pub(crate) use self::eager_send::EagerSend;
pub(crate) use self::express::{ReadyToSend, Reservation};
pub(crate) use self::test_slots::NoTestSlot;

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
    client: WebhookClient,
    resolver: VettingResolver,
    recorder: Recorder,
    express: Express,
    in_flight: InFlightSet,
    loads: Loads,
    schedule: RetrySchedule,
    concurrency: usize,
    waiting: Waiting,
    /// The dispatch loop looks at all endpoints.
    rescan: AtomicBool,
    /// Wakes the dispatch loop.
    wake: Arc<Notify>,
    test_slots: TestSlots,
}

impl Sender {
    /// Also returns the receiving end of the express queue, for [`Sender::dispatch`].
    ///
    /// # Errors
    /// When a setting is not usable.
    pub(crate) fn new(
        unit: &Unit,
        secrets: SecretCipher,
        brand: &Brand,
        options: SenderOptions,
    ) -> anyhow::Result<(Arc<Self>, UnboundedReceiver<Handed>)> {
        let resolver = VettingResolver::new(&options.name_servers, options.policy)?;
        let exchange = Exchange::new(resolver.clone(), brand, options.timeout, options.per_endpoint)?;
        let wake = Arc::new(Notify::new());
        let (in_flight, waiting) = (InFlightSet::new(wake.clone()), Waiting::new(wake.clone()));
        let loads = Loads::new(options.per_second, i64::try_from(options.per_endpoint)?);
        let (express, ready) = Express::new(
            (in_flight.clone(), loads.clone()),
            unit.entropy.clone(),
            Slots::of(options.concurrency),
        );
        let sender = Self {
            client: WebhookClient::new(exchange, brand, secrets, unit.clock.clone())?,
            recorder: Recorder::start(unit, waiting.clone()),
            test_slots: TestSlots::of(options.concurrency),
            unit: unit.clone(),
            resolver,
            express,
            in_flight,
            loads,
            schedule: options.schedule,
            concurrency: options.concurrency,
            waiting,
            rescan: AtomicBool::new(false),
            wake,
        };
        Ok((Arc::new(sender), ready))
    }

    /// As [`VettingResolver::vet_target`].
    pub(crate) async fn vet_target(&self, url: &Url) -> Result<(), TargetRefused> {
        self.resolver.vet_target(url).await
    }

    /// To be called after a commit that made deliveries of an endpoint due at that time.
    pub(crate) fn wake_for(&self, endpoint: EndpointId, business: BusinessId, at: DateTime<Utc>) {
        self.waiting.note([(endpoint, business)], at, self.unit.clock.now());
    }

    /// The same if the endpoints are unknown.
    pub(crate) fn wake(&self) {
        self.rescan.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// The same for new deliveries. Those that wait for a slot need no wake-up: the in-flight set wakes the loop when a
    /// slot becomes free.
    pub(crate) fn wake_for_new<'a>(&self, due: impl IntoIterator<Item = &'a (EndpointId, BusinessId, Mode)>) {
        let now = self.unit.clock.now();
        let mut has_slot = false;
        for (endpoint, business, mode) in due {
            self.waiting.note_quietly([(*endpoint, *business)], now);
            let kind = (*mode, self.loads.speed(*endpoint));
            has_slot |= !self.in_flight.is_full(*endpoint, *business, kind);
        }
        if has_slot {
            self.wake.notify_one();
        }
    }

    /// To be called when deliveries were stored behind others of their orders.
    pub(crate) fn hurry_outcomes(&self) {
        self.recorder.hurry();
    }

    /// Reserves a slot for a connection test, until the slot is dropped.
    pub(crate) fn reserve_test_slot(&self, business: BusinessId) -> Result<TestSlot, NoTestSlot> {
        self.test_slots.reserve(business)
    }

    /// Counts a delivery as in flight, and renews its lease, until the result is dropped.
    pub(crate) fn track(&self, lease: Lease, endpoint: EndpointId, mode: Mode) -> InFlight {
        self.in_flight.insert(lease, endpoint, (mode, self.loads.speed(endpoint)))
    }

    /// As [`Express::reserve`].
    pub(crate) fn reserve(
        &self,
        delivery: WebhookDeliveryId,
        key: (BusinessId, Mode),
        to: &Subscriber,
    ) -> Option<Reservation> {
        self.express.reserve(delivery, key, to)
    }

    /// As [`Express::reserve_eagerly`].
    pub(crate) fn reserve_eagerly(
        &self,
        delivery: WebhookDeliveryId,
        key: (BusinessId, Mode),
        to: &Subscriber,
    ) -> Option<Reservation> {
        self.express.reserve_eagerly(delivery, key, to)
    }

    /// Sends deliveries whose reservations are committed.
    pub(crate) async fn send_now(&self, ready: Vec<ReadyToSend>) {
        let unsent = self.express.send(ready);
        if !unsent.is_empty() {
            self.release(&unsent).await;
            self.wake();
        }
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
