//! Wires the service.

use std::sync::Arc;

use chassis::{Chassis, Running};
use events::queues;
use messaging::Queue;
use postgres::{Batcher, BatcherOptions};
use tokio::sync::OnceCell;

use crate::commands::debit::ApplyDebits;
use crate::consumers::cash::CashReports;
use crate::consumers::refunds::Refunds;
use crate::reconcile::{Examiner, Reconciliation};
use crate::settings::Settings;
use crate::state::State;
use crate::{payments, routes, workers};

/// Refunds are rare compared with debits, and each locks a wallet.
const REFUNDS_IN_PARALLEL: u16 = 4;
/// A report of cash is one short transaction and locks no wallet.
const CASH_IN_PARALLEL: u16 = 4;

/// # Errors
/// When an address cannot be bound, or a part cannot be built from the settings.
pub fn start(settings: &Settings, mut chassis: Chassis) -> anyhow::Result<Running> {
    create_counters();
    let state = Arc::new(state(settings, &chassis)?);
    chassis.relay();
    chassis.consume("refunds", Queue::shared(queues::REFUNDS), REFUNDS_IN_PARALLEL, Refunds(state.clone()));
    chassis.consume("cash", Queue::shared(queues::CASH), CASH_IN_PARALLEL, CashReports(state.clone()));
    workers::finish_top_ups(&mut chassis, &state);
    let reconciliation = Reconciliation {
        examiner: examiner(settings, &chassis)?,
        interval: chrono::TimeDelta::seconds(settings.reconciliation.interval_seconds.into()),
        sweep_rows: settings.reconciliation.sweep_rows,
        name: format!("{:032x}", chassis.unit.entropy.u128()),
    };
    workers::reconcile(&mut chassis, reconciliation);
    chassis.start(routes::internal(state, settings.internal.clone()))
}

fn state(settings: &Settings, chassis: &Chassis) -> anyhow::Result<State> {
    let unit = chassis.unit.clone();
    let low_balance_threshold = settings.wallet.low_balance_threshold_paise;
    let apply = ApplyDebits { unit: unit.clone(), low_balance_threshold };
    Ok(State {
        debits: Batcher::start("wallet_debits", unit.database.clone(), BatcherOptions::default(), apply),
        unit,
        tasks: chassis.tasks.clone(),
        low_balance_threshold,
        provider: payments::provider(&settings.payments)?,
        time_zones: OnceCell::new(),
    })
}

fn examiner(settings: &Settings, chassis: &Chassis) -> anyhow::Result<Examiner> {
    let orders = Examiner::orders(&settings.peers.order_api, &settings.internal.token)?;
    let unit = &chassis.unit;
    Ok(Examiner::new(unit.database.clone(), unit.clock.clone(), orders, settings.reconciliation.chunk_rows))
}

/// Publishes 0 up front: alerts ignore absent series.
fn create_counters() {
    crate::commands::debit::create_counters();
    crate::commands::top_up::create_counters();
    crate::commands::record_cash::create_counters();
    crate::commands::refund::create_counters();
    crate::reconcile::create_counters();
}
