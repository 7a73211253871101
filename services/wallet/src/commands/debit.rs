//! Taking the fee of a live order out of a wallet, or making sure that it is never taken. Requests that queue up
//! share a transaction: the wallets are locked, all jobs are decided in memory, and written down together.

use std::collections::BTreeSet;

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, OrderId, Paise, TransferId};
use outbox::Unit;
use postgres::{Apply, StoreError};

use super::low_balance_alert;
use crate::domain::WalletRecord;
use crate::domain::{Debit, DebitJob, DebitRefusal, Decided, Known, Outcome, decide};
use crate::state::DebitQueue;
use crate::store;
use crate::store::postings::Postings;
use crate::store::transfers::{Cause, NewTransfer};

/// Another instance that decides the same order at the same moment wins at most this often.
const TRIES_MAX: u32 = 3;

/// Why a debit got no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DebitError {
    #[error(transparent)]
    Refused(#[from] DebitRefusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Gives the debit its outcome, or brings the one that it already has.
///
/// # Errors
/// When the request contradicts what is stored, or the database does not answer: then the outcome is unknown.
pub(crate) async fn debit(queue: &DebitQueue, job: DebitJob) -> Result<Debit, DebitError> {
    for _ in 0..TRIES_MAX {
        match queue.submit(job).await {
            Err(StoreError::Query(error)) if conflicts(&error) => {
                tracing::info!(order = %job.id.order, attempt = job.id.attempt, "another instance was first");
            }
            outcome => return Ok(outcome??),
        }
    }
    Err(StoreError::Unavailable("a debit was overtaken again and again".into()).into())
}

/// Two instances can meet at the same order only where no common wallet lock keeps them apart: the business has no
/// wallet yet, or the requests name different businesses. The database lets one of them through.
fn conflicts(error: &diesel::result::Error) -> bool {
    store::debits::CONFLICTS.iter().any(|constraint| postgres::violates(error, constraint))
}

/// The work behind the queue.
pub(crate) struct ApplyDebits {
    pub(crate) unit: Unit,
    pub(crate) low_balance_threshold: Paise,
}

impl Apply for ApplyDebits {
    type Job = DebitJob;
    type Outcome = Result<Debit, DebitRefusal>;

    async fn apply(
        &self,
        conn: &mut AsyncPgConnection,
        jobs: &[DebitJob],
    ) -> Result<Vec<Result<Debit, DebitRefusal>>, StoreError> {
        let decided = decide(self.known(conn, jobs).await?, jobs);
        if !decided.fresh.is_empty() {
            self.write(conn, &decided).await?;
        }
        Ok(decided.answers)
    }
}

impl ApplyDebits {
    /// Debits are read after the locks are held, so that what earlier transactions decided is seen.
    async fn known(&self, conn: &mut AsyncPgConnection, jobs: &[DebitJob]) -> Result<Known, StoreError> {
        let businesses: BTreeSet<BusinessId> = jobs.iter().map(|job| job.business).collect();
        let orders: BTreeSet<OrderId> = jobs.iter().map(|job| job.id.order).collect();
        let businesses: Vec<_> = businesses.into_iter().collect();
        let orders: Vec<_> = orders.into_iter().collect();
        let mut known = Known::default();
        for WalletRecord { business, wallet, low_balance_threshold, .. } in
            store::wallets::lock(conn, &businesses).await?
        {
            known.wallet(business, wallet, low_balance_threshold.unwrap_or(self.low_balance_threshold));
        }
        for debit in store::debits::of_orders(conn, &orders).await? {
            known.debit(debit);
        }
        Ok(known)
    }

    async fn write(&self, conn: &mut AsyncPgConnection, decided: &Decided) -> Result<(), StoreError> {
        let Unit { clock, entropy, .. } = &self.unit;
        let now = clock.now();
        let mut transfers = Vec::new();
        let mut debits = Vec::with_capacity(decided.fresh.len());
        for (debit, entry) in &decided.fresh {
            let transfer = entry.map(|entry| {
                let id = TransferId::generate(clock, entropy);
                let cause = Cause::DeliveryFee { order: debit.id.order };
                transfers.push(NewTransfer { id, business: debit.business, cause, entry });
                id
            });
            debits.push((*debit, transfer));
        }
        // Where no wallet's lock keeps two instances apart, they meet the same orders in the same sequence.
        debits.sort_by_key(|(debit, _)| (debit.id.order, debit.id.attempt));
        let postings = Postings { wallets: &decided.wallets, transfers: &transfers, debits: &debits };
        store::postings::write(conn, postings, now).await?;
        if !decided.low_balances.is_empty() {
            // Not announced to the relay: its poll is fast enough for an alert.
            let alerts: Vec<_> =
                decided.low_balances.iter().map(|low| low_balance_alert(clock, entropy, low)).collect();
            outbox::enqueue(conn, &alerts, now).await?;
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

pub(crate) fn create_counters() {
    for outcome in OUTCOMES {
        metrics::counter!("wallet_debit_requests_total", "outcome" => outcome).increment(0);
    }
}

/// Counts answers by their outcome.
pub(crate) fn count(answer: &Result<Debit, DebitError>) {
    let outcome = match answer {
        Ok(Debit { outcome: Outcome::Posted, .. }) => POSTED,
        Ok(Debit { outcome: Outcome::Rejected, .. }) => REJECTED,
        Ok(Debit { outcome: Outcome::Voided, .. }) => VOIDED,
        Err(DebitError::Refused(_)) => REFUSED,
        Err(DebitError::Store(_)) => UNKNOWN,
    };
    metrics::counter!("wallet_debit_requests_total", "outcome" => outcome).increment(1);
}
