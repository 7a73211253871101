//! What handlers, consumers, workers and commands share.

use std::collections::HashSet;

use domain::Paise;
use outbox::Unit;
use postgres::Batcher;
use tokio::sync::OnceCell;
use web::Tasks;

use crate::domain::{Debit, DebitJob, DebitRefusal};
use crate::payments::PaymentProvider;

/// The queue of debits, which share transactions.
pub(crate) type DebitQueue = Batcher<DebitJob, Result<Debit, DebitRefusal>>;

pub(crate) struct State {
    pub(crate) unit: Unit,
    pub(crate) debits: DebitQueue,
    pub(crate) tasks: Tasks,
    /// The operator's default; a business can set its own.
    pub(crate) low_balance_threshold: Paise,
    pub(crate) provider: Box<dyn PaymentProvider>,
    /// The time zones of the database, read once.
    pub(crate) time_zones: OnceCell<HashSet<String>>,
}
