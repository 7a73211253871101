//! A load balancer in front of a service's instances. It sends calls to ready instances in turn, like a platform's
//! Service and ingress. A leaving instance gets no new calls and finishes its current ones.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use anyhow::Context;
use demo::clients::{Api, Reply};
use demo::eventually;
use local_stack::{Instance, Service, Stack};
use reqwest::Method;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;
use waybill_tests::PATIENCE;

use crate::calls;
use crate::failures::Failures;

/// The interval of readiness checks.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// Longer than callers keep idle connections, so that no connection is closed while a call is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(120);
/// The number of calls of each kind, and pieces of other work, before the rollout continues.
const ENOUGH: u32 = 5;
/// Log-ins hash passwords, so a few of each kind of call take a minute on a busy machine.
const SERVED_MAX: Duration = PATIENCE.saturating_mul(3);
/// Headers of the connection, which are not forwarded.
const OF_A_CONNECTION: [&str; 4] = ["connection", "content-length", "host", "transfer-encoding"];

/// The addresses of an instance.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    pub(crate) public: String,
    pub(crate) internal: String,
    pub(crate) management: String,
}

impl Origins {
    pub(crate) fn of_stack(stack: &Stack, service: Service) -> Self {
        let public = match service {
            Service::OrderApi => stack.order_api_origin(),
            Service::PortalApi => stack.portal_api(),
            Service::KeyManagement | Service::Wallet | Service::WebhookDispatcher => String::new(),
        };
        Self { public, internal: stack.internal_url(service), management: stack.management_url(service) }
    }

    pub(crate) fn of_instance(instance: &Instance) -> Self {
        Self {
            public: instance.public_url(),
            internal: instance.internal_url(),
            management: instance.management_url(),
        }
    }
}

/// An instance in the balancer's list.
struct Member {
    origins: Origins,
    takes_calls: bool,
    is_ready: bool,
    answered: BTreeMap<&'static str, u64>,
}

#[derive(Default)]
struct State {
    members: BTreeMap<&'static str, Member>,
    /// Per kind of call, so that each instance gets its share of each kind.
    turns: BTreeMap<Option<&'static str>, usize>,
    in_flight: BTreeMap<&'static str, usize>,
    /// Since an instance was first ready. Earlier calls of other services in the stack fail.
    has_begun: bool,
}

#[derive(Clone, Copy)]
enum Side {
    Public,
    Internal,
}

#[derive(Clone)]
struct Shared {
    service: Service,
    failures: Failures,
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
    pub(crate) fn start(service: Service, failures: &Failures) -> anyhow::Result<Self> {
        // Without a base: each call names its instance.
        let (state, http) = (Arc::default(), Api::new("")?);
        let shared = Shared { service, failures: failures.clone(), state, http };
        let (public, for_callers) = listen(&shared, Side::Public)?;
        let (internal, for_services) = listen(&shared, Side::Internal)?;
        let asking = AbortOnDropHandle::new(tokio::spawn(ask_around(shared.clone())));
        Ok(Self { shared, public, internal, _working: vec![for_callers, for_services, asking] })
    }

    pub(crate) fn public_origin(&self) -> String {
        format!("http://{}", self.public)
    }

    pub(crate) fn internal_port(&self) -> u16 {
        self.internal.port()
    }

    /// Adds the instance. It gets calls while it is ready.
    pub(crate) fn join(&self, name: &'static str, origins: Origins) {
        let member = Member { origins, takes_calls: true, is_ready: false, answered: BTreeMap::new() };
        self.shared.state().members.insert(name, member);
    }

    /// Earlier calls of a returning instance still count.
    pub(crate) fn join_again(&self, name: &'static str) {
        if let Some(member) = self.shared.state().members.get_mut(name) {
            (member.takes_calls, member.is_ready) = (true, false);
        }
    }

    /// Removes the instance at once, and returns when it has answered all its calls.
    pub(crate) async fn leave(&self, name: &'static str) -> anyhow::Result<()> {
        if let Some(member) = self.shared.state().members.get_mut(name) {
            member.takes_calls = false;
        }
        eventually(&format!("{name} to have nothing in flight"), PATIENCE, || async {
            let in_flight = self.shared.state().in_flight.get(name).copied().unwrap_or_default();
            Ok((in_flight == 0).then_some(()))
        })
        .await
    }

    /// The number of traffic calls that it has answered.
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

