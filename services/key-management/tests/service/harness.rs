//! Starts the service with a database and a clock of its own, and, for the tests that need one, a virtual host, where it
//! listens to what the service announces.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use chassis::Chassis;
use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::{AsyncConnection, AsyncPgConnection};
use domain::{ApiKeyId, BusinessId, Clock, Entropy, KeySegment, Mode};
use events::{Body, Envelope, binding};
use internal_api::PageQuery;
use internal_api::keys::{ApiKeyView, AuthenticatedKey, CreatedApiKey, KeysClient, RevokedApiKey};
use key_management::{Keys, Settings};
use messaging::{Broker, Handler, Queue, Rejection};
use serde_json::{Value, json};
use settings::{Brand, Environment, Http, Internal, Secret, Telemetry};
use test_kit::Service;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use url::Url;

/// One running service, and a business that uses it.
pub(crate) struct Harness {
    pub keys: KeysClient,
    pub business: BusinessId,
    pub clock: Clock,
    pub entropy: Entropy,
    pub settings: Settings,
    /// The service's internal listener.
    pub internal: Url,
    /// The one with TLS, if it has one.
    pub internal_tls: Option<SocketAddr>,
    revoked: mpsc::UnboundedReceiver<ApiKeyId>,
}

impl Harness {
    /// Without a broker, which takes more processor time than most tests.
    pub(crate) async fn start() -> Self {
        Self::start_with(settings().await, mpsc::unbounded_channel().1)
    }

    /// With a virtual host of its own.
    pub(crate) async fn connected() -> Self {
        let settings = Settings { broker: test_kit::broker().await, ..settings().await };
        let revoked = listen_to_revocations(&settings).await;
        Self::start_with(settings, revoked)
    }

    /// Without a reachable database.
    pub(crate) async fn start_alone() -> Self {
        let mut settings = settings().await;
        settings.database.url = test_kit::unreachable_database();
        Self::start_with(settings, mpsc::unbounded_channel().1)
    }

    /// Without a reachable database, and with TLS by the certificate of this folder.
    pub(crate) async fn start_with_tls(certificate: &Path) -> Self {
        let mut settings = settings().await;
        settings.database.url = test_kit::unreachable_database();
        let (internal_tls, certificate) = (Some(settings.http.internal), Some(certificate.to_owned()));
        settings.http = Http { internal_tls, internal_certificate: certificate, ..settings.http };
        Self::start_with(settings, mpsc::unbounded_channel().1)
    }

    fn start_with(settings: Settings, revoked: mpsc::UnboundedReceiver<ApiKeyId>) -> Self {
        let start = DateTime::from_timestamp(1_767_225_600, 0).expect("a time");
        let (clock, entropy) = (Clock::manual(start), Entropy::from_system().expect("randomness"));
        let (internal, internal_tls) = serve(settings.clone(), clock.clone(), entropy.clone());
        let business = BusinessId::generate(&clock, &entropy);
        let keys = client(&internal, &settings.internal.token);
        Self { keys, business, clock, entropy, settings, internal, internal_tls, revoked }
    }

    /// Another instance looks which keys have expired when it starts, and then every five seconds.
    pub(crate) fn expire_now(&self) {
        serve(self.settings.clone(), self.clock.clone(), self.entropy.clone());
    }

    /// Another tenant of the same service.
    pub(crate) fn new_business(&self) -> BusinessId {
        BusinessId::generate(&self.clock, &self.entropy)
    }

    pub(crate) async fn create(&self, mode: Mode) -> CreatedApiKey {
        self.keys.create(self.business, None, &json!({"mode": mode, "name": "shop"})).await.expect("a key")
    }

    pub(crate) async fn rotate(&self, key: &CreatedApiKey, grace_seconds: i64) -> CreatedApiKey {
        let body = json!({"graceSeconds": grace_seconds});
        self.keys.rotate(self.business, &key.view.id.to_string(), None, &body).await.expect("a successor")
    }

    pub(crate) async fn revoke(&self, key: &CreatedApiKey) -> ApiKeyView {
        self.revoke_with(key, Value::Null).await.view
    }

