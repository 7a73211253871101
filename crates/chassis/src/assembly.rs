//! Assembles a service.

use std::fmt::Display;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_web::web::ServiceConfig;
use anyhow::Context as _;
use domain::{Clock, Entropy};
use messaging::{Broker, BrokerError, Handler, Queue};
use outbox::{Outbox, Relay, Unit};
use postgres::{Database, Schema};
use settings::Http;
use telemetry::Metrics;
use tokio_util::sync::CancellationToken;
use web::{Readiness, RequestEdge, ServeOptions, Servers, StopSignal, Tasks, Workers};

use crate::{Running, ServiceSettings};

/// How long a starting service waits for a database that refuses its user: its roles may be created at this moment.
const REFUSED_MAX: Duration = Duration::from_secs(30);

/// A service before it is [`Running`]: the resources of every service. The service adds consumers, workers and routes.
pub struct Chassis {
    pub unit: Unit,
    pub broker: Broker,
    pub tasks: Tasks,
    http: Http,
    metrics: Metrics,
    workers: Workers,
    servers: Servers,
    public: Option<SocketAddr>,
    operator: Option<SocketAddr>,
    management: SocketAddr,
    error_docs: Option<Arc<str>>,
    lacks_schema: Arc<AtomicBool>,
    stop: StopSignal,
}

impl Chassis {
    /// Starts connecting to the broker, binds the management listener, and listens for signals. The broker and the
    /// database may start later. Background work runs on the current tokio runtime.
    ///
    /// # Errors
    /// When the database's URL is invalid, or the address cannot be bound.
    pub fn new<S: ServiceSettings>(
        settings: &S,
        metrics: Metrics,
        clock: Clock,
        entropy: Entropy,
    ) -> anyhow::Result<Self> {
        let sections = settings.sections();
        let database = Database::new(sections.database)?;
        let broker = Broker::start(sections.broker, S::SERVICE);
        let lacks_schema = Arc::new(AtomicBool::new(false));
        let routes = web::management_routes(readiness(&database, &broker, &lacks_schema), metrics.clone());
        let edge = RequestEdge { clock: clock.clone(), entropy: entropy.clone(), error_docs: None };
        let mut servers = Servers::default();
        let management = servers
            .listen(sections.http.management, ServeOptions::INTERNAL, edge, routes)
            .with_context(|| unusable("MANAGEMENT", sections.http.management))?;
        Ok(Self {
            unit: Unit { database, clock, entropy, outbox: Outbox::default() },
            broker,
            tasks: Tasks::default(),
            http: sections.http.clone(),
            metrics,
            workers: Workers::default(),
            servers,
            public: None,
            operator: None,
            management,
            error_docs: None,
            lacks_schema,
            stop: StopSignal::listen()?,
        })
    }

    /// Waits until the tables are as this program expects. Until then, the process is alive but not ready. Returns
    /// `false` if the stop signal comes first.
    ///
    /// # Errors
    /// When the management listener fails, or the database refuses the user or the password.
    pub(crate) async fn await_schema(&mut self, schema: &Schema) -> anyhow::Result<bool> {
        self.lacks_schema.store(true, Ordering::Relaxed);
        self.servers.start();
        if schema.check().await.is_ok() {
            return Ok(true);
        }
        tracing::info!(address = %self.management, "waiting for the tables");
        let there = tokio::select! {
            there = schema.wait(REFUSED_MAX) => there.map(|()| true)?,
            () = self.stop.received() => false,
            failed = self.servers.first_to_fail() => return Err(failed),
        };
        tracing::info!("{}", if there { "tables ready" } else { "stopped while waiting for the tables" });
        Ok(there)
    }

    /// Starts work that runs until its token is cancelled and returns soon afterwards.
    pub fn worker<F>(&mut self, name: &'static str, work: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.workers.start(name, work);
    }

    /// Starts periodic work; see [`every`](crate::every).
    pub fn every<F, E>(
        &mut self,
        name: &'static str,
        interval: Duration,
        round: impl FnMut(CancellationToken) -> F + Send + 'static,
    ) where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + 'static,
    {
        self.workers.start(name, |stop| crate::every(interval, stop, round));
    }

    /// Consumes the queue with up to `parallel` messages at once, and records its depth.
    pub fn consume(&mut self, name: &'static str, queue: Queue, parallel: u16, handler: impl Handler) {
        let broker = self.broker.clone();
        self.worker(name, |stop| async move {
            let watching = messaging::watch_depth(&broker, &queue, &stop);
            tokio::join!(
                watching,
                messaging::consume(broker.clone(), queue.clone(), parallel, handler, stop.clone())
            );
        });
    }

    /// Publishes this service's outbox to the broker, and removes old inbox rows.
    pub fn relay(&mut self) {
        let publisher = self.broker.publisher();
        let relay = Relay::new(&self.unit, publisher);
        self.worker("relay", |stop| relay.run(stop));
    }

