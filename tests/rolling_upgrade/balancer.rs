//! Sends each call to an instance that is ready, in turn, as a platform's Service and ingress do. One that is told to leave
//! gets no new calls; what it has in hand goes on.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use demo::clients::{Api, Reply};
use demo::eventually;
use reqwest::Method;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;
use waybill_tests::PATIENCE;

/// How often instances are asked whether they are ready.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// What concerns one connection and not the call.
const OF_A_CONNECTION: [&str; 4] = ["connection", "content-length", "host", "transfer-encoding"];

/// Where an instance listens.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    pub(crate) public: String,
    pub(crate) internal: String,
    pub(crate) management: String,
}

/// What the calls are that an instance answers, in the story's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Create,
    Cancel,
    Report,
    Read,
    Other,
}

impl Kind {
    pub(crate) const OF_TRAFFIC: [Self; 4] = [Self::Create, Self::Cancel, Self::Report, Self::Read];

    fn of(method: &str, path: &str) -> Self {
        match method {
            "GET" => Self::Read,
            "POST" if path == "/v1/integration/orders" => Self::Create,
            "POST" if path.ends_with("/cancel") => Self::Cancel,
            "POST" if path.starts_with("/v1/fleet/orders/") => Self::Report,
            _ => Self::Other,
        }
    }
}

/// An instance as the balancer knows it.
struct Member {
    origins: Origins,
    takes_calls: bool,
    is_ready: bool,
    answered: BTreeMap<Kind, u64>,
}

#[derive(Default)]
struct State {
    members: BTreeMap<&'static str, Member>,
    turn: usize,
    in_hand: BTreeMap<&'static str, usize>,
    /// Since an instance was ready for the first time; before, the other services of a stack call in vain.
    has_begun: bool,
    failures: Vec<String>,
}

#[derive(Clone, Copy)]
enum Side {
    Public,
    Internal,
}

#[derive(Clone)]
struct Shared {
    state: Arc<Mutex<State>>,
    http: Api,
}

pub(crate) struct Balancer {
    shared: Shared,
    public: SocketAddr,
    internal: SocketAddr,
    _working: Vec<AbortOnDropHandle<()>>,
}

impl Balancer {
    /// A balancer without instances.
    pub(crate) fn start() -> anyhow::Result<Self> {
        // Without a base: each call names its instance.
        let shared = Shared { state: Arc::default(), http: Api::new("")? };
        let (public, for_callers) = listen(&shared, Side::Public)?;
        let (internal, for_services) = listen(&shared, Side::Internal)?;
        let asking = AbortOnDropHandle::new(tokio::spawn(ask_around(shared.clone())));
        Ok(Self { shared, public, internal, _working: vec![for_callers, for_services, asking] })
    }

    /// Base URL of the integration and fleet API, ending in `/v1`.
    pub(crate) fn order_api(&self) -> String {
        format!("http://{}/v1", self.public)
    }

    pub(crate) fn internal_port(&self) -> u16 {
        self.internal.port()
    }

    /// From now on the instance gets calls whenever it is ready.
    pub(crate) fn join(&self, name: &'static str, origins: Origins) {
        let member = Member { origins, takes_calls: true, is_ready: false, answered: BTreeMap::new() };
        self.shared.state().members.insert(name, member);
    }

    /// Its calls of before are still counted.
    pub(crate) fn join_again(&self, name: &'static str) {
        if let Some(member) = self.shared.state().members.get_mut(name) {
            (member.takes_calls, member.is_ready) = (true, false);
        }
    }

    /// Answers when the instance has answered all that was sent to it; it gets no new calls from the beginning of this.
    pub(crate) async fn leave(&self, name: &'static str) -> anyhow::Result<()> {
        if let Some(member) = self.shared.state().members.get_mut(name) {
            member.takes_calls = false;
        }
        eventually(&format!("{name} to have nothing in hand"), PATIENCE, || async {
            let in_hand = self.shared.state().in_hand.get(name).copied().unwrap_or_default();
            Ok((in_hand == 0).then_some(()))
        })
        .await
    }

    /// How many calls it has answered.
    pub(crate) fn answered(&self, name: &'static str) -> u64 {
        self.counts(name).values().sum()
    }

    pub(crate) async fn is_ready(&self, name: &'static str) -> anyhow::Result<()> {
        eventually(&format!("{name} to be ready"), PATIENCE, || async {
            let ready = self.shared.state().members.get(name).is_some_and(|member| member.is_ready);
            Ok(ready.then_some(()))
        })
        .await
    }

    /// Waits until the instance has answered this many more calls of each kind that the story's traffic has.
    pub(crate) async fn has_served(&self, name: &'static str, more: u64) -> anyhow::Result<()> {
        let before = self.counts(name);
        let of = |counts: &BTreeMap<Kind, u64>, kind| counts.get(&kind).copied().unwrap_or_default();
        eventually(&format!("{name} to serve {more} more calls of each kind"), PATIENCE, || async {
            let now = self.counts(name);
            let enough = Kind::OF_TRAFFIC.iter().all(|&kind| of(&now, kind) >= of(&before, kind) + more);
            // Whatever fails ends the wait.
            anyhow::ensure!(self.failures().is_empty(), "{:?}", self.failures());
            Ok(enough.then_some(()))
        })
        .await
    }

