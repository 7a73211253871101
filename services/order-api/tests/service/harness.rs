//! The service under test, with its own database and fakes of its peers and, for the tests that need one, a virtual host.

use std::net::SocketAddr;

use chassis::Chassis;
use chrono::DateTime;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use domain::{Clock, Entropy};
use messaging::Broker;
use order_api::consumers::CacheInvalidation;
use order_api::settings::OrderApiSettings;
use serde_json::Value;
use test_kit::{Service, metrics, until};
use web::Tasks;

use crate::peers::Peers;

/// The origin of tracking links. The real address is unknown before the service listens.
pub(crate) const PUBLIC_ORIGIN: &str = "http://orders.test";

/// A running order-api, its peers, and its clock.
pub(crate) struct OrderApi {
    pub(crate) public: SocketAddr,
    pub(crate) internal: SocketAddr,
    pub(crate) peers: Peers,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) settings: OrderApiSettings,
    /// The connection of another service to the same broker.
    pub(crate) broker: Broker,
    pub(crate) tasks: Tasks,
}

impl OrderApi {
    /// Without a broker, which takes more processor time than most tests.
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// With these variables, and a clock that only a test advances.
    pub(crate) async fn with(more: &[(&str, &str)]) -> Self {
        Self::on_clock(start_of_time(), more).await
    }

    pub(crate) async fn on_clock(clock: Clock, more: &[(&str, &str)]) -> Self {
        Self::begin(clock, more).await.0
    }

    /// As [`OrderApi::start`], with a virtual host of its own.
    pub(crate) async fn connected() -> Self {
        Self::connected_on_clock(start_of_time(), &[]).await
    }

    pub(crate) async fn connected_on_clock(clock: Clock, more: &[(&str, &str)]) -> Self {
        let vhost = test_kit::vhost().await;
        let more = [&[("WAYBILL_BROKER__URL", vhost.as_str())], more].concat();
        let (order_api, management) = Self::begin(clock, &more).await;
        let management = test_kit::url(management);
        until("the service is ready", async || test_kit::is_ready(&management).await).await;
        // Its caches are cleared at the first subscription, which may come after the first answers.
        let name = CacheInvalidation::queue().name();
        let subscribed = format!("queue=\"{name}\"}} 1");
        let is_subscribed =
            |line: &str| line.starts_with("consumer_subscribed") && line.ends_with(&subscribed);
        until("the caches are cleared", async || metrics("order-api").render().lines().any(is_subscribed))
            .await;
        order_api
    }

    /// Returns the address of the management listener, too.
    async fn begin(clock: Clock, more: &[(&str, &str)]) -> (Self, SocketAddr) {
        let entropy = Entropy::from_system().unwrap();
        let peers = Peers::start(clock.clone(), entropy.clone());
        let settings = settings_for(&peers, more).await;
        let of_service = (settings.clone(), clock.clone(), entropy.clone());
        let ((public, internal, management, tasks), _running) = test_kit::in_background(move || {
            let (settings, clock, entropy) = of_service;
            let chassis = Chassis::new(&settings, metrics("order-api"), clock, entropy).unwrap();
            let service = order_api::start::start(&settings, chassis).unwrap();
            let tasks = service.tasks();
            ((service.public.unwrap(), service.internal, service.management, tasks), service.run())
        });
        let broker = Broker::start(&settings.broker, "test");
        (Self { public, internal, tasks, peers, clock, entropy, broker, settings }, management)
    }

    /// The base of the integration and fleet API.
    pub(crate) fn base(&self) -> String {
        format!("http://{}/v1", self.public)
    }

    pub(crate) async fn connection(&self) -> AsyncPgConnection {
        AsyncPgConnection::establish(self.settings.database.url.expose()).await.unwrap()
    }

    /// The number of rows of this `FROM` clause.
    pub(crate) async fn count(&self, from: &str) -> i64 {
        #[derive(diesel::QueryableByName)]
        struct Row {
            #[diesel(sql_type = BigInt)]
            count: i64,
        }
        let query = diesel::sql_query(format!("SELECT count(*) AS count FROM {from}"));
        query.get_result::<Row>(&mut self.connection().await).await.unwrap().count
    }
}

/// With a new database and, unless `more` has one, without a broker.
async fn settings_for(peers: &Peers, more: &[(&str, &str)]) -> OrderApiSettings {
    let database = test_kit::database_of(Service::OrderApi).await;
    let mut variables = vec![
        ("WAYBILL_DATABASE__URL".to_owned(), database.url.expose().to_owned()),
        ("WAYBILL_BROKER__URL".to_owned(), test_kit::unreachable_broker().expose().to_owned()),
        ("WAYBILL_PUBLIC__URL".to_owned(), PUBLIC_ORIGIN.to_owned()),
        ("WAYBILL_LIMITS__PER_ADDRESS".to_owned(), "false".to_owned()),
    ];
    for listener in ["PUBLIC", "INTERNAL", "MANAGEMENT"] {
        variables.push((format!("WAYBILL_HTTP__{listener}"), "127.0.0.1:0".to_owned()));
    }
    for (variable, peer) in [
        ("WALLET", "wallet"),
        ("KEY_MANAGEMENT", "key-management"),
        ("PORTAL_API", "portal-api"),
        ("WEBHOOK_DISPATCHER", "webhook-dispatcher"),
    ] {
        variables.push((format!("WAYBILL_PEERS__{variable}"), format!("http://{}/{peer}", peers.address)));
    }
    variables.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    settings::load_from(variables.into_iter().collect()).unwrap()
}

fn start_of_time() -> Clock {
    Clock::manual(DateTime::from_timestamp(1_800_000_000, 0).unwrap())
}

pub(crate) fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned()
}
