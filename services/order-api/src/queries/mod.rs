//! Reads, one file per topic.

pub mod business_erasures;
pub mod business_events;
pub mod feed;
pub mod financials;
pub mod fleet_orders;
mod order_timeline;
pub mod orders;
pub mod support;
pub mod tracking;

pub use order_timeline::{Timeline, TimelineError, order_timeline};
