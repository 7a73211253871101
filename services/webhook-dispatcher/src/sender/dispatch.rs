//! The workers: one takes due deliveries and has each sent in a task of its own, one keeps their leases.

use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::attempt::Webhook;
use super::express::Taken;
use super::in_hand::{Hold, LEASE};
use super::pace::Pace;
use crate::app::App;
use crate::domain::{Failure, Places};
use crate::store::{self, Claim, Claimed, Lease, Outcome, Then};

/// The notifier only saves this wait; what it does not tell of is found by looking.
const POLL: Duration = Duration::from_millis(500);
/// While the database is away.
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// Attempts under way when the service stops get this long; the rest is given back.
const DRAIN: Duration = Duration::from_secs(3);
/// A secret that does not open is a fault of ours, which costs the delivery time but no attempt.
const UNREADABLE_SECRET_PAUSE: TimeDelta = TimeDelta::seconds(60);

pub(crate) async fn dispatch(app: App, mut express: UnboundedReceiver<Taken>, stop: CancellationToken) {
    let mut sending = JoinSet::new();
    let (mut next, mut pace) = (Next::default(), Pace::new(Instant::now()));
    while !stop.is_cancelled() {
        while sending.try_join_next().is_some() {}
        metrics::gauge!("webhook_in_flight").set(count(app.in_hand.len()));
        let room = app.concurrency.saturating_sub(app.in_hand.len()).min(pace.most(Instant::now()));
        if room > 0 {
            let began = Instant::now();
            match take_meanwhile(&app, room, (&mut express, &mut pace), &mut sending).await {
                Ok(claimed) => {
                    let found = claimed.iter().map(|(claimed, _)| claimed.endpoint_id);
                    pace.looked((began, Instant::now()), found);
                    next = Next { pause: None, more: !claimed.is_empty() };
                    for taken in claimed {
                        start(&app, &mut sending, taken);
                    }
                }
                Err(error) => {
                    let longer = next.pause.map_or(POLL, |pause: Duration| (pause * 2).min(PAUSE_MAX));
                    if next.pause.replace(longer).is_none() {
                        tracing::warn!(%error, "due webhooks cannot be taken; trying until they can");
                    }
                }
            }
        }
        wait(&app, (&mut express, &mut pace), &mut sending, next, &stop).await;
    }
    // What is committed from now on is given back by whoever committed it.
    express.close();
    let unsent: Vec<Taken> = std::iter::from_fn(|| express.try_recv().ok()).collect();
    give_back(&app, &Vec::from_iter(unsent.iter().map(|(_, hold)| hold.lease()))).await;
    drop(unsent);
    drain(&app, sending).await;
}

/// What the latest look at what is due says of the next.
#[derive(Clone, Copy, Default)]
struct Next {
    /// The database did not answer: nothing but time helps.
    pause: Option<Duration>,
    /// Something was due, so that more may be, for which there was no room.
    more: bool,
}

fn send_new(app: &App, taken: Taken, pace: &mut Pace, sending: &mut JoinSet<()>) {
    pace.express(taken.0.endpoint_id, Instant::now());
    start(app, sending, taken);
}

fn start(app: &App, sending: &mut JoinSet<()>, (claimed, hold): Taken) {
    let span = span_of(&claimed);
    sending.spawn(deliver(app.clone(), claimed, hold).instrument(span));
}

/// Until it is worth while to look again: something became due, a place is free for what waits, or time is up. What
/// comes by express is sent meanwhile.
async fn wait(
    app: &App,
    (express, pace): (&mut UnboundedReceiver<Taken>, &mut Pace),
    sending: &mut JoinSet<()>,
    Next { pause, mut more }: Next,
    stop: &CancellationToken,
) {
    let until = Instant::now() + pause.unwrap_or(POLL);
    let few_left = app.in_hand.len() * 3 / 4;
    loop {
        let in_hand = app.in_hand.len();
        let may_look = more && pause.is_none() && in_hand < app.concurrency;
        let next_look = pace.next_look(in_hand <= few_left, Instant::now());
        if may_look && Instant::now() >= next_look {
            return;
        }
        let until = if may_look { until.min(next_look) } else { until };
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.bell.notified(), if pause.is_none() => more = true,
            Some(taken) = express.recv() => send_new(app, taken, pace, sending),
            Some(_) = sending.join_next() => {}
            () = tokio::time::sleep_until(until) => return,
        }
    }
}

