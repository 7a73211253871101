//! Reconciliation: proves SPECIFICATION §14 over what is there. The books are looked through by ranges of ids, and held
//! against the orders that order-api tells of; once by the command `reconcile`, or by the worker all the time.
//!
//! Nothing is locked. Within the books each check is one statement, which sees one instant, in which all is to be right.
//! Between the services there is no common instant: what disagrees is looked at again before it is believed, and what may
//! be under way is waited for.

mod examine;
mod feed;
mod findings;
mod report;
mod run;

pub(crate) use examine::{ExamineError, Examiner};
pub(crate) use feed::Feed;
pub(crate) use report::RunReport;
pub(crate) use run::{Reconciliation, create_counters};
