//! Reads, one file per topic.

pub mod all_businesses;
pub mod business_events;
pub mod feed;
mod order_timeline;
pub mod orders;
pub mod support;

pub use order_timeline::{Timeline, TimelineError, order_timeline};
