//! What the service holds, and how it is put together.

use events::queues;
use std::sync::Arc;

use chassis::{Chassis, Running};
use domain::{Clock, Entropy};
use messaging::Queue;
use postgres::Database;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::commands::Intake;
use crate::consumers::{Erasures, WebhookEvents};
use crate::domain::{Places, RetrySchedule};
use crate::secrets::SecretBox;
use crate::sender::{self, Exchange, Express, InHand, Loads, Names, Recorder, Sender, Taken, TestPlaces};
use crate::settings::{Patience, Settings};
use crate::{counters, recoverer, retention, routes, secret_keeper, sweeper};

/// Events in hand at once: what waits while one transaction is under way, the next takes in.
const CONSUMER_PARALLEL: u16 = 128;
/// Nobody waits for these, and each is a transaction.
const ERASURES_PARALLEL: u16 = 2;

/// What commands, queries and workers need.
#[derive(Clone)]
pub(crate) struct App {
    pub database: Database,
    pub clock: Clock,
    pub entropy: Entropy,
    pub secrets: SecretBox,
    pub names: Names,
    pub sender: Sender,
    pub recorder: Recorder,
    pub intake: Intake,
    pub express: Express,
    pub in_hand: InHand,
    pub loads: Loads,
    pub schedule: RetrySchedule,
    pub patience: Patience,
    pub concurrency: usize,
    /// The operator's, of headers.
    pub header_prefix: String,
    /// How long the log is kept.
    pub retention_days: u32,
    /// Rung after a commit that made a delivery due.
    pub bell: Arc<Notify>,
    pub tests: TestPlaces,
}

impl App {
    /// And what is taken in to be sent at once.
    fn new(settings: &Settings, chassis: &Chassis) -> anyhow::Result<(Self, UnboundedReceiver<Taken>)> {
        let webhooks = &settings.webhooks;
        let (database, clock) = (chassis.unit.database.clone(), chassis.unit.clock.clone());
        let secrets = SecretBox::new(&settings.secrets.key, &settings.secrets.previous_keys)?;
        let names = Names::asking(&webhooks.name_servers, webhooks.policy())?;
        let exchange =
            Exchange::new(names.clone(), &settings.brand, webhooks.timeout(), webhooks.per_endpoint)?;
        let bell = Arc::new(Notify::new());
        let (in_hand, loads) = (
            InHand::new(bell.clone()),
            Loads::new(webhooks.per_second, i64::try_from(webhooks.per_endpoint)?),
        );
        let entropy = chassis.unit.entropy.clone();
        let (express, taken) = Express::new(
            (in_hand.clone(), loads.clone()),
            (clock.clone(), entropy.clone()),
            Places::of(webhooks.concurrency),
        );
        let app = Self {
            sender: Sender::new(exchange, &settings.brand, secrets.clone(), clock.clone())?,
            recorder: Recorder::start(database.clone(), clock.clone(), entropy.clone(), bell.clone()),
            intake: Intake::start(database.clone(), clock.clone(), entropy.clone(), express.clone()),
            express,
            database,
            clock,
            entropy,
            secrets,
            names,
            in_hand,
            loads,
            schedule: webhooks.retry_seconds.clone(),
            patience: webhooks.patience(),
            concurrency: webhooks.concurrency,
            header_prefix: settings.brand.header_prefix.clone(),
            retention_days: webhooks.retention_days,
            bell,
            tests: TestPlaces::of(webhooks.concurrency),
        };
        Ok((app, taken))
    }
}

/// Puts the service together.
///
/// # Errors
/// When an address cannot be bound or a setting is not usable.
pub fn start(settings: &Settings, mut chassis: Chassis) -> anyhow::Result<Running> {
    counters::create();
    let (app, taken) = App::new(settings, &chassis)?;
    chassis.relay();
    chassis.consume(
        "events",
        Queue::shared(queues::WEBHOOK_EVENTS),
        CONSUMER_PARALLEL,
        WebhookEvents(app.clone()),
    );
    chassis.consume("erasures", Queue::shared(queues::ERASURES), ERASURES_PARALLEL, Erasures(app.clone()));
    chassis.worker("dispatch", |stop| sender::dispatch(app.clone(), taken, stop));
    chassis.worker("renew-leases", |stop| sender::renew_leases(app.clone(), stop));
    chassis.worker("sweep", |stop| sweeper::sweep(app.clone(), stop));
    chassis.worker("keep-secrets", |stop| secret_keeper::keep(app.clone(), stop));
    chassis.worker("keep-the-log", |stop| retention::keep(app.clone(), stop));
    chassis.worker("recover", |stop| recoverer::recover(app.clone(), stop));
    let tasks = chassis.tasks.clone();
    chassis.start(routes::internal(app, settings.internal.clone(), tasks))
}
