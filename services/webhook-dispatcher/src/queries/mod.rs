//! Use cases that only read.

mod endpoints;
mod log;
mod order_timeline;
mod queue_status;
mod recoveries;
mod verify_signature;

pub(crate) use endpoints::{
    FailingEndpoint, businesses, endpoint, endpoints, endpoints_summary, endpoints_with_unreadable_secrets,
    failing_endpoints,
};
pub(crate) use log::{deliveries, delivery};
pub(crate) use order_timeline::{deliveries_of_events, deliveries_of_order, delivery_of_order};
pub(crate) use queue_status::{QueueStatus, queue_status};
pub(crate) use recoveries::{recoveries, recovery};
pub(crate) use verify_signature::{VerifyError, verify_signature};

use postgres::StoreError;

/// Why a page of an endpoint's log or recoveries cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    #[error("the business has no such endpoint")]
    NoEndpoint,
    #[error("the page starts after an entry that is not in the list")]
    UnknownStart,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Lists return one entry more than their page: it shows that there is another page.
fn one_more_than(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX - 1) + 1
}
