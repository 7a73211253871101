//! The wallet's own pure decisions: how money moves between accounts, and how a debit ends. No I/O.

mod debits;
mod ledger;

pub(crate) use debits::{
    Action, Debit, DebitId, DebitJob, DebitRefusal, Decided, Known, LowBalance, Outcome, decide,
};
pub(crate) use ledger::{PostingError, TransferKind, Wallet, WalletEntry, lines};
