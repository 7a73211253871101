//! Shared by routes, consumers, workers, commands and queries.

use std::sync::Arc;

use chrono::TimeDelta;
use outbox::Unit;

use crate::secrets::SecretCipher;
use crate::sender::Sender;

pub(crate) struct State {
    pub unit: Unit,
    pub secrets: SecretCipher,
    pub sender: Arc<Sender>,
    /// How long one failing event may block the later events of its order.
    pub skip_after: TimeDelta,
    /// How long an endpoint may only fail before it is disabled.
    pub disable_after: TimeDelta,
    /// How long the log is kept.
    pub retention_days: u32,
    /// The brand's prefix of header names.
    pub header_prefix: String,
}
