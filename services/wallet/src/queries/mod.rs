//! Reads, for handlers.

pub(crate) mod businesses;
pub(crate) mod cash;
pub(crate) mod spend;
pub(crate) mod statement;
pub(crate) mod wallets;

/// One row more than the page shows whether more follow.
fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX - 1) + 1
}
