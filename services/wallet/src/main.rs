//! The ledger: balances, debits, refunds, top-ups.

fn main() {}
