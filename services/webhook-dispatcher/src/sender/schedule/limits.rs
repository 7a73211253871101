//! The operator's limits.

use domain::{BusinessId, EndpointId};

pub(crate) type Key = (EndpointId, BusinessId);

#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Limits {
    /// Concurrent attempts.
    pub concurrency: usize,
    /// To one endpoint.
    pub per_endpoint: i64,
    /// The rate limit of endpoints without one of their own.
    pub per_second: u32,
}
