//! What the service holds, and its life from start to stop.

use std::net::SocketAddr;
use std::sync::Arc;

use actix_web::web as actix;
use anyhow::Context as _;
use domain::{Clock, Entropy, KeySegment, TrackingCode};
use internal_api::keys::KeysClient;
use internal_api::ordering::OrderingClient;
use internal_api::wallet::WalletClient;
use internal_api::{Peer, PeerOptions};
use messaging::Broker;
use outbox::{Doorbell, Relay};
use postgres::{Batcher, BatcherOptions, Database};
use telemetry::Metrics;
use url::Url;
use web::{Listener, Readiness, RequestEdge, ServeOptions, Tasks, Workers, listen, management_routes};

use crate::commands::create_order::{Intent, IntentBatch, IntentOutcome, Payment, PaymentBatch};
use crate::commands::recover_pending::recover_pending;
use crate::consumers::VerdictNews;
use crate::routes;
use crate::settings::OrderApiSettings;
use crate::verdicts::{KeyVerdicts, OrderingVerdicts};

/// Time, randomness, and where the world finds us: what decisions need besides the database.
#[derive(Clone)]
pub struct Ambient {
    pub clock: Clock,
    pub entropy: Entropy,
    public_url: Url,
}

impl Ambient {
    /// The page that shows a parcel's way to whoever holds its code.
    pub fn tracking_url(&self, code: &TrackingCode) -> String {
        format!("{}/track/{code}", self.public_url.as_str().trim_end_matches('/'))
    }
}

/// Everything the handlers, consumers and workers share.
pub struct App {
    pub ambient: Ambient,
    pub database: Database,
    pub intents: Batcher<Intent, IntentOutcome>,
    pub payments: Batcher<Payment, ()>,
    pub doorbell: Doorbell,
    pub wallet: WalletClient,
    pub keys: KeyVerdicts,
    pub ordering: OrderingVerdicts,
    pub tasks: Tasks,
    pub settings: OrderApiSettings,
}

impl App {
    fn new(settings: OrderApiSettings, clock: Clock, entropy: Entropy) -> anyhow::Result<Arc<Self>> {
        let database = Database::new(&settings.database)?;
        let ambient = Ambient { clock: clock.clone(), entropy, public_url: settings.public.url.clone() };
        let peer = |service, base: &Url| {
            Peer::new(service, base.clone(), &settings.internal.token, PeerOptions::default())
        };
        let segment = KeySegment::new(&settings.brand.key_segment).context("WAYBILL_BRAND__KEY_SEGMENT")?;
        let keys = KeysClient(peer("key-management", &settings.peers.key_management)?);
        let ordering = OrderingClient(peer("portal-api", &settings.peers.portal_api)?);
        Ok(Arc::new(Self {
            intents: Batcher::start(
                "order_intents",
                database.clone(),
                BatcherOptions::default(),
                IntentBatch(ambient.clone()),
            ),
            payments: Batcher::start(
                "order_payments",
                database.clone(),
                BatcherOptions::default(),
                PaymentBatch(ambient.clone()),
            ),
            doorbell: Doorbell::default(),
            wallet: WalletClient(peer("wallet", &settings.peers.wallet)?),
            keys: KeyVerdicts::new(keys, segment, clock.clone()),
            ordering: OrderingVerdicts::new(ordering, clock),
            tasks: Tasks::on_this_runtime(),
            ambient,
            database,
            settings,
        }))
    }
}

/// A service that listens; [`Running::until_stopped`] serves.
pub struct Running {
    pub public: SocketAddr,
    pub internal: SocketAddr,
    pub management: SocketAddr,
    listeners: Vec<Listener>,
    tasks: Tasks,
    workers: Workers,
    broker: Broker,
}

/// Binds the listeners and starts the workers.
///
/// # Errors
/// When a setting is not usable or an address is taken.
pub fn start(settings: OrderApiSettings, metrics: Metrics) -> anyhow::Result<Running> {
    let clock = Clock::system();
    let entropy = Entropy::from_system()?;
    let edge = RequestEdge { clock: clock.clone(), entropy: entropy.clone() };
    let http = settings.http.clone();
    let public = http.public.context("WAYBILL_HTTP__PUBLIC is required")?;
    let broker = Broker::start(&settings.broker, "order-api");
    let app = App::new(settings, clock.clone(), entropy)?;

    let mut workers = Workers::default();
    let relay = Relay::new(app.database.clone(), broker.publisher(), app.doorbell.clone(), clock);
    workers.start("outbox-relay", |stop| relay.run(stop));
    let recovered = Arc::clone(&app);
    workers.start("recovery", |stop| recover_pending(recovered, stop));
    let (news, consumed) = (VerdictNews(Arc::clone(&app)), broker.clone());
    workers.start("verdict-news", |stop| messaging::consume(consumed, VerdictNews::queue(), 16, news, stop));

    let data = actix::Data::from(Arc::clone(&app));
    let public_routes = {
        let data = data.clone();
        move |config: &mut actix::ServiceConfig| {
            config.app_data(data.clone()).configure(routes::public);
        }
    };
    let internal = actix::Data::new(app.settings.internal.clone());
    let internal_routes = move |config: &mut actix::ServiceConfig| {
        config.app_data(data.clone()).app_data(internal.clone()).configure(routes::internal);
    };
    let management = management_routes(readiness(&app, &broker), metrics);
    let public = listen(public, ServeOptions::PUBLIC, edge.clone(), public_routes)?;
    let internal = listen(http.internal, ServeOptions::INTERNAL, edge.clone(), internal_routes)?;
    let management = listen(http.management, ServeOptions::INTERNAL, edge, management)?;
    Ok(Running {
        public: public.address,
        internal: internal.address,
        management: management.address,
        listeners: vec![public, internal, management],
        tasks: app.tasks.clone(),
        workers,
        broker,
    })
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

impl Running {
    /// Serves until a signal, then drains.
    ///
    /// # Errors
    /// When a listener or worker fails.
    pub async fn until_stopped(self) -> anyhow::Result<()> {
        let outcome = web::run(self.listeners, self.tasks, self.workers).await;
        self.broker.close().await;
        outcome
    }
}
