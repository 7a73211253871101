//! The business's backend: it notes every webhook.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::web::{self, Bytes, Data, Path};
use actix_web::{App, HttpResponse, HttpServer};
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

#[derive(Default)]
struct Noted {
    /// Order and sequence of each webhook, by endpoint, in order of arrival.
    received: BTreeMap<String, Vec<(String, u64)>>,
    /// The endpoints that answer 410, so that they are disabled.
    gone: BTreeSet<String>,
}

pub(super) struct Receiver {
    address: SocketAddr,
    noted: Arc<Mutex<Noted>>,
    _serving: AbortOnDropHandle<()>,
}

impl Receiver {
    pub(super) fn start() -> anyhow::Result<Self> {
        let noted = Arc::<Mutex<Noted>>::default();
        let data = Data::from(Arc::clone(&noted));
        let server = HttpServer::new(move || {
            App::new().app_data(data.clone()).route("/{endpoint}", web::post().to(receive))
        });
        let server = server.workers(1).disable_signals().bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = server.addrs()[0];
        let server = server.run();
        let serving = async move {
            if let Err(error) = server.await {
                panic!("the receiver stopped listening: {error}");
            }
        };
        Ok(Self { address, noted, _serving: AbortOnDropHandle::new(tokio::spawn(serving)) })
    }

    pub(super) fn url(&self, endpoint: &str) -> String {
        format!("http://{}/{endpoint}", self.address)
    }

    pub(super) fn answers_gone(&self, endpoint: &str, is_gone: bool) {
        let mut noted = lock(&self.noted);
        if is_gone {
            noted.gone.insert(endpoint.to_owned());
        } else {
            noted.gone.remove(endpoint);
        }
    }

    pub(super) fn count(&self, endpoint: &str) -> usize {
        lock(&self.noted).received.get(endpoint).map_or(0, Vec::len)
    }

    pub(super) fn received(&self, endpoint: &str) -> Vec<(String, u64)> {
        lock(&self.noted).received.get(endpoint).cloned().unwrap_or_default()
    }

    pub(super) fn forget(&self) {
        lock(&self.noted).received.clear();
    }
}

async fn receive(endpoint: Path<String>, body: Bytes, noted: Data<Mutex<Noted>>) -> HttpResponse {
    let Ok(webhook) = serde_json::from_slice::<Value>(&body) else {
        return HttpResponse::BadRequest().finish();
    };
    let order = webhook["order"]["id"].as_str().unwrap_or_default().to_owned();
    let sequence = webhook["sequence"].as_u64().unwrap_or_default();
    let mut noted = lock(&noted);
    if noted.gone.contains(endpoint.as_str()) {
        return HttpResponse::Gone().finish();
    }
    noted.received.entry(endpoint.into_inner()).or_default().push((order, sequence));
    HttpResponse::Ok().finish()
}

fn lock(noted: &Mutex<Noted>) -> MutexGuard<'_, Noted> {
    noted.lock().unwrap_or_else(PoisonError::into_inner)
}
