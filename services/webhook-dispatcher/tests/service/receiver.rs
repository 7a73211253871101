//! An integrator's web server: stores requests and responds as the test chooses.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Data, PayloadConfig, to};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use serde_json::Value;
use tokio::sync::watch;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub at: Instant,
    pub path: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(header, _)| header == name);
        &found.unwrap_or_else(|| panic!("no header {name}")).1
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    pub(crate) fn id(&self) -> String {
        self.json()["id"].as_str().expect("an id").to_owned()
    }

    pub(crate) fn reference(&self) -> String {
        self.json()["order"]["orderReference"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn sequence(&self) -> i64 {
        self.json()["sequence"].as_i64().expect("a sequence")
    }
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub after: Duration,
    /// Nothing is answered before this is open.
    pub held: Option<Latch>,
}

pub(crate) fn reply(status: u16) -> Reply {
    let body = br#"{"received":true}"#.to_vec();
    Reply { status, headers: Vec::new(), body, after: Duration::ZERO, held: None }
}

/// Delays responses until the test opens it. Clones are the same latch.
#[derive(Clone, Debug)]
pub(crate) struct Latch(watch::Sender<bool>);

impl Latch {
    pub(crate) fn closed() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }

    async fn opened(&self) {
        let mut changes = self.0.subscribe();
        // Its sender is alive: it is ours.
        let _open = changes.wait_for(|open| *open).await;
    }
}

/// Decides by the request and by how many came before it.
type Behaviour = dyn Fn(&Received, usize) -> Reply + Send + Sync;

struct Shared {
    received: Mutex<Vec<Received>>,
    behaviour: Box<Behaviour>,
}

/// A running receiver.
pub(crate) struct Receiver {
    pub port: u16,
    shared: Arc<Shared>,
    handle: ServerHandle,
}

impl Receiver {
    pub(crate) fn start(behaviour: impl Fn(&Received, usize) -> Reply + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared { received: Mutex::default(), behaviour: Box::new(behaviour) });
        let data = Data::from(shared.clone());
        let server = HttpServer::new(move || {
            App::new()
                .app_data(data.clone())
                .app_data(PayloadConfig::new(1 << 20))
                .default_service(to(receive))
        })
        .workers(1)
        .disable_signals()
        .shutdown_timeout(0)
        .bind("127.0.0.1:0")
        .expect("a free port");
        let port = server.addrs()[0].port();
        let server = server.run();
        let handle = server.handle();
        tokio::spawn(server);
        Self { port, shared, handle }
    }

    /// Answers 200 to everything.
    pub(crate) fn kind() -> Self {
        Self::start(|_, _| reply(200))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The sequences that arrived for an order, in the order of arrival.
    pub(crate) fn sequences(&self, reference: &str) -> Vec<i64> {
        let of_order = |received: &Received| received.reference() == reference;
        self.received().iter().filter(|received| of_order(received)).map(Received::sequence).collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // Stops in the background.
        drop(self.handle.stop(false));
    }
}

async fn receive(shared: Data<Shared>, request: HttpRequest, body: Bytes) -> HttpResponse {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let received = Received {
        at: Instant::now(),
        path: request.uri().to_string(),
        headers: request
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str().to_ascii_lowercase(), text(value.as_bytes())))
            .collect(),
        body: body.to_vec(),
    };
    let before = {
        let mut all = shared.received.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(received.clone());
        all.len() - 1
    };
    let reply = (shared.behaviour)(&received, before);
    if let Some(latch) = &reply.held {
        latch.opened().await;
    }
    tokio::time::sleep(reply.after).await;
    let mut response = HttpResponse::build(StatusCode::from_u16(reply.status).expect("a status"));
    for (name, value) in reply.headers {
        response.append_header((name, value));
    }
    response.body(reply.body)
}
