//! What the other services report about a business.

use chrono::{DateTime, Utc};
use domain::{EndpointId, Paise};

/// Whether a working key of each mode exists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeysReport {
    pub(crate) test: bool,
    pub(crate) live: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WalletReport {
    pub(crate) balance: Paise,
    pub(crate) owed: Paise,
    pub(crate) low_balance_threshold: Paise,
    pub(crate) is_funded: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WebhooksReport {
    /// The worst status of all endpoints; `None` without endpoints.
    pub(crate) status: Option<EndpointStatus>,
    pub(crate) connection_test: ConnectionTest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndpointStatus {
    Active,
    Failing,
    Paused,
    Disabled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionTest {
    NotTested,
    Passed,
    Failed,
}

/// One webhook endpoint.
#[derive(Clone, Debug)]
pub(crate) struct EndpointReport {
    pub(crate) id: EndpointId,
    pub(crate) status: EndpointStatus,
    pub(crate) disabled_reason: Option<String>,
    pub(crate) failing_since: Option<DateTime<Utc>>,
    pub(crate) parked_deliveries: i64,
    pub(crate) connection_test: ConnectionTest,
    /// Whether it refused a webhook with a wrong signature; `None` when untested.
    pub(crate) forged_refused: Option<bool>,
}
