//! Wires the service and its commands.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use chassis::{Chassis, Running};
use chrono::{Days, TimeDelta};
use domain::Clock;
use events::queues;
use internal_api::orders::OrdersClient;
use internal_api::{Peer, PeerOptions};
use messaging::Queue;
use postgres::Database;
use reconciliation::{Arguments, Report};
use tokio::sync::OnceCell;

use crate::commands::debit;
use crate::consumers::attempt_fees::AttemptFees;
use crate::consumers::cash::CashReports;
use crate::consumers::refunds::Refunds;
use crate::domain::{CashTerms, Provider};
use crate::payments::{PaymentProvider, Razorpay, RazorpayOptions, Sandbox};
use crate::reconcile::{self, Reconciler, Schedule};
use crate::settings::{Payments, Settings};
use crate::state::State;
use crate::{commands, consumers, routes, workers};

/// Refunds are rare compared with debits, and each locks a wallet.
const REFUNDS_PARALLEL: u16 = 4;
/// Each report is one short transaction, which locks no wallet.
const CASH_PARALLEL: u16 = 4;
/// As rare as refunds; each locks a wallet.
const ATTEMPT_FEES_PARALLEL: u16 = 4;
/// order-api reads up to a thousand orders per response, for a background task.
const ORDERS_DEADLINE: Duration = Duration::from_secs(10);
/// The default of `wallet reconcile`: longer than any step between the services, so that each difference is decided.
const PATIENCE_DEFAULT: Duration = Duration::from_secs(65);

/// Starts the service.
///
/// # Errors
/// When an address cannot be bound or a setting is not usable.
pub fn start(settings: &Settings, mut chassis: Chassis) -> anyhow::Result<Running> {
    commands::publish_counters();
    consumers::publish_counters();
    reconcile::publish_counters();
    let unit = chassis.unit.clone();
    let default_threshold = settings.wallet.low_balance_threshold_paise;
    let state = Arc::new(State {
        debits: debit::start_queue(&unit, default_threshold),
        unit,
        provider: provider(&settings.payments)?,
        default_threshold,
        cash_terms: CashTerms { settle_within: Days::new(settings.cod.settle_within_days.into()) },
        time_zones: OnceCell::new(),
    });
    chassis.relay();
    chassis.consume("refunds", Queue::shared(queues::REFUNDS), REFUNDS_PARALLEL, Refunds(state.clone()));
    chassis.consume("cash", Queue::shared(queues::CASH), CASH_PARALLEL, CashReports(state.clone()));
    let attempt_fees = AttemptFees(state.clone());
    chassis.consume("attempt-fees", Queue::shared(queues::ATTEMPT_FEES), ATTEMPT_FEES_PARALLEL, attempt_fees);
    start_workers(settings, &mut chassis, &state)?;
    let tasks = chassis.tasks.clone();
    chassis.start(routes::internal(&state, settings.internal.clone(), tasks))
}

fn start_workers(settings: &Settings, chassis: &mut Chassis, state: &Arc<State>) -> anyhow::Result<()> {
    let shared = state.clone();
    chassis.every("check-pending-top-ups", workers::TOP_UPS_INTERVAL, move |_| {
        workers::check_pending_top_ups(shared.clone())
    });
    let shared = state.clone();
    chassis
        .every("late-cash", workers::LATE_CASH_INTERVAL, move |_| workers::publish_late_cash(shared.clone()));
    let shared = state.clone();
    chassis.every("cash-sums", workers::CASH_SUMS_INTERVAL, move |stop| {
        workers::store_cash_sums(shared.clone(), stop)
    });
    let (database, clock) = (state.unit.database.clone(), state.unit.clock.clone());
    let reconciler = Arc::new(reconciler(settings, database, clock)?);
    let schedule = Arc::new(Schedule {
        interval: TimeDelta::seconds(settings.reconciliation.interval_seconds.into()),
        sweep_rows: settings.reconciliation.sweep_rows.into(),
        instance: format!("{:032x}", state.unit.entropy.u128()),
    });
    let between_runs = Duration::from_secs(settings.reconciliation.interval_seconds.into());
    chassis.every("reconciliation", workers::check_interval(between_runs), move |stop| {
        workers::reconcile(reconciler.clone(), schedule.clone(), stop)
    });
    Ok(())
}

fn provider(settings: &Payments) -> anyhow::Result<Box<dyn PaymentProvider>> {
    Ok(match settings.provider {
        Provider::Sandbox => Box::new(Sandbox),
        Provider::Razorpay => Box::new(Razorpay::new(RazorpayOptions {
            url: settings.razorpay.url.clone(),
            key_id: settings.razorpay.key_id.clone(),
            key_secret: settings.razorpay.key_secret.clone(),
            webhook_secret: settings.razorpay.webhook_secret.clone(),
        })?),
    })
}

fn reconciler(settings: &Settings, database: Database, clock: Clock) -> anyhow::Result<Reconciler> {
    let options = PeerOptions { deadline: ORDERS_DEADLINE, ..PeerOptions::default() };
    let (order_api, ca) = (settings.peers.order_api.clone(), settings.peers.ca.as_ref());
    let orders = OrdersClient(Peer::new("order-api", order_api, ca, &settings.internal.token, options)?);
    Ok(Reconciler::new(database, clock, orders, settings.reconciliation.chunk_rows))
}

/// Runs `wallet reconcile` and prints to `out`.
pub fn reconcile(Arguments { since, run }: Arguments, out: &mut impl Write) -> ExitCode {
    let outcome = chassis::command(async |settings: &Settings| {
        let reconciler = reconciler(settings, Database::new(&settings.database)?, Clock::system())?;
        Ok(reconciler.check_history(since, run.patience(PATIENCE_DEFAULT)).await)
    });
    Report::conclude(outcome, run.json, out)
}
