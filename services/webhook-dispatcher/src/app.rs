//! What the service holds, and how it is put together.

use std::net::SocketAddr;
use std::sync::Arc;

use domain::{Clock, Entropy};
use messaging::{Broker, topology};
use postgres::Database;
use telemetry::Metrics;
use tokio::sync::{Notify, Semaphore};
use web::{Listener, Readiness, RequestEdge, ServeOptions, Tasks, Workers};

use crate::consumers::WebhookEvents;
use crate::domain::RetrySchedule;
use crate::secrets::SecretBox;
use crate::sender::{self, Exchange, InHand, Names, Recorder, Sender};
use crate::settings::Settings;
use crate::{routes, sweeper};

/// Owners' tests under way at once; each is a call to somebody else's server that a request waits for.
const TESTS_MAX: usize = 16;
/// Events taken in at once.
const CONSUMER_PARALLEL: u16 = 4;

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
    pub in_hand: InHand,
    pub schedule: RetrySchedule,
    pub concurrency: usize,
    pub per_endpoint: i64,
    /// Rung after a commit that made a delivery due.
    pub bell: Arc<Notify>,
    pub tests: Arc<Semaphore>,
}

impl App {
    fn new(settings: &Settings, clock: Clock, entropy: Entropy) -> anyhow::Result<Self> {
        let webhooks = &settings.webhooks;
        let database = Database::new(&settings.database)?;
        let secrets = SecretBox::new(&settings.secrets.key)?;
        let names = Names::of_system(webhooks.policy());
        let exchange =
            Exchange::new(names.clone(), &settings.brand, webhooks.timeout(), webhooks.per_endpoint)?;
        Ok(Self {
            sender: Sender::new(exchange, &settings.brand, secrets.clone(), clock.clone())?,
            recorder: Recorder::start(database.clone(), clock.clone()),
            database,
            clock,
            entropy,
            secrets,
            names,
            in_hand: InHand::default(),
            schedule: webhooks.retry_seconds.clone(),
            concurrency: webhooks.concurrency,
            per_endpoint: i64::try_from(webhooks.per_endpoint)?,
            bell: Arc::new(Notify::new()),
            tests: Arc::new(Semaphore::new(TESTS_MAX)),
        })
    }
}

/// The service, listening; it works while [`Service::run`] is awaited.
pub struct Service {
    pub internal: SocketAddr,
    pub management: SocketAddr,
    listeners: Vec<Listener>,
    tasks: Tasks,
    workers: Workers,
    broker: Broker,
}

impl Service {
    /// # Errors
    /// When an address cannot be bound or a setting is not usable. The database and the broker may still be away.
    pub fn start(
        settings: &Settings,
        metrics: Metrics,
        clock: Clock,
        entropy: Entropy,
    ) -> anyhow::Result<Self> {
        let app = App::new(settings, clock.clone(), entropy.clone())?;
        let broker = Broker::start(&settings.broker, "webhook-dispatcher");
        let tasks = Tasks::on_this_runtime();
        let edge = RequestEdge { clock, entropy };

        let internal = web::listen(
            settings.http.internal,
            ServeOptions::INTERNAL,
            edge.clone(),
            routes::internal(app.clone(), settings.internal.clone(), tasks.clone()),
        )?;
        let management = web::listen(
            settings.http.management,
            ServeOptions::INTERNAL,
            edge,
            web::management_routes(readiness(&app, &broker), metrics),
        )?;

        Ok(Self {
            internal: internal.address,
            management: management.address,
            listeners: vec![internal, management],
            tasks,
            workers: start_workers(&app, &broker),
            broker,
        })
    }

    /// Until SIGTERM or SIGINT, then to a stop that loses nothing.
    ///
    /// # Errors
    /// When a listener or a worker fails.
    pub async fn run(self) -> anyhow::Result<()> {
        let outcome = web::run(self.listeners, self.tasks, self.workers).await;
        self.broker.close().await;
        outcome
    }
}

fn readiness(app: &App, broker: &Broker) -> Readiness {
    let (database, broker) = (app.database.clone(), broker.clone());
    Readiness::default()
        .with("database", move || {
            let database = database.clone();
            async move { database.check().await }
        })
        .with("broker", move || {
            let broker = broker.clone();
            async move { broker.check().await }
        })
}

fn start_workers(app: &App, broker: &Broker) -> Workers {
    let mut running = Workers::default();
    let (queue, handler) = (topology::webhook_events(), WebhookEvents(app.clone()));
    let broker = broker.clone();
    running.start("events", |stop| messaging::consume(broker, queue, CONSUMER_PARALLEL, handler, stop));
    running.start("dispatch", |stop| sender::dispatch(app.clone(), stop));
    running.start("renew-leases", |stop| sender::renew_leases(app.clone(), stop));
    running.start("sweep", |stop| sweeper::sweep(app.clone(), stop));
    running
}
