//! Reconciliation: what is right is called clean, and each thing that is wrong is found, by its own name.

mod across;
mod books;
pub(crate) mod fake_orders;
mod scene;
mod turns;
