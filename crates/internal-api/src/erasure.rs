//! The erasure of what a service keeps of a closed business, beside its orders (SPECIFICATION §13.7).

use serde::{Deserialize, Serialize};

/// A call erases a bounded part, and can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErasureProgress {
    /// Whether nothing is left. False also while the business has a key or an endpoint, because then it is not closed.
    pub complete: bool,
}
