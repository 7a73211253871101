//! The wallet's own pure decisions: how money moves between accounts, how a debit ends, what pays a top-up, what became
//! of cash. No I/O.

mod cash;
mod debits;
mod ledger;
mod reconciliation;
mod top_ups;

pub(crate) use cash::{CashRecord, CashReport, CashStatus, CashStep, Reported, cash_lines};
pub(crate) use debits::{
    Action, Debit, DebitId, DebitJob, DebitRefusal, Decided, Known, LowBalance, Outcome, decide,
};
pub(crate) use ledger::{Line, PostingError, TransferKind, Wallet, WalletEntry, lines};
pub(crate) use reconciliation::{BooksSide, Check, DebitSide, Doubt, Finding, OrderSide, UNDER_WAY, compare};
pub use top_ups::Provider;
pub(crate) use top_ups::{CURRENCY, NoticeOutcome, Payment, Status, TopUp, Verdict, next_check};
