//! order-api with tight limits, a clock of the test's own, and a key-management that the test plays.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, OnceLock};

use actix_web::web::{Data, Json, post};
use actix_web::{App, HttpResponse, HttpServer};
use chassis::Chassis;
use chrono::{DateTime, Utc};
use domain::{ApiKey, ApiKeyId, BusinessId, Clock, Entropy, KeySegment, Mode};
use internal_api::keys::{GoodKey, KeyVerdict, VerifyKey};
use local_stack::{Servers, Service};
use order_api::settings::{Fleet, Limits, OrderApiSettings, PersonalData, Public};
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use settings::{Brand, Database, Environment, Http, Internal, Peers, Secret, Telemetry};
use telemetry::Metrics;
use tokio::task::JoinHandle;
use url::Url;

pub(crate) struct Scene {
    pub(crate) clock: Clock,
    entropy: Entropy,
    origin: String,
    settings: OrderApiSettings,
    keys: Keys,
    http: reqwest::Client,
    running: JoinHandle<anyhow::Result<()>>,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    pub(crate) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }
}

impl Scene {
    pub(crate) async fn start() -> Self {
        let (clock, entropy) = (Clock::manual(some_day()), Entropy::from_system().expect("randomness"));
        let keys = Keys::start();
        let settings = settings(&keys).await;
        let chassis = Chassis::new(&settings, metrics(), clock.clone(), entropy.clone()).expect("a chassis");
        let service = order_api::app::start(&settings, chassis).expect("the service starts");
        let origin = format!("http://{}", service.public.expect("a public listener"));
        let running = tokio::spawn(service.run());
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
        Self { clock, entropy, origin, settings, keys, http, running }
    }

    /// A Test key that key-management knows.
    pub(crate) fn good_key(&self) -> String {
        let key = self.bad_key();
        let good = GoodKey {
            key_id: ApiKeyId::generate(&self.clock, &self.entropy),
            business_id: BusinessId::generate(&self.clock, &self.entropy),
            mode: Mode::Test,
            expires_at: None,
        };
        self.keys.known.lock().expect("no panic holds it").insert(key.clone(), good);
        key
    }

    /// A well-formed key that key-management does not know.
    pub(crate) fn bad_key(&self) -> String {
        let segment = KeySegment::new(&self.settings.brand.key_segment).expect("a segment");
        ApiKey::generate(Mode::Test, &segment, &self.entropy).expose().to_owned()
    }

    pub(crate) fn fleet_token(&self) -> String {
        self.settings.fleet.token.expose().to_owned()
    }

    /// How often key-management was asked about the key.
    pub(crate) fn look_ups(&self, key: &str) -> usize {
        let asked = self.keys.asked.lock().expect("no panic holds it");
        asked.iter().filter(|asked| *asked == key).count()
    }

    pub(crate) async fn create(&self, key: &str, reference: &str) -> Reply {
        let order = json!({
            "orderReference": reference,
            "customer": { "name": "Asha Rao", "phone": "+919800000001" },
            "delivery": {
                "addressLine1": "12th Main Road", "city": "Bengaluru", "state": "Karnataka", "pincode": "560038"
            },
            "payment": { "paymentType": "prepaid", "deliveryFeePaise": 4900 }
        });
        self.call(Method::POST, "/v1/integration/orders", key, Some((reference, order))).await
    }

    /// A call with this bearer token; a body comes with its `Idempotency-Key`.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: Option<(&str, Value)>,
    ) -> Reply {
        let mut request = self.http.request(method, format!("{}{path}", self.origin)).bearer_auth(token);
        if let Some((key, body)) = body {
            request = request.header("Idempotency-Key", key).json(&body);
        }
        let response = request.send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.expect("a body");
        let body = serde_json::from_str(&text).expect("JSON");
        Reply { status, headers, text, body }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// The recorder is the process's own; all tests share it.
fn metrics() -> Metrics {
    static METRICS: OnceLock<Metrics> = OnceLock::new();
    METRICS.get_or_init(|| telemetry::install_metrics("order-api").expect("the first recorder")).clone()
}

fn some_day() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600, 0).expect("a time")
}

async fn settings(keys: &Keys) -> OrderApiSettings {
    let servers = Servers::for_tests().await.expect("servers");
    let free = "127.0.0.1:0".parse().expect("an address");
    let url = |text: &str| Url::parse(text).expect("a URL");
    let number = |number: usize| u32::try_from(number).ok().and_then(NonZeroU32::new).expect("a number");
    OrderApiSettings {
        environment: Environment::Local,
        database: Database {
            url: Secret::new(servers.create_database_of(Service::OrderApi).await.expect("a database")),
            pool_size: 4,
        },
        broker: settings::Broker::new(Secret::new(servers.create_vhost().await.expect("a virtual host"))),
        http: Http { public: Some(free), internal: free, management: free },
        internal: Internal::default(),
        peers: Peers { key_management: url(&format!("http://{}/", keys.address)), ..Peers::default() },
        brand: Brand::default(),
        telemetry: Telemetry::default(),
        public: Public { url: url("https://delivery.example") },
        fleet: Fleet::default(),
        limits: Limits {
            requests_per_second: number(1),
            burst: Some(number(crate::BURST)),
            failed_authentications: number(crate::FAILURES_AT_ONCE),
            ..Limits::default()
        },
        personal_data: PersonalData::default(),
    }
}

/// What key-management knows, and was asked.
#[derive(Clone)]
struct Keys {
    address: SocketAddr,
    known: Arc<Mutex<HashMap<String, GoodKey>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Keys {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let keys = Self { address, known: Arc::default(), asked: Arc::default() };
        let data = Data::new(keys.clone());
        let server = HttpServer::new(move || {
            App::new().app_data(data.clone()).route("/internal/api-keys/verify", post().to(verify))
        });
        let server = server.workers(1).disable_signals().listen(listener).expect("the port is ours");
        tokio::spawn(server.run());
        keys
    }
}

async fn verify(question: Json<VerifyKey>, keys: Data<Keys>) -> HttpResponse {
    keys.asked.lock().expect("no panic holds it").push(question.key.clone());
    let verdict = keys.known.lock().expect("no panic holds it").get(&question.key).cloned();
    HttpResponse::Ok().json(KeyVerdict { verdict })
}
