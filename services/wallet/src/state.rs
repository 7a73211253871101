//! Shared by routes, consumers, workers, commands and queries.

use std::collections::HashSet;

use domain::Paise;
use outbox::Unit;
use postgres::Batcher;
use tokio::sync::OnceCell;

use crate::domain::{CashTerms, Debit, DebitJob, DebitRefusal};
use crate::payments::PaymentProvider;

/// Debits that wait for a shared transaction.
pub(crate) type DebitQueue = Batcher<DebitJob, Result<Debit, DebitRefusal>>;

pub(crate) struct State {
    pub(crate) unit: Unit,
    pub(crate) debits: DebitQueue,
    pub(crate) provider: Box<dyn PaymentProvider>,
    /// The operator's alert threshold, for businesses without their own.
    pub(crate) default_threshold: Paise,
    pub(crate) cash_terms: CashTerms,
    /// The names of the database's time zones, once they are read.
    pub(crate) time_zones: OnceCell<HashSet<String>>,
}
