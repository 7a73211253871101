//! How debits end (SPECIFICATION §10): one amount for each id, an outcome that never changes, at most one posted debit
//! for each order, and no wallet below zero. A batch of jobs is decided in memory, in the order in which it came.

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::{BusinessId, OrderId, Paise};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::{Wallet, WalletEntry};

/// Which debit: an order's fee, at the order's `attempt`, which counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DebitId {
    pub(crate) order: OrderId,
    pub(crate) attempt: i32,
}

/// What is to be done with a debit that has no outcome yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Take the fee, if the balance allows it.
    Post,
    /// Make sure that it is never taken.
    Void,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DebitJob {
    pub(crate) id: DebitId,
    pub(crate) business: BusinessId,
    pub(crate) amount: Paise,
    pub(crate) action: Action,
}

/// How a debit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Outcome {
    Posted,
    Rejected,
    Voided,
}

impl Outcome {
    /// The name used in SQL.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A debit with its outcome, which is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Debit {
    pub(crate) id: DebitId,
    pub(crate) business: BusinessId,
    pub(crate) amount: Paise,
    pub(crate) outcome: Outcome,
    /// The balance when the outcome was decided: after the fee was taken, if it was.
    pub(crate) balance_after: Paise,
}

/// Why a request gets no outcome. Nothing is stored then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DebitRefusal {
    #[error("this debit was asked for with another amount or for another business")]
    Mismatch,
    #[error("another attempt of this order has already taken its fee")]
    OrderAlreadyDebited,
}

/// A wallet under lock, with the balance below which its owner wants to hear of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Watched {
    wallet: Wallet,
    threshold: Paise,
}

/// All that is known of the orders and wallets that a batch touches, and cannot change while it is decided.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    wallets: BTreeMap<BusinessId, Watched>,
    debits: HashMap<DebitId, Debit>,
    paid: HashSet<OrderId>,
}

impl Known {
    /// A business without a wallet has an empty one, and needs no mention.
    pub(crate) fn wallet(&mut self, business: BusinessId, wallet: Wallet, threshold: Paise) {
        self.wallets.insert(business, Watched { wallet, threshold });
    }

    pub(crate) fn debit(&mut self, debit: Debit) {
        if debit.outcome == Outcome::Posted {
            self.paid.insert(debit.id.order);
        }
        self.debits.insert(debit.id, debit);
    }

    fn balance(&self, business: BusinessId) -> Paise {
        self.wallets.get(&business).map_or(Paise::ZERO, |watched| watched.wallet.balance)
    }
}

/// A wallet that a debit took below its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LowBalance {
    pub(crate) business: BusinessId,
    pub(crate) balance: Paise,
    pub(crate) threshold: Paise,
}

/// What to answer, and what to write down.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    /// For each job, in the order of the jobs.
    pub(crate) answers: Vec<Result<Debit, DebitRefusal>>,
    /// The debits that were not known before; a posted one comes with its entry.
    pub(crate) fresh: Vec<(Debit, Option<WalletEntry>)>,
    /// The wallets that changed, as they are now.
    pub(crate) wallets: BTreeMap<BusinessId, Wallet>,
    pub(crate) low_balances: Vec<LowBalance>,
}

/// Decides a batch. Each job sees what those before it did.
pub(crate) fn decide(mut known: Known, jobs: &[DebitJob]) -> Decided {
    let mut decided = Decided::default();
    for job in jobs {
        let answer = answer(&mut known, job, &mut decided);
        decided.answers.push(answer);
    }
    decided
}

fn answer(known: &mut Known, job: &DebitJob, decided: &mut Decided) -> Result<Debit, DebitRefusal> {
    if let Some(debit) = known.debits.get(&job.id) {
        let same = debit.business == job.business && debit.amount == job.amount;
        return if same { Ok(*debit) } else { Err(DebitRefusal::Mismatch) };
    }
    let entry = match job.action {
        Action::Void => None,
        Action::Post if known.paid.contains(&job.id.order) => {
            return Err(DebitRefusal::OrderAlreadyDebited);
        }
        Action::Post => take(known, job, decided),
    };
    let outcome = match (job.action, entry) {
        (Action::Void, _) => Outcome::Voided,
        (Action::Post, Some(_)) => Outcome::Posted,
        (Action::Post, None) => Outcome::Rejected,
    };
    let balance_after = known.balance(job.business);
    let debit = Debit { id: job.id, business: job.business, amount: job.amount, outcome, balance_after };
    known.debit(debit);
    decided.fresh.push((debit, entry));
    Ok(debit)
}

/// Takes the fee out of the wallet, unless it holds too little.
fn take(known: &mut Known, job: &DebitJob, decided: &mut Decided) -> Option<WalletEntry> {
    let watched = known.wallets.get_mut(&job.business)?;
    let before = watched.wallet.balance;
    let entry = watched.wallet.post(job.amount.checked_neg()?).ok()?;
    decided.wallets.insert(job.business, watched.wallet);
    let threshold = watched.threshold;
    if before >= threshold && entry.balance_after < threshold {
        let balance = entry.balance_after;
        decided.low_balances.push(LowBalance { business: job.business, balance, threshold });
    }
    Some(entry)
}

#[cfg(test)]
mod tests;
