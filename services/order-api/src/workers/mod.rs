//! Background tasks, one per file.

pub mod erasure;
pub mod feed;
pub mod idle_keys;
pub mod recovery;
pub mod search;
pub mod simulations;
