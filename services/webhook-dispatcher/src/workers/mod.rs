//! Background tasks, one per file.

mod monitor;
mod recoveries;
mod retention;
mod secret_check;
mod secret_rotation;
mod sweep;

pub(crate) use monitor::{QueueMonitor, monitor};
pub(crate) use recoveries::recover;
pub(crate) use retention::retain;
pub(crate) use secret_check::check_secrets;
pub(crate) use secret_rotation::{ROTATION_INTERVAL, rotate_secrets};
pub(crate) use sweep::sweep;

/// A count as the value of a gauge.
fn gauge_value(count: i64) -> f64 {
    i32::try_from(count).map_or(f64::MAX, f64::from)
}
