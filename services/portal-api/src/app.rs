//! What the service holds, and how its parts are put together.

use std::net::SocketAddr;
use std::sync::Arc;

use actix_web::web::Data;
use anyhow::Context as _;
use domain::{Clock, Entropy};
use events::binding;
use messaging::{Broker, Queue, topology};
use outbox::{Doorbell, Relay};
use postgres::Database;
use settings::Environment;
use telemetry::Metrics;
use web::{Listener, Readiness, RequestEdge, ServeOptions, Tasks, Workers};

use crate::commands::prune::keep_pruning;
use crate::consumers::{FactsConsumer, LiveOrdersConsumer};
use crate::domain::Origins;
use crate::live_orders::LiveOrders;
use crate::passwords::Passwords;
use crate::peers::Peers;
use crate::routes;
use crate::settings::{Limits, PortalSettings};

/// Handled at once; each is one short transaction.
const FACTS_AT_ONCE: u16 = 8;
const LIVE_ORDERS_AT_ONCE: u16 = 256;

/// What handlers, commands and consumers share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) database: Database,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) doorbell: Doorbell,
    pub(crate) passwords: Passwords,
    pub(crate) peers: Peers,
    pub(crate) live_orders: Arc<LiveOrders>,
    pub(crate) tasks: Tasks,
    pub(crate) origins: Origins,
    pub(crate) limits: Limits,
    pub(crate) plans: Arc<[String]>,
    pub(crate) operator_token: settings::Secret,
    /// Everywhere but in a local stack, which has no TLS.
    pub(crate) secure_cookies: bool,
}

/// A service that listens, and works once [`Service::run`] is awaited.
pub struct Service {
    /// Where browsers reach it.
    pub public: SocketAddr,
    /// Where the other services reach it.
    pub internal: SocketAddr,
    /// Where the platform reaches it.
    pub management: SocketAddr,
    listeners: Vec<Listener>,
    tasks: Tasks,
    workers: Workers,
    broker: Broker,
}

impl Service {
    /// Until SIGTERM or SIGINT.
    ///
    /// # Errors
    /// When a listener or a worker fails.
    pub async fn run(self) -> anyhow::Result<()> {
        let outcome = web::run(self.listeners, self.tasks, self.workers).await;
        self.broker.close().await;
        outcome
    }

    /// Work under way; its `draining` ends streams.
    pub fn tasks(&self) -> Tasks {
        self.tasks.clone()
    }
}

/// Puts the service together on this runtime and binds its listeners. Needs neither database nor broker to be up yet.
///
/// # Errors
/// When an address cannot be bound, or a part cannot be built from the settings.
pub fn start(
    settings: &PortalSettings,
    clock: Clock,
    entropy: Entropy,
    metrics: Metrics,
) -> anyhow::Result<Service> {
    let broker = Broker::start(&settings.broker, "portal-api");
    let app = build(settings, clock, entropy)?;
    let workers = workers(&app, &broker, metrics.clone());
    let readiness = readiness(&app.database, &broker);
    let edge = RequestEdge { clock: app.clock.clone(), entropy: app.entropy.clone() };
    let tasks = app.tasks.clone();
    let internal_token = settings.internal.clone();
    let (public_app, internal_app) = (Data::new(app.clone()), Data::new(app));
    let address = settings.http.public.context("WAYBILL_HTTP__PUBLIC")?;
    let public = web::listen(address, ServeOptions::PUBLIC, edge.clone(), routes::public(public_app))?;
    let routes = routes::internal(internal_app, internal_token);
    let internal = web::listen(settings.http.internal, ServeOptions::INTERNAL, edge.clone(), routes)?;
    let routes = web::management_routes(readiness, metrics);
    let management = web::listen(settings.http.management, ServeOptions::INTERNAL, edge, routes)?;
    Ok(Service {
        public: public.address,
        internal: internal.address,
        management: management.address,
        listeners: vec![public, internal, management],
        tasks,
        workers,
        broker,
    })
}

fn build(settings: &PortalSettings, clock: Clock, entropy: Entropy) -> anyhow::Result<App> {
    Ok(App {
        database: Database::new(&settings.database)?,
        doorbell: Doorbell::default(),
        passwords: Passwords::start(entropy.clone())?,
        peers: Peers::new(&settings.peers, &settings.internal)?,
        live_orders: LiveOrders::new(settings.limits.streams_per_business),
        tasks: Tasks::on_this_runtime(),
        origins: Origins::new(settings.public.url.clone()),
        limits: settings.limits.clone(),
        plans: settings.subscription.plan_names().into(),
        operator_token: settings.operator.token.clone(),
        secure_cookies: settings.environment != Environment::Local,
        clock,
        entropy,
    })
}

fn workers(app: &App, broker: &Broker, metrics: Metrics) -> Workers {
    let mut workers = Workers::default();
    let relay = Relay::new(app.database.clone(), broker.publisher(), app.doorbell.clone(), app.clock.clone());
    workers.start("outbox", |stop| relay.run(stop));
    let facts = FactsConsumer(app.clone());
    workers.start("facts", |stop| {
        messaging::consume(broker.clone(), topology::facts(), FACTS_AT_ONCE, facts, stop)
    });
    let live_orders = LiveOrdersConsumer(app.live_orders.clone());
    let bindings = [binding::LIVE_ORDERS, binding::TEST_ORDERS];
    let queue = Queue::per_instance("portal-api.live-orders", &bindings);
    workers.start("live_orders", |stop| {
        messaging::consume(broker.clone(), queue, LIVE_ORDERS_AT_ONCE, live_orders, stop)
    });
    workers.start("prune", |stop| keep_pruning(app.clone(), stop));
    workers.start("metrics", |stop| async move {
        let mut ticks = tokio::time::interval(Metrics::UPKEEP_INTERVAL);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            metrics.upkeep();
        }
    });
    workers
}

fn readiness(database: &Database, broker: &Broker) -> Readiness {
    let (database, broker) = (database.clone(), broker.clone());
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
