//! The use cases that write, one per file. Each owns its transaction.

pub mod advance_simulations;
pub mod apply_retention;
pub mod cancel_order;
pub mod correct_delivery;
pub mod create_order;
pub mod decide_after_failure;
pub mod erase_business;
pub mod erase_personal_data;
pub mod index_orders;
pub mod issue_delivery_code;
mod move_order;
mod record_attempt;
pub mod record_progress;
pub mod recover_orders;
pub mod retry_tests;
pub mod settle_cash;
mod settlement;
pub mod simulate_progress;

pub use move_order::MoveError;
