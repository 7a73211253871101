//! Reads, by topic.

pub(crate) mod attention;
pub(crate) mod cash;
pub(crate) mod remittances;
pub(crate) mod spend;
pub(crate) mod statement;
pub(crate) mod top_ups;
pub(crate) mod wallets;

/// Lists read one row more than the page, which shows whether there are more.
fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX - 1) + 1
}
