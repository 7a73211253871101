//! What the service holds, and how it is put together.

use std::net::SocketAddr;

use anyhow::Context as _;
use domain::{Clock, Entropy, KeySegment};
use messaging::Broker;
use outbox::{Doorbell, Relay};
use postgres::Database;
use telemetry::Metrics;
use web::{Listener, Readiness, RequestEdge, ServeOptions, Tasks, Workers};

use crate::domain::KeyHasher;
use crate::last_uses::LastUses;
use crate::settings::Settings;
use crate::{routes, workers};

/// What commands and queries need.
#[derive(Clone)]
pub(crate) struct App {
    pub database: Database,
    pub clock: Clock,
    pub entropy: Entropy,
    pub segment: KeySegment,
    pub hasher: KeyHasher,
    pub last_uses: LastUses,
    pub doorbell: Doorbell,
}

impl App {
    fn new(settings: &Settings, clock: Clock, entropy: Entropy) -> anyhow::Result<Self> {
        Ok(Self {
            database: Database::new(&settings.database)?,
            clock,
            entropy,
            segment: KeySegment::new(&settings.brand.key_segment).context("WAYBILL_BRAND__KEY_SEGMENT")?,
            hasher: KeyHasher::new(&settings.keys.pepper)?,
            last_uses: LastUses::default(),
            doorbell: Doorbell::default(),
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
        let broker = Broker::start(&settings.broker, "key-management");
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
    let relay = Relay::new(app.database.clone(), broker.publisher(), app.doorbell.clone(), app.clock.clone());
    let mut running = Workers::default();
    running.start("relay", |stop| relay.run(stop));
    running.start("end-graces", |stop| workers::end_graces(app.clone(), stop));
    running.start("note-uses", |stop| workers::note_uses(app.clone(), stop));
    running
}