    /// Calls that nobody answered, or with a 5xx.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.shared.state().failures.clone()
    }

    fn counts(&self, name: &'static str) -> BTreeMap<Kind, u64> {
        self.shared.state().members.get(name).map(|member| member.answered.clone()).unwrap_or_default()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next in turn of those that are ready; it has one more call in hand from now on.
    fn choose(&self, side: Side) -> Option<(&'static str, String)> {
        let mut state = self.state();
        state.turn = state.turn.wrapping_add(1);
        let able = || state.members.iter().filter(|(_, member)| member.takes_calls && member.is_ready);
        let (name, member) = able().nth(state.turn % able().count().max(1))?;
        let origin = match side {
            Side::Public => member.origins.public.clone(),
            Side::Internal => member.origins.internal.clone(),
        };
        let name = *name;
        *state.in_hand.entry(name).or_default() += 1;
        Some((name, origin))
    }

    fn record(&self, name: &'static str, call: &str, kind: Kind, outcome: &anyhow::Result<Reply>) {
        let mut state = self.state();
        *state.in_hand.entry(name).or_default() -= 1;
        match outcome {
            Ok(reply) if !reply.status.is_server_error() => {
                let member = state.members.get_mut(name);
                *member.map_or(&mut 0, |member| member.answered.entry(kind).or_default()) += 1;
            }
            Ok(reply) => state.failures.push(format!("{name}: {call}: {}: {}", reply.status, reply.text)),
            Err(error) => state.failures.push(format!("{name}: {call}: {error:#}")),
        }
    }
}

async fn ask_around(shared: Shared) {
    loop {
        let members: Vec<_> = {
            let state = shared.state();
            state.members.iter().map(|(name, member)| (*name, member.origins.management.clone())).collect()
        };
        for (name, management) in members {
            let ready = shared.http.request(Method::GET, &format!("{management}/health/ready"));
            let ready = shared.http.send(ready).await.is_ok_and(|reply| reply.status == 200);
            if let Some(member) = shared.state().members.get_mut(name) {
                member.is_ready = ready;
            }
            shared.state().has_begun |= ready;
        }
        sleep(ASK_EVERY).await;
    }
}

fn listen(shared: &Shared, side: Side) -> anyhow::Result<(SocketAddr, AbortOnDropHandle<()>)> {
    let data = Data::new((shared.clone(), side));
    let server = HttpServer::new(move || App::new().app_data(data.clone()).default_service(web::to(pass_on)))
        .workers(1)
        .disable_signals()
        .bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = server.addrs()[0];
    let server = server.run();
    let serving = async move {
        if let Err(error) = server.await {
            panic!("the balancer does not listen any more: {error}");
        }
    };
    Ok((address, AbortOnDropHandle::new(tokio::spawn(serving))))
}

async fn pass_on(request: HttpRequest, body: Bytes, data: Data<(Shared, Side)>) -> HttpResponse {
    let (shared, side) = data.get_ref();
    let call = format!("{} {}", request.method(), request.uri());
    let Some((name, origin)) = shared.choose(*side) else {
        let mut state = shared.state();
        if state.has_begun {
            state.failures.push(format!("{call}: no instance is ready"));
        }
        return HttpResponse::ServiceUnavailable().finish();
    };
    let outcome = ask(&shared.http, &origin, &request, body).await;
    let kind = match side {
        Side::Public => Kind::of(request.method().as_str(), request.path()),
        Side::Internal => Kind::Other,
    };
    shared.record(name, &call, kind, &outcome);
    match outcome {
        Ok(reply) => answer(reply),
        Err(error) => HttpResponse::BadGateway().body(format!("{error:#}")),
    }
}

/// The two sides know HTTP by different versions of one crate, so methods, names and values go over as bytes.
async fn ask(http: &Api, origin: &str, request: &HttpRequest, body: Bytes) -> anyhow::Result<Reply> {
    let method = Method::from_bytes(request.method().as_str().as_bytes())?;
    let mut onward = http.request(method, &format!("{origin}{}", request.uri()));
    for (name, value) in request.headers() {
        if !OF_A_CONNECTION.contains(&name.as_str()) {
            onward = onward.header(name.as_str(), value.as_bytes());
        }
    }
    http.send(onward.body(body)).await
}

fn answer(reply: Reply) -> HttpResponse {
    let status = actix_web::http::StatusCode::from_u16(reply.status.as_u16()).unwrap_or_default();
    let mut response = HttpResponse::build(status);
    for (name, value) in &reply.headers {
        if !OF_A_CONNECTION.contains(&name.as_str()) {
            response.append_header((name.as_str(), value.as_bytes()));
        }
    }
    response.body(reply.text)
}