    /// Errors of the public listener refer to the page of their code, whose address is `docs` and the code.
    pub fn explain_errors(&mut self, docs: &str) {
        self.error_docs = Some(docs.into());
    }

    /// Listens for public callers.
    ///
    /// # Errors
    /// When no address is configured, or it cannot be bound.
    pub fn listen_public(
        &mut self,
        routes: impl Fn(&mut ServiceConfig) + Send + 'static,
    ) -> anyhow::Result<()> {
        let address = self.http.public.context("WAYBILL_HTTP__PUBLIC is required")?;
        let edge = RequestEdge { error_docs: self.error_docs.clone(), ..self.edge() };
        let public = self.servers.listen(address, ServeOptions::PUBLIC, edge, routes);
        self.public = Some(public.with_context(|| unusable("PUBLIC", address))?);
        Ok(())
    }

    /// Listens for the operator's staff, if an address is configured.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn listen_operator(
        &mut self,
        routes: impl Fn(&mut ServiceConfig) + Send + 'static,
    ) -> anyhow::Result<()> {
        let Some(address) = self.http.operator else { return Ok(()) };
        let operator = self.servers.listen(address, ServeOptions::INTERNAL, self.edge(), routes);
        self.operator = Some(operator.with_context(|| unusable("OPERATOR", address))?);
        Ok(())
    }

    /// Listens for the other services, with these routes.
    ///
    /// # Errors
    /// When an address cannot be bound, or the certificate is unusable.
    pub fn start(
        mut self,
        internal: impl Fn(&mut ServiceConfig) + Clone + Send + 'static,
    ) -> anyhow::Result<Running> {
        let internal_tls = self.listen_with_tls(internal.clone())?;
        let internal = self
            .servers
            .listen(self.http.internal, ServeOptions::INTERNAL, self.edge(), internal)
            .with_context(|| unusable("INTERNAL", self.http.internal))?;
        let (metrics, database) = (self.metrics.clone(), self.unit.database.clone());
        self.worker("metrics", |stop| keep_metrics(metrics, database, stop));
        // After all listeners are bound, because callers may come as soon as the service is ready.
        self.lacks_schema.store(false, Ordering::Relaxed);
        Ok(Running {
            public: self.public,
            operator: self.operator,
            internal,
            internal_tls,
            management: self.management,
            servers: self.servers,
            tasks: self.tasks,
            workers: self.workers,
            broker: self.broker,
            stop: self.stop,
        })
    }

    /// A second listener, so that callers can change over one after the other.
    fn listen_with_tls(
        &mut self,
        internal: impl Fn(&mut ServiceConfig) + Send + 'static,
    ) -> anyhow::Result<Option<SocketAddr>> {
        let (Some(address), Some(folder)) = (self.http.internal_tls, &self.http.internal_certificate) else {
            return Ok(None);
        };
        let tls = tls::certified_as_in(folder).context("WAYBILL_HTTP__INTERNAL_CERTIFICATE")?;
        let edge = self.edge();
        let bound =
            self.servers.listen_with_tls(address, ServeOptions::INTERNAL, edge, Arc::new(tls), internal);
        Ok(Some(bound.with_context(|| unusable("INTERNAL_TLS", address))?))
    }

    fn edge(&self) -> RequestEdge {
        let (clock, entropy) = (self.unit.clock.clone(), self.unit.entropy.clone());
        RequestEdge { clock, entropy, error_docs: None }
    }
}

fn unusable(listener: &str, address: SocketAddr) -> String {
    format!("WAYBILL_HTTP__{listener}: cannot listen at {address}")
}

fn readiness(database: &Database, broker: &Broker, lacks_schema: &Arc<AtomicBool>) -> Readiness {
    let (database, broker, lacks_schema) = (database.clone(), broker.clone(), Arc::clone(lacks_schema));
    Readiness::default()
        .with("database", move || {
            let database = database.clone();
            async move { database.check().await }
        })
        // Without the broker, events wait in the outbox, and callers can still be served.
        .with_startup_check("broker", BrokerError::is_outage, move || {
            let broker = broker.clone();
            async move { broker.check().await }
        })
        .with("schema", move || {
            let lacks_schema = lacks_schema.load(Ordering::Relaxed);
            async move { if lacks_schema { Err("the tables are missing, or not checked yet") } else { Ok(()) } }
        })
}

async fn keep_metrics(metrics: Metrics, database: Database, stop: CancellationToken) {
    let keeping = async {
        loop {
            database.measure().await;
            metrics.upkeep();
            tokio::time::sleep(Metrics::UPKEEP_INTERVAL).await;
        }
    };
    stop.run_until_cancelled(keeping).await;
}
