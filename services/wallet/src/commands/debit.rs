//! Takes the fee of a live order from a wallet, or makes sure that it is never taken. Queued requests share a transaction,
//! which locks the wallets, decides all jobs in memory, and writes the results together.

use std::collections::BTreeSet;

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, OrderId, Paise, TransferId};
use futures_util::try_join;
use metrics::counter;
use outbox::Unit;
use postgres::{Apply, Batcher, BatcherOptions, StoreError};

use super::low_balance_event;
use crate::domain::{Debit, DebitJob, DebitRefusal, Decided, Known, Outcome, decide};
use crate::state::DebitQueue;
use crate::store::postings::Postings;
use crate::store::transfers::{Cause, NewTransfer};
use crate::store::{self, wallets::WalletRecord};

/// Attempts when other instances decide the same order at the same time.
const ATTEMPTS_MAX: u32 = 3;

#[derive(Debug, thiserror::Error)]
pub(crate) enum DebitError {
    #[error(transparent)]
    Refused(#[from] DebitRefusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the outcome of the debit, and decides it if it has none yet.
///
/// # Errors
/// When the request contradicts a stored debit. When the database fails, the outcome is unknown.
pub(crate) async fn submit(queue: &DebitQueue, job: DebitJob) -> Result<Debit, DebitError> {
    for _ in 0..ATTEMPTS_MAX {
        match queue.submit(job).await {
            Err(StoreError::Query(error)) if conflicts(&error) => {
                tracing::info!(order = %job.id.order, attempt = job.id.attempt, "debit conflict: another instance decided the order first");
            }
            outcome => return Ok(outcome??),
        }
    }
    Err(StoreError::Unavailable("other instances decided the same order repeatedly".into()).into())
}

/// Instances decide the same order at the same time only without a common wallet lock: if the business has no wallet yet, or
/// the requests name different businesses. A unique index lets one of them succeed.
fn conflicts(error: &diesel::result::Error) -> bool {
    store::debits::CONFLICTS.iter().any(|constraint| postgres::violates(error, constraint))
}

/// Starts the queue of debits.
pub(crate) fn start_queue(unit: &Unit, default_threshold: Paise) -> DebitQueue {
    let apply = ApplyDebits { unit: unit.clone(), default_threshold };
    Batcher::start("wallet_debits", unit.database.clone(), BatcherOptions::default(), apply)
}

struct ApplyDebits {
    unit: Unit,
    default_threshold: Paise,
}

impl Apply for ApplyDebits {
    type Job = DebitJob;
    type Outcome = Result<Debit, DebitRefusal>;

    async fn apply(
        &self,
        conn: &AsyncPgConnection,
        jobs: &[DebitJob],
    ) -> Result<Vec<Result<Debit, DebitRefusal>>, StoreError> {
        let decided = decide(self.known(conn, jobs).await?, jobs);
        if !decided.new_debits.is_empty() {
            self.write(conn, &decided).await?;
        }
        Ok(decided.answers)
    }

    fn begins_with_reads(&self) -> bool {
        true
    }
}

impl ApplyDebits {
    /// Reads debits after locking the wallets, so that it sees the decisions of earlier transactions. Both statements are
    /// sent at once; PostgreSQL runs one after the other.
    async fn known(&self, conn: &AsyncPgConnection, jobs: &[DebitJob]) -> Result<Known, StoreError> {
        let businesses: BTreeSet<BusinessId> = jobs.iter().map(|job| job.business).collect();
        let orders: BTreeSet<OrderId> = jobs.iter().map(|job| job.id.order).collect();
        let businesses: Vec<_> = businesses.into_iter().collect();
        let orders: Vec<_> = orders.into_iter().collect();
        let mut known = Known::default();
        let (wallets, debits) =
            try_join!(store::wallets::lock(conn, &businesses), store::debits::of_orders(conn, &orders))?;
        for WalletRecord { business, wallet, low_balance_threshold, .. } in wallets {
            known.add_wallet(business, wallet, low_balance_threshold.unwrap_or(self.default_threshold));
        }
        debits.into_iter().for_each(|debit| known.add_debit(debit));
        Ok(known)
    }

    async fn write(&self, conn: &AsyncPgConnection, decided: &Decided) -> Result<(), StoreError> {
        let Unit { clock, entropy, outbox, .. } = &self.unit;
        let now = clock.now();
        let mut transfers = Vec::new();
        let mut debits = Vec::with_capacity(decided.new_debits.len());
        for (debit, entry) in &decided.new_debits {
            let transfer = entry.map(|entry| {
                let id = TransferId::generate(clock, entropy);
                let cause = Cause::DeliveryFee { order: debit.id.order };
                transfers.push(NewTransfer { id, business: debit.business, cause, entry });
                id
            });
            debits.push((*debit, transfer));
        }
        // Instances without a common wallet lock insert in the same order, so that they do not deadlock.
        debits.sort_by_key(|(debit, _)| (debit.id.order, debit.id.attempt));
        let postings = Postings { wallets: &decided.wallets, transfers: &transfers, debits: &debits };
        store::postings::write(conn, postings, now).await?;
        if !decided.low_balances.is_empty() {
            let events: Vec<_> =
                decided.low_balances.iter().map(|low| low_balance_event(clock, entropy, low)).collect();
            outbox.enqueue(conn, &events, now).await?;
        }
        Ok(())
    }
}

/// Values of the label `outcome`.
const OUTCOMES: [&str; 5] = [POSTED, REJECTED, VOIDED, REFUSED, UNKNOWN];
const POSTED: &str = "posted";
const REJECTED: &str = "rejected";
const VOIDED: &str = "voided";
const REFUSED: &str = "refused";
const UNKNOWN: &str = "unknown";

pub(super) fn publish_counters() {
    for outcome in OUTCOMES {
        counter!("wallet_debit_requests_total", "outcome" => outcome).increment(0);
    }
}

/// Counts the answer to a request.
pub(crate) fn count(answer: &Result<Debit, DebitError>) {
    let outcome = match answer {
        Ok(Debit { outcome: Outcome::Posted, .. }) => POSTED,
        Ok(Debit { outcome: Outcome::Rejected, .. }) => REJECTED,
        Ok(Debit { outcome: Outcome::Voided, .. }) => VOIDED,
        Err(DebitError::Refused(_)) => REFUSED,
        Err(DebitError::Store(_)) => UNKNOWN,
    };
    counter!("wallet_debit_requests_total", "outcome" => outcome).increment(1);
}
