//! What the service holds, and how it is put together.

use events::queues;
use std::collections::HashSet;
use std::sync::Arc;

use chassis::{Chassis, Running};
use domain::{Clock, Entropy};
use messaging::Queue;
use outbox::OutboxNotifier;
use postgres::{Batcher, BatcherOptions, Database};
use tokio::sync::OnceCell;
use web::Tasks;

use crate::commands::debit::{ApplyDebits, DebitQueue};
use crate::commands::finish_top_ups::finish_top_ups;
use crate::consumers::cash::CashReports;
use crate::consumers::refunds::Refunds;
use crate::counters;
use crate::payments::{self, PaymentProvider};
use crate::reconcile::{Examiner, Worker};
use crate::routes;
use crate::settings::{Settings, WalletRules};

/// Refunds are rare beside debits, and each locks a wallet.
const REFUNDS_AT_ONCE: u16 = 4;
/// Cash locks no wallet; each report is one short transaction.
const CASH_AT_ONCE: u16 = 4;

/// What commands and queries need.
pub(crate) struct State {
    pub(crate) database: Database,
    pub(crate) debits: DebitQueue,
    pub(crate) tasks: Tasks,
    pub(crate) notifier: OutboxNotifier,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) rules: WalletRules,
    pub(crate) provider: Box<dyn PaymentProvider>,
    /// The names of those that the database knows, once somebody has asked.
    pub(crate) time_zones: OnceCell<HashSet<String>>,
}

impl State {
    fn new(settings: &Settings, chassis: &Chassis) -> anyhow::Result<Self> {
        let apply = ApplyDebits {
            clock: chassis.unit.clock.clone(),
            entropy: chassis.unit.entropy.clone(),
            default_threshold: settings.wallet.low_balance_threshold_paise,
        };
        let database = chassis.unit.database.clone();
        Ok(Self {
            debits: Batcher::start("wallet_debits", database.clone(), BatcherOptions::default(), apply),
            database,
            tasks: chassis.tasks.clone(),
            notifier: chassis.unit.outbox.clone(),
            clock: chassis.unit.clock.clone(),
            entropy: chassis.unit.entropy.clone(),
            rules: settings.wallet,
            provider: payments::provider(&settings.payments)?,
            time_zones: OnceCell::new(),
        })
    }
}

/// Puts the service together.
///
/// # Errors
/// When an address cannot be bound, or a part cannot be built from the settings.
pub fn start(settings: &Settings, mut chassis: Chassis) -> anyhow::Result<Running> {
    counters::create();
    let state = Arc::new(State::new(settings, &chassis)?);
    chassis.relay();
    chassis.consume("refunds", Queue::shared(queues::REFUNDS), REFUNDS_AT_ONCE, Refunds(state.clone()));
    chassis.consume("cash", Queue::shared(queues::CASH), CASH_AT_ONCE, CashReports(state.clone()));
    let finishing = state.clone();
    chassis.worker("finish_top_ups", |stop| finish_top_ups(finishing, stop));
    let reconciling = Worker {
        examiner: Examiner::new(settings, chassis.unit.database.clone(), chassis.unit.clock.clone())?,
        settings: settings.reconciliation,
        name: format!("{:032x}", chassis.unit.entropy.u128()),
    };
    chassis.worker("reconciliation", |stop| reconciling.run(stop));
    chassis.start(routes::internal(state, settings.internal.clone()))
}