/// Extends the leases of what is under way, also of tests that an owner waits for.
pub(crate) async fn renew_leases(app: App, stop: CancellationToken) {
    while tokio::time::timeout(LEASE / 4, stop.cancelled()).await.is_err() {
        let (began, held) = (std::time::Instant::now(), app.in_hand.leases());
        if held.is_empty() {
            app.in_hand.renewed(began);
            continue;
        }
        let until = app.clock.now() + LEASE;
        let renewed = app.database.read(async |conn| store::renew(conn, &held, until).await).await;
        match renewed {
            Ok(_) => app.in_hand.renewed(began),
            Err(error) => tracing::warn!(%error, held = held.len(), "leases were not renewed"),
        }
    }
}

/// What is new is sent while the database looks for what is due.
async fn take_meanwhile(
    app: &App,
    room: usize,
    (express, pace): (&mut UnboundedReceiver<Taken>, &mut Pace),
    sending: &mut JoinSet<()>,
) -> Result<Vec<Taken>, postgres::StoreError> {
    let mut taking = std::pin::pin!(take(app, room));
    loop {
        tokio::select! {
            claimed = &mut taking => return claimed,
            Some(taken) = express.recv() => send_new(app, taken, pace, sending),
        }
    }
}

async fn take(app: &App, room: usize) -> Result<Vec<Taken>, postgres::StoreError> {
    let now = app.clock.now();
    let loads = app.loads.of(&app.in_hand.by_endpoint(), Instant::now());
    let full = loads.iter().filter(|(_, load)| load.under_way > 0 && load.allowed == 0);
    app.in_hand.await_place(full.map(|(endpoint, load)| (*endpoint, load.under_way)));
    let (held, free) = app.in_hand.shares(Places::of(app.concurrency));
    let in_hand = app.in_hand.lapsed();
    let claim = Claim {
        now,
        lease_until: now + LEASE,
        token: i64::from_le_bytes(app.entropy.bytes()),
        room: i64::try_from(room).unwrap_or(i64::MAX),
        places_first: app.loads.places_first(),
        per_second: app.loads.per_second(),
        loads: &loads,
        held: &held,
        free,
        in_hand: &in_hand,
    };
    let claimed = app.database.read(async |conn| store::claim(conn, &claim).await).await?;
    app.loads.spend(claimed.iter().map(|one| (one.endpoint_id, one.max_per_second)), Instant::now());
    let taken_over = claimed.iter().filter(|one| one.taken_over).count();
    metrics::counter!("webhook_taken_over_total").increment(taken_over as u64);
    let held = |claimed: Claimed| {
        let lease = Lease { delivery: claimed.id, business: claimed.business_id, token: claimed.token };
        let hold = app.in_hand.take(lease, claimed.endpoint_id, claimed.mode);
        (claimed, hold)
    };
    Ok(claimed.into_iter().map(held).collect())
}

/// In the trace of the event, so that a webhook can be followed back to the call that caused it.
fn span_of(claimed: &Claimed) -> tracing::Span {
    let span = tracing::info_span!(
        "webhook",
        delivery_id = %claimed.id,
        event_id = %claimed.event_id,
        endpoint_id = %claimed.endpoint_id,
        business_id = %claimed.business_id,
        attempt = claimed.number,
        trace_id = tracing::field::Empty,
    );
    if let Some(trace) = &claimed.trace {
        trace.set_as_parent_of(&span);
    }
    if let Some(trace_id) = telemetry::trace_id(&span) {
        span.record("trace_id", trace_id);
    }
    span
}

