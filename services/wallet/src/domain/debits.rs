//! How debits end (SPECIFICATION §10): each id has one amount and one final outcome, each order has at most one posted
//! debit, and no wallet falls below zero. [`decide`] decides a batch of jobs in memory, in their order.

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::{BusinessId, OrderId, Paise};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::{Wallet, WalletEntry};

/// The fee of an order, at one of its attempts, which are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DebitId {
    pub(crate) order: OrderId,
    pub(crate) attempt: i32,
}

/// The requested outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Take the fee if the balance suffices.
    Post,
    /// Make sure that the fee is never taken.
    Void,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DebitJob {
    pub(crate) id: DebitId,
    pub(crate) business: BusinessId,
    pub(crate) amount: Paise,
    pub(crate) action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Outcome {
    Posted,
    Rejected,
    Voided,
}

impl Outcome {
    /// The name in SQL.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A debit with its final outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Debit {
    pub(crate) id: DebitId,
    pub(crate) business: BusinessId,
    pub(crate) amount: Paise,
    pub(crate) outcome: Outcome,
    /// The balance after the decision, and after the fee if it was posted.
    pub(crate) balance_after: Paise,
}

/// Why a request is refused. Nothing is stored then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DebitRefusal {
    #[error("this debit exists with another amount or for another business")]
    Mismatch,
    #[error("another attempt of this order has already taken its fee")]
    OrderAlreadyDebited,
}

/// A locked wallet with its alert threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LockedWallet {
    wallet: Wallet,
    threshold: Paise,
}

/// The stored state of the orders and wallets in a batch. It does not change during the decision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    wallets: BTreeMap<BusinessId, LockedWallet>,
    debits: HashMap<DebitId, Debit>,
    paid: HashSet<OrderId>,
}

impl Known {
    /// A business without a wallet counts as having an empty one.
    pub(crate) fn add_wallet(&mut self, business: BusinessId, wallet: Wallet, threshold: Paise) {
        self.wallets.insert(business, LockedWallet { wallet, threshold });
    }

    pub(crate) fn add_debit(&mut self, debit: Debit) {
        if debit.outcome == Outcome::Posted {
            self.paid.insert(debit.id.order);
        }
        self.debits.insert(debit.id, debit);
    }

    fn balance(&self, business: BusinessId) -> Paise {
        self.wallets.get(&business).map_or(Paise::ZERO, |locked| locked.wallet.balance)
    }
}

/// A wallet whose balance fell below its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LowBalance {
    pub(crate) business: BusinessId,
    pub(crate) balance: Paise,
    pub(crate) threshold: Paise,
}

/// The answers, and the changes to write.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    /// One per job, in the order of the jobs.
    pub(crate) answers: Vec<Result<Debit, DebitRefusal>>,
    /// Debits to insert. Posted ones have an entry.
    pub(crate) new_debits: Vec<(Debit, Option<WalletEntry>)>,
    /// The changed wallets.
    pub(crate) wallets: BTreeMap<BusinessId, Wallet>,
    pub(crate) low_balances: Vec<LowBalance>,
}

/// Decides a batch. Each job sees the effects of the previous jobs.
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
        Action::Post => take_fee(known, job, decided),
    };
    let outcome = match (job.action, entry) {
        (Action::Void, _) => Outcome::Voided,
        (Action::Post, Some(_)) => Outcome::Posted,
        (Action::Post, None) => Outcome::Rejected,
    };
    let balance_after = known.balance(job.business);
    let debit = Debit { id: job.id, business: job.business, amount: job.amount, outcome, balance_after };
    known.add_debit(debit);
    decided.new_debits.push((debit, entry));
    Ok(debit)
}

/// Takes the fee from the wallet; `None` if its balance does not suffice.
fn take_fee(known: &mut Known, job: &DebitJob, decided: &mut Decided) -> Option<WalletEntry> {
    let locked = known.wallets.get_mut(&job.business)?;
    let before = locked.wallet.balance;
    let entry = locked.wallet.post(job.amount.checked_neg()?).ok()?;
    decided.wallets.insert(job.business, locked.wallet);
    let threshold = locked.threshold;
    if before >= threshold && entry.balance_after < threshold {
        let balance = entry.balance_after;
        decided.low_balances.push(LowBalance { business: job.business, balance, threshold });
    }
    Some(entry)
}

#[cfg(test)]
mod tests;
