//! What the service holds, and its life from start to stop.

use std::net::SocketAddr;
use std::sync::Arc;

use domain::{Clock, Entropy};
use messaging::{Broker, topology};
use outbox::{Doorbell, Relay};
use postgres::{Batcher, BatcherOptions, Database};
use telemetry::Metrics;
use tokio_util::sync::CancellationToken;
use web::{Listener, Readiness, RequestEdge, ServeOptions, Tasks, Workers};

use crate::commands::debit::{ApplyDebits, DebitQueue};
use crate::consumers::refunds::Refunds;
use crate::payments::Provider;
use crate::routes;
use crate::settings::{Settings, WalletRules};

/// Refunds are rare beside debits, and each locks a wallet.
const REFUNDS_AT_ONCE: u16 = 4;

/// What commands and queries need.
pub(crate) struct State {
    pub(crate) database: Database,
    pub(crate) debits: DebitQueue,
    pub(crate) tasks: Tasks,
    pub(crate) doorbell: Doorbell,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) rules: WalletRules,
    pub(crate) provider: Provider,
}

impl State {
    fn new(settings: &Settings, clock: Clock, entropy: Entropy) -> anyhow::Result<Self> {
        let database = Database::new(&settings.database)?;
        let apply = ApplyDebits {
            clock: clock.clone(),
            entropy: entropy.clone(),
            default_threshold: settings.wallet.low_balance_threshold_paise,
        };
        Ok(Self {
            debits: Batcher::start("wallet_debits", database.clone(), BatcherOptions::default(), apply),
            database,
            tasks: Tasks::on_this_runtime(),
            doorbell: Doorbell::default(),
            clock,
            entropy,
            rules: settings.wallet,
            provider: settings.payments.provider,
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
        let edge = RequestEdge { clock: clock.clone(), entropy: entropy.clone() };
        let state = Arc::new(State::new(settings, clock, entropy)?);
        let broker = Broker::start(&settings.broker, "wallet");
        let internal = web::listen(
            settings.http.internal,
            ServeOptions::INTERNAL,
            edge.clone(),
            routes::internal(state.clone(), settings.internal.clone()),
        )?;
        let management = web::listen(
            settings.http.management,
            ServeOptions::INTERNAL,
            edge,
            web::management_routes(readiness(&state, &broker), metrics.clone()),
        )?;
        Ok(Self {
            internal: internal.address,
            management: management.address,
            listeners: vec![internal, management],
            tasks: state.tasks.clone(),
            workers: start_workers(&state, &broker, metrics),
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

fn readiness(state: &State, broker: &Broker) -> Readiness {
    let (database, broker) = (state.database.clone(), broker.clone());
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

fn start_workers(state: &Arc<State>, broker: &Broker, metrics: Metrics) -> Workers {
    let relay =
        Relay::new(state.database.clone(), broker.publisher(), state.doorbell.clone(), state.clock.clone());
    let (refunds, broker) = (Refunds(state.clone()), broker.clone());
    let mut workers = Workers::default();
    workers.start("relay", |stop| relay.run(stop));
    workers.start("refunds", |stop| {
        messaging::consume(broker, topology::refunds(), REFUNDS_AT_ONCE, refunds, stop)
    });
    workers.start("metrics", |stop| keep_metrics(metrics, stop));
    workers
}

async fn keep_metrics(metrics: Metrics, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(Metrics::UPKEEP_INTERVAL)).await.is_some() {
        metrics.upkeep();
    }
}