async fn deliver(app: App, claimed: Claimed, hold: Hold) {
    if claimed.number == 1 {
        let lag = (app.clock.now() - claimed.occurred_at).to_std().unwrap_or_default();
        metrics::histogram!("webhook_first_attempt_lag_seconds").record(lag);
    }
    let outcome = outcome_of(&app, claimed).await;
    if let Some(attempt) = &outcome.attempt {
        app.loads.learn(outcome.endpoint, attempt.succeeded(), attempt.duration_ms);
        // What a failure says of the endpoint is known to all only once it is written.
        if attempt.succeeded() {
            hold.received();
        }
    }
    app.recorder.record(outcome).await;
}

async fn outcome_of(app: &App, claimed: Claimed) -> Outcome {
    let mut outcome = Outcome {
        delivery: claimed.id,
        business_id: claimed.business_id,
        endpoint: claimed.endpoint_id,
        order: claimed.order_id,
        order_in_turn: claimed.order_in_turn,
        token: claimed.token,
        number: claimed.number,
        attempt: None,
        then: Then::Discarded,
        at: app.clock.now(),
        is_test: claimed.kind == domain::EventKind::WebhookTest,
        disables: None,
        asked_for: None,
    };
    if !claimed.wanted {
        return outcome;
    }
    let webhook = Webhook {
        endpoint: claimed.endpoint_id,
        url: &claimed.url,
        secrets: &claimed.secrets,
        event: claimed.event_id,
        mode: claimed.mode,
        body: claimed.body,
    };
    let attempted = app.sender.attempt(webhook).await;
    outcome.at = app.clock.now();
    match attempted {
        Err(error) => {
            tracing::error!(%error, "a signing secret does not open; is WAYBILL_SECRETS__KEY the right one?");
            outcome.then = Then::Again(outcome.at + UNREADABLE_SECRET_PAUSE);
        }
        Ok(attempted) => {
            (outcome.disables, outcome.asked_for) = (attempted.disables(), attempted.asked_for());
            outcome.then = match &attempted.failure {
                None => Then::Succeeded,
                // An owner's test tells at once, or not at all.
                Some(_) if outcome.is_test => Then::Failed,
                Some(failure) => {
                    log_failure(failure);
                    let jitter = app.entropy.jitter();
                    let (mode, number) = (claimed.mode, claimed.number_in_schedule);
                    match app.schedule.next_attempt(mode, number, attempted.retry_after, jitter) {
                        Some(delay) => Then::Again(outcome.at + delay),
                        None => Then::Failed,
                    }
                }
            };
            outcome.attempt = Some(attempted.attempt);
        }
    }
    outcome
}

/// Only the kind of failure: a URL may carry a secret in its path, and a host name is its owner's matter.
fn log_failure(failure: &Failure) {
    match failure {
        Failure::Status(status) | Failure::Redirect(status) => {
            tracing::info!(status, "a webhook was not taken")
        }
        Failure::Timeout(_) => tracing::info!("a webhook was not answered in time"),
        Failure::Refused(_) => tracing::warn!("a webhook leads to where none may be sent"),
        _ => tracing::info!("a webhook's endpoint could not be reached"),
    }
}

/// What is not answered soon is given back and sent by another process, which the receiver can tell by the event's id.
async fn drain(app: &App, mut sending: JoinSet<()>) {
    let all = async { while sending.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, all).await.is_ok() {
        return;
    }
    let held = app.in_hand.leases();
    sending.abort_all();
    give_back(app, &held).await;
}

/// Ends leases, so that another process sends what they are of, and need not wait.
pub(crate) async fn give_back(app: &App, held: &[Lease]) {
    if held.is_empty() {
        return;
    }
    match app.database.read(async |conn| store::release(conn, held).await).await {
        Ok(released) => tracing::info!(released, "webhooks under way were given back"),
        Err(error) => tracing::warn!(%error, "webhooks under way are taken up again when their leases end"),
    }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}
