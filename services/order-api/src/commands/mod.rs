//! The use cases that write, one per file. Each owns its transaction.

pub mod cancel_order;
pub mod create_order;
pub mod erase_personal_data;
mod move_order;
pub mod note_retries;
pub mod record_progress;
pub mod recover_pending;
pub mod run_simulations;
pub mod simulate_progress;

pub use move_order::{MoveError, Reported};
