//! What is read from more than one place.

mod order_timeline;

pub use order_timeline::{Timeline, TimelineError, order_timeline};
