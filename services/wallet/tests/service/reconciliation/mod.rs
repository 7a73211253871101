//! Reconciliation: consistent data is clean, and each inconsistency is a finding of its own check.

pub(crate) mod fake_orders;
mod ledger;
mod orders;
mod runs;
mod scene;