    /// Waits until the instance has answered enough more calls of each kind and done enough other work.
    pub(crate) async fn has_served(&self, name: &'static str) -> anyhow::Result<()> {
        let service = self.shared.service;
        let management = self.management(name)?;
        let (calls, work) = (self.counts(name), calls::work(service, &management).await?);
        let what = format!("{name} {} to answer calls", service.name());
        let waited = eventually(&what, SERVED_MAX, || async {
            self.shared.failures.are_none()?;
            Ok(self.lacking(name, &calls).is_empty().then_some(()))
        });
        waited.await.with_context(|| format!("it lacks {:?}", self.lacking(name, &calls)))?;
        eventually(&format!("{name} {} to do its other work", service.name()), SERVED_MAX, || async {
            self.shared.failures.are_none()?;
            let now = calls::work(service, &management).await?;
            let is_enough = now.iter().zip(&work).all(|(now, before)| now - before >= f64::from(ENOUGH));
            Ok(is_enough.then_some(()))
        })
        .await
    }

    /// The kinds of calls of which it has answered too few since then.
    fn lacking(&self, name: &'static str, before: &BTreeMap<&'static str, u64>) -> Vec<&'static str> {
        let now = self.counts(name);
        let of = |counts: &BTreeMap<&str, u64>, kind: &str| counts.get(kind).copied().unwrap_or_default();
        let kinds = calls::of(self.shared.service).iter().copied();
        kinds.filter(|kind| of(&now, kind) < of(before, kind) + u64::from(ENOUGH)).collect()
    }

    fn management(&self, name: &'static str) -> anyhow::Result<String> {
        let state = self.shared.state();
        Ok(state.members.get(name).context("it has joined")?.origins.management.clone())
    }

    fn counts(&self, name: &'static str) -> BTreeMap<&'static str, u64> {
        self.shared.state().members.get(name).map(|member| member.answered.clone()).unwrap_or_default()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next ready instance. Its number of current calls is incremented.
    fn choose(&self, side: Side, kind: Option<&'static str>) -> Option<(&'static str, String)> {
        let mut state = self.state();
        let turn = state.turns.entry(kind).or_default();
        *turn = turn.wrapping_add(1);
        let turn = *turn;
        let able = || state.members.iter().filter(|(_, member)| member.takes_calls && member.is_ready);
        let (name, member) = able().nth(turn % able().count().max(1))?;
        let origin = match side {
            Side::Public => member.origins.public.clone(),
            Side::Internal => member.origins.internal.clone(),
        };
        let name = *name;
        *state.in_flight.entry(name).or_default() += 1;
        Some((name, origin))
    }

    fn record(&self, name: &'static str, call: &Call, outcome: &anyhow::Result<Reply>) {
        let mut state = self.state();
        *state.in_flight.entry(name).or_default() -= 1;
        let who = format!("{name} {}: {}", self.service.name(), call.line);
        match (outcome, state.members.get_mut(name)) {
            (Err(error), _) => self.failures.note(format!("{who}: {error:#}")),
            (Ok(reply), _) if reply.status.is_server_error() => {
                self.failures.note(format!("{who}: {}: {}", reply.status, reply.text));
            }
            (Ok(_), Some(member)) => {
                if let Some(kind) = call.kind {
                    *member.answered.entry(kind).or_default() += 1;
                }
            }
            (Ok(_), None) => {}
        }
    }
}

/// A forwarded call.
struct Call {
    line: String,
    kind: Option<&'static str>,
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
        .keep_alive(KEEP_ALIVE)
        .disable_signals()
        .bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = server.addrs()[0];
    let server = server.run();
    let serving = async move {
        if let Err(error) = server.await {
            panic!("the balancer stopped listening: {error}");
        }
    };
    Ok((address, AbortOnDropHandle::new(tokio::spawn(serving))))
}

async fn pass_on(request: HttpRequest, body: Bytes, data: Data<(Shared, Side)>) -> HttpResponse {
    let (shared, side) = data.get_ref();
    let line = format!("{} {}", request.method(), request.uri());
    let call = Call { line, kind: calls::kind(shared.service, request.method().as_str(), request.path()) };
    let Some((name, origin)) = shared.choose(*side, call.kind) else {
        if shared.state().has_begun {
            let service = shared.service.name();
            shared.failures.note(format!("{service}: {}: no instance is ready", call.line));
        }
        return HttpResponse::ServiceUnavailable().finish();
    };
    let outcome = ask(&shared.http, &origin, &request, body).await;
    shared.record(name, &call, &outcome);
    match outcome {
        Ok(reply) => answer(reply),
        Err(error) => HttpResponse::BadGateway().body(format!("{error:#}")),
    }
}

/// The two sides use different versions of the `http` crate, so methods, names and values are converted through bytes.
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
