//! Wires the service and its commands.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use chassis::{Chassis, Running};
use domain::Mode;
use events::queues;
use messaging::Queue;
use metrics::counter;
use postgres::Database;
use web::FairSlots;

use crate::commands::{EventIntake, Rewrapped, WAYS, rewrap_secrets};
use crate::consumers::{Erasures, WebhookEvents};
use crate::routes;
use crate::secrets::SecretCipher;
use crate::sender::{OUTCOMES, Sender, SenderOptions};
use crate::settings::{Settings, Webhooks};
use crate::state::State;
use crate::workers::{self, QueueMonitor};

/// Events of one mode processed at once. One transaction takes all that arrived during the previous one.
const EVENTS_PARALLEL: u16 = 128;
/// Claims of both modes, renewals of leases, signs of life, the scan, and one for what is released.
const SENDER_CONNECTIONS: usize = 6;
/// Erasures are not urgent, and each is a transaction of its own.
const ERASURES_PARALLEL: u16 = 2;

/// Counters without labels.
const COUNTERS: [&str; 7] = [
    "webhook_breaker_trips_total",
    "webhook_outcomes_fenced_total",
    "webhook_held_back_overflow_total",
    "webhook_held_back_total",
    "webhook_recovered_total",
    "webhook_skipped_total",
    "webhook_taken_over_total",
];

/// Starts the service.
///
/// # Errors
/// When an address cannot be bound or a setting is not usable.
pub fn start(settings: &Settings, mut chassis: Chassis) -> anyhow::Result<Running> {
    publish_counters();
    let webhooks = &settings.webhooks;
    let secrets = SecretCipher::new(settings.secrets.keys()?);
    // Claims and renewals never wait for a connection that others use.
    let own = settings::Database { pool_size: SENDER_CONNECTIONS, ..settings.database.clone() };
    let options = sender_options(webhooks)?;
    let sender = Sender::new(&chassis.unit, Database::new(&own)?, secrets.clone(), &settings.brand, options)?;
    let pages = (settings.database.pool_size / 4).max(1);
    let state = Arc::new(State {
        unit: chassis.unit.clone(),
        secrets,
        sender: sender.clone(),
        skip_after: webhooks.skip_after(),
        disable_after: webhooks.disable_after(),
        offers_requests: settings.events.attempts,
        retention_days: webhooks.retention_days,
        page_slots: FairSlots::new(pages, (pages / 2).max(1)),
        header_prefix: settings.brand.header_prefix.clone(),
    });
    chassis.relay();
    for (name, queue, mode) in [
        ("events", queues::WEBHOOK_EVENTS, Mode::Live),
        ("test-events", queues::WEBHOOK_TEST_EVENTS, Mode::Test),
    ] {
        let events = WebhookEvents(EventIntake::start(&state, mode));
        chassis.consume(name, Queue::shared(queue), EVENTS_PARALLEL, events);
    }
    let erasures = Erasures(state.clone());
    chassis.consume("erasures", Queue::shared(queues::ERASURES), ERASURES_PARALLEL, erasures);
    chassis.worker("send", |stop| sender.run(stop));
    start_workers(&mut chassis, &state, webhooks.sweep_interval());
    let tasks = chassis.tasks.clone();
    chassis.start(routes::internal(&state, settings.internal.clone(), tasks))
}

fn sender_options(webhooks: &Webhooks) -> anyhow::Result<SenderOptions> {
    Ok(SenderOptions {
        policy: webhooks.policy(),
        name_servers: webhooks.name_servers.clone(),
        proxy: webhooks.proxy()?,
        timeout: webhooks.timeout(),
        concurrency: webhooks.concurrency,
        per_endpoint: webhooks.per_endpoint,
        per_second: webhooks.per_second,
        schedule: webhooks.retry_seconds.clone(),
    })
}

fn start_workers(chassis: &mut Chassis, state: &Arc<State>, sweep_interval: Duration) {
    let shared = state.clone();
    chassis.every("sweep", sweep_interval, move |stop| workers::sweep(shared.clone(), stop));
    let (shared, monitor) = (state.clone(), Arc::new(QueueMonitor::default()));
    chassis.every("monitor", sweep_interval, move |_| workers::monitor(shared.clone(), monitor.clone()));
    let shared = state.clone();
    chassis.every("rotate-secrets", workers::ROTATION_INTERVAL, move |stop| {
        workers::rotate_secrets(shared.clone(), stop)
    });
    chassis.worker("check-secrets", |stop| workers::check_secrets(state.clone(), stop));
    chassis.worker("retention", |stop| workers::retain(state.clone(), stop));
    chassis.worker("recoveries", |stop| workers::recover(state.clone(), stop));
}

/// Publishes all counters as 0: alerts on increases miss the first event of an absent series.
fn publish_counters() {
    for name in COUNTERS {
        counter!(name).increment(0);
    }
    for outcome in OUTCOMES {
        counter!("webhook_attempts_total", "outcome" => outcome).increment(0);
    }
    for way in WAYS {
        counter!("webhook_new_deliveries_total", "way" => way).increment(0);
    }
}

/// The exit codes of `rewrap`.
const DONE: u8 = 0;
const SOME_UNREADABLE: u8 = 1;
const FAILED: u8 = 2;

/// Runs `webhook-dispatcher rewrap` and prints to `out`.
pub fn rewrap(out: &mut impl Write) -> ExitCode {
    let outcome = chassis::command(async |settings: &Settings| {
        let cipher = SecretCipher::new(settings.secrets.keys()?);
        let database = Database::new(&settings.database)?;
        let Rewrapped { rewrapped, unreadable } = rewrap_secrets(&database, &cipher).await?;
        writeln!(out, "{rewrapped} endpoints: secrets are encrypted with the current key now")?;
        if unreadable > 0 {
            writeln!(out, "{unreadable} endpoints: no configured key decrypts their secrets")?;
            return Ok(SOME_UNREADABLE);
        }
        writeln!(out, "done: previous keys are no longer needed")?;
        Ok(DONE)
    });
    let code = outcome.unwrap_or_else(|error: anyhow::Error| {
        // If this cannot be printed either, the exit code still shows the failure.
        let _unprintable = writeln!(out, "failed, run it again: {error:#}");
        FAILED
    });
    ExitCode::from(code)
}
