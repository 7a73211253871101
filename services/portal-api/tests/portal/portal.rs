//! The service under test, on a database and a virtual host of its own.

use std::net::{SocketAddr, TcpListener};
use std::sync::OnceLock;
use std::time::Duration;

use chassis::Chassis;
use chrono::DateTime;
use domain::{Clock, Entropy};
use local_stack::{Servers, Service};
use messaging::Broker;
use portal_api::settings::PortalSettings;
use serde_json::{Value, json};
use telemetry::Metrics;
use web::Tasks;

use crate::client::Client;
use crate::peers::Peers;

pub(crate) const OPERATOR_TOKEN: &str = "local-operator-token-of-the-local-stack";
const INTERNAL_TOKEN: &str = "local-internal-token-of-the-local-stack";

/// A running portal-api, the far ends of its lines, and the clock that it goes by.
pub(crate) struct Portal {
    pub(crate) public: SocketAddr,
    pub(crate) internal: SocketAddr,
    pub(crate) management: SocketAddr,
    pub(crate) peers: Peers,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) settings: PortalSettings,
    pub(crate) tasks: Tasks,
    /// The line of another service to the same broker.
    pub(crate) broker: Broker,
}

impl Portal {
    /// As in the local stack: addresses are not counted.
    pub(crate) async fn start() -> Self {
        Self::with(&[("WAYBILL_LIMITS__PER_ADDRESS", "false")]).await
    }

    pub(crate) async fn with(more: &[(&str, &str)]) -> Self {
        let peers = Peers::start();
        let settings = settings_for(&peers, more).await;
        Self::serve(settings, peers, start_of_time()).await
    }

    /// Without a database that could be reached.
    pub(crate) async fn alone() -> Self {
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let url = format!("postgres://nobody@{nobody}/nothing");
        let peers = Peers::start();
        let settings = settings_for(&peers, &[("WAYBILL_DATABASE__URL", &url)]).await;
        Self::begin(settings, peers, start_of_time())
    }

    /// Another instance, on the same database and broker.
    pub(crate) async fn another(&self) -> Self {
        Self::serve(self.settings.clone(), self.peers.clone(), self.clock.clone()).await
    }

    /// Another instance, after the operator's token was changed.
    pub(crate) async fn with_operator_token(&self, token: &str) -> Self {
        let mut settings = self.settings.clone();
        settings.operator.token = settings::Secret::new(token);
        Self::serve(settings, self.peers.clone(), self.clock.clone()).await
    }

    async fn serve(settings: PortalSettings, peers: Peers, clock: Clock) -> Self {
        let portal = Self::begin(settings, peers, clock);
        eventually("the service is ready", async || is_ready(portal.management).await).await;
        portal
    }

    fn begin(settings: PortalSettings, peers: Peers, clock: Clock) -> Self {
        let entropy = Entropy::from_system().unwrap();
        let chassis = Chassis::new(&settings, metrics(), clock.clone(), entropy.clone()).unwrap();
        let service = portal_api::start(&settings, chassis).unwrap();
        let portal = Self {
            public: service.public.unwrap(),
            internal: service.internal,
            management: service.management,
            peers,
            clock,
            entropy,
            tasks: service.tasks(),
            broker: Broker::start(&settings.broker, "test"),
            settings,
        };
        tokio::spawn(service.run());
        portal
    }

    /// A caller without a session.
    pub(crate) fn stranger(&self) -> Client {
        Client::new(self.public)
    }

    /// Somebody who has just signed up, whose business the peers know nothing of yet.
    pub(crate) async fn owner(&self, email: &str) -> Owner {
        // So that businesses do not all begin at one moment.
        self.clock.advance(chrono::TimeDelta::milliseconds(1));
        let mut client = self.stranger();
        let answer = client.post("/v1/portal/accounts", sign_up_body(email)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let business = answer.body["businessId"].as_str().unwrap().to_owned();
        self.peers.know_new_business(&business);
        Owner { client, business }
    }

    /// Somebody whom the owner invited, and who came.
    pub(crate) async fn member(&self, owner: &mut Owner, email: &str, role: &str) -> Client {
        let token = self.invite(owner, email, role).await;
        let mut client = self.stranger();
        let accepted = client
            .post("/v1/portal/invitations/accept", json!({ "token": token, "password": "battery staple" }));
        let accepted = accepted.await;
        assert_eq!(accepted.status, 201, "{accepted:?}");
        client
    }

    /// The secret of the link of an invitation.
    pub(crate) async fn invite(&self, owner: &mut Owner, email: &str, role: &str) -> String {
        // So that invitations and users do not all begin at one moment.
        self.clock.advance(chrono::TimeDelta::milliseconds(1));
        let path = "/v1/portal/invitations";
        let invited = owner.client.post(path, json!({ "email": email, "role": role })).await;
        assert_eq!(invited.status, 201, "{invited:?}");
        let url = invited.body["url"].as_str().unwrap();
        url.strip_prefix("http://portal.test/invitation#token=").unwrap().to_owned()
    }

    /// The operator.
    pub(crate) fn operator(&self) -> Client {
        Client::new(self.public).with_bearer(OPERATOR_TOKEN)
    }

    /// What order-api is told of a business.
    pub(crate) async fn ordering(&self, business: &str) -> Value {
        let mut order_api = Client::new(self.internal).with_bearer(INTERNAL_TOKEN);
        let answer = order_api.get(&format!("/internal/businesses/{business}/ordering")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }
}

/// Somebody who is logged in.
pub(crate) struct Owner {
    pub(crate) client: Client,
    pub(crate) business: String,
}

pub(crate) fn sign_up_body(email: &str) -> Value {
    json!({ "businessName": "Corner Shop", "email": email, "password": "correct horse" })
}

/// On a database and a virtual host of its own.
async fn settings_for(peers: &Peers, more: &[(&str, &str)]) -> PortalSettings {
    let servers = Servers::for_tests().await.unwrap();
    let database = servers.create_database_of(Service::PortalApi).await.unwrap();
    let vhost = servers.create_vhost().await.unwrap();
    let mut variables = vec![
        ("WAYBILL_DATABASE__URL".to_owned(), database),
        ("WAYBILL_BROKER__URL".to_owned(), vhost),
        ("WAYBILL_PUBLIC__URL".to_owned(), "http://portal.test".to_owned()),
    ];
    for listener in ["PUBLIC", "INTERNAL", "MANAGEMENT"] {
        variables.push((format!("WAYBILL_HTTP__{listener}"), "127.0.0.1:0".to_owned()));
    }
    for (variable, peer) in [
        ("ORDER_API", "order-api"),
        ("WALLET", "wallet"),
        ("KEY_MANAGEMENT", "key-management"),
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

pub(crate) async fn is_ready(management: SocketAddr) -> bool {
    let answer = reqwest_client().get(format!("http://{management}/health/ready")).send().await;
    answer.is_ok_and(|answer| answer.status().is_success())
}

/// Waits until the condition holds.
pub(crate) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(20), waiting).await.is_ok(), "never came true: {what}");
}

pub(crate) fn reqwest_client() -> reqwest::Client {
    // Whoever installs it first does; the others find it there.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// One recorder serves all tests of this process.
fn metrics() -> Metrics {
    static METRICS: OnceLock<Metrics> = OnceLock::new();
    METRICS.get_or_init(|| telemetry::install_metrics("portal-api").unwrap()).clone()
}
