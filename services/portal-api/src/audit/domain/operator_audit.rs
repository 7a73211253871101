//! The operator's audit log: who of the operator did what, and whose data they read. Also, how long both logs are kept.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{AuditEntryId, BusinessId};
use identity::CallerAddress;
use serde_json::Value;

use crate::audit::domain::{Action, AuditTarget};

/// A written entry. Its words are plain strings: a later version may have written words that this one does not know.
pub(crate) struct OperatorEntry {
    pub(crate) id: AuditEntryId,
    pub(crate) at: DateTime<Utc>,
    pub(crate) action: String,
    pub(crate) actor_type: String,
    pub(crate) actor_id: Option<String>,
    pub(crate) actor_name: String,
    pub(crate) address: Option<String>,
    pub(crate) business: Option<String>,
    pub(crate) target: Option<AuditTarget>,
    pub(crate) request_id: Option<String>,
    pub(crate) details: Value,
}

/// Selects entries; absent fields match all.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperatorFilter {
    pub(crate) action: Option<Action>,
    /// The e-mail address of a person, or the name of a token.
    pub(crate) actor: Option<String>,
    /// As it is stored.
    pub(crate) address: Option<CallerAddress>,
    pub(crate) business: Option<BusinessId>,
    pub(crate) without_reads: bool,
    /// Inclusive.
    pub(crate) since: Option<DateTime<Utc>>,
    /// Exclusive.
    pub(crate) until: Option<DateTime<Utc>>,
}

/// How long entries are kept. `None`: forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AuditRetention {
    pub(crate) of_businesses: Option<TimeDelta>,
    pub(crate) of_operator: Option<TimeDelta>,
}
