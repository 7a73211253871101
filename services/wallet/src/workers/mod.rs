//! Background tasks, one per file.

mod cash_sums;
mod late_cash;
mod reconciliation;
mod top_ups;

pub(crate) use cash_sums::{CASH_SUMS_INTERVAL, store_cash_sums};
pub(crate) use late_cash::{LATE_CASH_INTERVAL, publish_late_cash};
pub(crate) use reconciliation::{check_interval, reconcile};
pub(crate) use top_ups::{TOP_UPS_INTERVAL, check_pending_top_ups};