    pub(crate) async fn revoke_with(&self, key: &CreatedApiKey, body: Value) -> RevokedApiKey {
        self.keys.revoke(self.business, &key.view.id.to_string(), &body).await.expect("a revoked key")
    }

    pub(crate) async fn verdict(&self, key: &str) -> Option<AuthenticatedKey> {
        self.keys.verify(key).await.expect("a verdict").key
    }

    /// All keys of the business, newest first.
    pub(crate) async fn list(&self) -> Vec<ApiKeyView> {
        let page = PageQuery { limit: 100, starting_after: None };
        self.keys.list(self.business, &page).await.expect("a list").data
    }

    pub(crate) async fn view(&self, key: &CreatedApiKey) -> ApiKeyView {
        self.list().await.into_iter().find(|view| view.id == key.view.id).expect("the key is listed")
    }

    pub(crate) fn advance(&self, by: TimeDelta) -> DateTime<Utc> {
        self.clock.advance(by);
        self.clock.now()
    }

    /// The next key that the service announced as revoked.
    pub(crate) async fn next_revoked(&mut self) -> ApiKeyId {
        let next = tokio::time::timeout(Duration::from_secs(20), self.revoked.recv()).await;
        next.expect("an announcement in time").expect("the listener lives")
    }

    pub(crate) async fn connection(&self) -> AsyncPgConnection {
        AsyncPgConnection::establish(self.settings.database.url.expose()).await.expect("a connection")
    }
}

/// Its internal listener, and the one with TLS, if it has one.
fn serve(settings: Settings, clock: Clock, entropy: Entropy) -> (Url, Option<SocketAddr>) {
    let (listeners, _running) = test_kit::in_background(move || {
        let chassis =
            Chassis::new(&settings, test_kit::metrics("key-management"), clock, entropy).expect("a chassis");
        let service = key_management::start(&settings, chassis).expect("the service starts");
        ((test_kit::url(service.internal), service.internal_tls), service.run())
    });
    listeners
}

pub(crate) fn client(internal: &Url, token: &Secret) -> KeysClient {
    KeysClient(test_kit::peer("key-management", internal, token))
}

/// A well-formed key that was never created.
pub(crate) fn unknown_key(entropy: &Entropy) -> String {
    let segment = KeySegment::new("waybill").expect("a segment");
    domain::ApiKey::generate(Mode::Test, &segment, entropy).expose().to_owned()
}

async fn settings() -> Settings {
    Settings {
        environment: Environment::Local,
        database: test_kit::database_of(Service::KeyManagement).await,
        broker: settings::Broker::new(test_kit::unreachable_broker()),
        http: test_kit::listeners(),
        internal: Internal::default(),
        brand: Brand::default(),
        keys: Keys::default(),
        telemetry: Telemetry::default(),
    }
}

/// Hears what is announced on the broker from now on.
async fn listen_to_revocations(settings: &Settings) -> mpsc::UnboundedReceiver<ApiKeyId> {
    let (heard, revoked) = mpsc::unbounded_channel();
    let (listening, mut connected) = watch::channel(false);
    let queue = Queue::per_instance("test.revocations", &[binding::API_KEY_REVOKED]);
    let broker = Broker::start(&settings.broker, "test");
    let listener = Listener { heard, listening };
    tokio::spawn(messaging::consume(broker, queue, 1, listener, CancellationToken::new()));
    connected.wait_for(|connected| *connected).await.expect("the listener is subscribed");
    revoked
}

struct Listener {
    heard: mpsc::UnboundedSender<ApiKeyId>,
    listening: watch::Sender<bool>,
}

impl Handler for Listener {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        match envelope.body {
            Body::ApiKeyRevoked(revoked) => {
                // The test may have ended already.
                let _unheard = self.heard.send(revoked.key_id);
                Ok(())
            }
            other => Err(Rejection::Never(format!("unexpected: {other:?}"))),
        }
    }

    async fn connected(&self) {
        self.listening.send_replace(true);
    }
}
