//! Names with private addresses from a hostile name server (SSRF, DNS rebinding). A listener on this machine counts
//! every connection that must not happen.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use diesel::sql_types::Text;
use domain::Clock;
use internal_api::webhooks::{CreatedEndpoint, WebhooksClient};
use internal_api::{CallError, PageQuery, Peer, PeerOptions};
use serde_json::json;
use test_kit::{eventually, invalid_fields, refusal};
use tokio::net::TcpListener;

use crate::harness::Harness;
use crate::name_server::{NameServer, Said};
use crate::receiver::Receiver;

/// Public, and never called here: each of these answers has an address that is refused beside it, or in its place.
const PUBLIC: &str = "1.1.1.1";
const PUBLIC_V6: &str = "2606:4700::1111";

fn addresses(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn are(texts: &[&str]) -> Said {
    Said::Addresses(addresses(texts))
}

/// Which addresses are private is tested in `addresses.rs` of `crates/outbound`; this is about what names lead to.
fn zone(name: &str) -> Said {
    match name {
        "loopback.test" => are(&["127.0.0.1"]),
        "mapped.test" => are(&["::ffff:127.0.0.1"]),
        "metadata-v6.test" => are(&["fd00:ec2::254"]),
        "mixed.test" => are(&[PUBLIC, "127.0.0.1"]),
        "mixed-first.test" => are(&["127.0.0.1", PUBLIC]),
        "public-v4-private-v6.test" => are(&[PUBLIC, "::1"]),
        "public-v6-private-v4.test" => are(&["127.0.0.1", PUBLIC_V6]),
        // The one that matters comes last of far more than one datagram takes.
        "huge.test" => {
            let mut many = vec![PUBLIC; 400];
            many.push("127.0.0.1");
            are(&many)
        }
        "alias.test" => Said::Alias("inside.test", addresses(&["127.0.0.1"])),
        "bare-alias.test" => Said::Alias("inside.test", Vec::new()),
        "inside.test" => are(&["127.0.0.1"]),
        "alias-of-localhost.test" => Said::Alias("localhost", addresses(&[PUBLIC])),
        "alias-of-literal.test" => Said::Alias("127.0.0.1", Vec::new()),
        "circle.test" => Said::Alias("circle.test", Vec::new()),
        "poisoned.test" => Said::Others("loopback.test", addresses(&["127.0.0.1"])),
        "empty.test" => are(&[]),
        "silent.test" => Said::Silence,
        "failing.test" => Said::Failure,
        _ => Said::Nothing,
    }
}

const LEAD_INSIDE: [&str; 12] = [
    "loopback.test",
    "mapped.test",
    "metadata-v6.test",
    "mixed.test",
    "mixed-first.test",
    "public-v4-private-v6.test",
    "public-v6-private-v4.test",
    "huge.test",
    "alias.test",
    "bare-alias.test",
    "LoopBack.TEST.",
    "inside.test.",
];
/// None of them may lead to a connection.
const LEAD_NOWHERE: [&str; 8] = [
    "alias-of-localhost.test",
    "alias-of-literal.test",
    "circle.test",
    "poisoned.test",
    "empty.test",
    "unknown.test",
    "silent.test",
    "failing.test",
];

/// The listener that must not be reached: on 127.0.0.1 and, if this machine has IPv6, on ::1.
pub(crate) struct Inside {
    pub port: u16,
    connections: Arc<AtomicUsize>,
}

impl Inside {
    pub(crate) async fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let listeners = [Some(listener), TcpListener::bind(("::1", port)).await.ok()];
        for listener in listeners.into_iter().flatten() {
            let counted = Arc::clone(&connections);
            tokio::spawn(async move {
                while listener.accept().await.is_ok() {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        Self { port, connections }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A service with this name server, whose only allowed private address is 127.9.9.9.
async fn harness(server: &NameServer) -> Harness {
    let name_servers = server.address.to_string();
    let adjust = move |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.allowed_ranges = "127.9.9.9/32".parse().unwrap();
        settings.webhooks.name_servers = name_servers.parse().unwrap();
    };
    Harness::unconnected_with(adjust, Clock::system()).await
}

/// Gives an endpoint a URL that its owner could not, and has a test sent to it; why that failed.
pub(crate) async fn sent_to(harness: &Harness, endpoint: &CreatedEndpoint, url: &str) -> String {
    let mut conn = harness.connection().await;
    let update = diesel::sql_query("UPDATE endpoints SET url = $1 WHERE id = $2")
        .bind::<Text, _>(url)
        .bind::<Text, _>(endpoint.view.id.to_string());
    diesel_async::RunQueryDsl::execute(update, &mut conn).await.unwrap();
    let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
    assert!(!result.succeeded, "{url}");
    result.error.unwrap()
}

#[tokio::test]
async fn names_with_private_addresses_are_refused_by_the_api_and_by_the_sender() {
    let (server, inside) = (NameServer::start(zone).await, Inside::listen().await);
    let harness = harness(&server).await;
    let endpoint = harness.create(json!({"url": "http://127.9.9.9/"})).await;
    for name in LEAD_INSIDE {
        let url = format!("http://{name}:{}/hook", inside.port);
        let created = harness.hooks.create(harness.business, &json!({ "url": url })).await;
        let id = endpoint.view.id.to_string();
        let patched = harness.hooks.update(harness.business, &id, &json!({ "url": url })).await;
        assert!(created.is_err() && patched.is_err(), "{name} was taken");
        for refused in [refusal(created), refusal(patched)] {
            assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["url"]), "{name}");
        }
        let error = sent_to(&harness, &endpoint, &url).await;
        assert!(error.contains("not public"), "{name}: {error}");
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_rebinding_name_is_refused_when_it_is_called() {
    // A public address for the check, then a private one for the call.
    let rebound = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&rebound);
    let zone = move |_: &str| are(&[if now.load(Ordering::SeqCst) { "127.0.0.1" } else { PUBLIC }]);
    let (server, inside) = (NameServer::start(zone).await, Inside::listen().await);
    let harness = harness(&server).await;
    let url = format!("http://rebinding.test:{}/hook", inside.port);
    let endpoint = harness.create(json!({ "url": url })).await;
    rebound.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        let before = server.asked("rebinding.test");
        let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
        assert!(result.error.unwrap().contains("not public"));
        assert!(server.asked("rebinding.test") > before, "it is resolved for every call");
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn unresolvable_names_are_not_called_and_cause_no_delay() {
    let (server, inside) = (NameServer::start(zone).await, Inside::listen().await);
    let harness = harness(&server).await;
    for name in LEAD_NOWHERE {
        let url = format!("http://{name}:{}/hook", inside.port);
        let endpoint = harness.create(json!({"url": "http://127.9.9.9/"})).await;
        // It may be set up later, so that an owner may name it already.
        let patch = json!({ "url": url });
        let taken = harness.hooks.update(harness.business, &endpoint.view.id.to_string(), &patch).await;
        let error = sent_to(&harness, &endpoint, &url).await;
        let refused = taken.is_err() && error.contains("not public");
        assert!(refused || error.contains("resolve"), "{name}: {error}");
    }
    assert_eq!(inside.connections(), 0);
}

/// The answer that a caller gets who waits for so long as callers do. A busy machine makes him call again; a service
/// that waits for the name server keeps him waiting every time.
async fn in_time<T>(name: &str, mut call: impl AsyncFnMut() -> Result<T, CallError>) -> T {
    eventually(&format!("an answer in time: {name}"), async || match call().await {
        Ok(answer) => Some(answer),
        Err(CallError::Unavailable { .. }) => None,
        Err(refused) => panic!("{name}: {refused}"),
    })
    .await
}

/// Callers wait for 3 s. After a later response they would see an error, and the secret of the created endpoint would
/// be lost.
#[tokio::test]
async fn a_silent_name_server_delays_no_caller() {
    let server = NameServer::start(zone).await;
    let harness = harness(&server).await;
    let token = &harness.settings.internal.token;
    let usual = PeerOptions::default();
    let peer = Peer::new("webhook-dispatcher", harness.internal.clone(), None, token, usual).unwrap();
    let caller = WebhooksClient(peer);
    let page = PageQuery { limit: 20, starting_after: None };
    let business = harness.business;
    for name in ["silent.test", "failing.test", "unknown.test", "empty.test"] {
        let input = json!({ "url": format!("http://{name}/hook") });
        let created = in_time(name, async || caller.create(business, &input).await).await;
        assert!(created.secret.starts_with("whsec_"), "{name}");
        let (id, patch) = (created.view.id.to_string(), json!({ "url": format!("http://{name}/other") }));
        let changed = in_time(name, async || caller.update(business, &id, &patch).await).await;
        assert_eq!(changed.url, format!("http://{name}/other"));
        let listed = in_time(name, async || caller.list(business, &page).await).await;
        assert!(listed.data.iter().any(|one| one.id == created.view.id), "{name}");
    }
}

/// Shows that the tests above can fail: the same names are called if the operator allows it.
#[tokio::test]
async fn the_same_names_are_called_where_the_operator_allows_it() {
    let (server, receiver) = (NameServer::start(zone).await, Receiver::kind());
    let name_servers = server.address.to_string();
    let adjust = move |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.name_servers = name_servers.parse().unwrap();
    };
    let harness = Harness::unconnected_with(adjust, Clock::system()).await;
    for (count, name) in
        (1..).zip(["loopback.test", "alias.test", "bare-alias.test", "mapped.test", "localhost"])
    {
        let url = format!("http://{name}:{}/hook", receiver.port);
        let endpoint = harness.create(json!({ "url": url })).await;
        let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
        assert!(result.succeeded, "{name}: {:?}", result.error);
        assert_eq!(receiver.count(), 2 * count, "each is followed by one with a wrong signature");
    }
}
