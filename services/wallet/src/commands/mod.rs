//! What changes a wallet: one use case per file, each with a transaction of its own.

pub(crate) mod credit;
pub(crate) mod debit;
mod pay_in;
pub(crate) mod refund;
pub(crate) mod top_up;
