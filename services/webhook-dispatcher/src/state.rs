//! Shared by routes, consumers, workers, commands and queries.

use std::sync::Arc;

use chrono::TimeDelta;
use domain::BusinessId;
use outbox::Unit;
use postgres::StoreError;
use web::{FairSlot, FairSlots};

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
    /// Whether endpoints may subscribe to what businesses ask for after a failed delivery.
    pub offers_requests: bool,
    /// How long the log is kept.
    pub retention_days: u32,
    /// Pages of logs take few of the pool's connections, so that events are accepted meanwhile.
    pub page_slots: FairSlots<BusinessId>,
    /// The brand's prefix of header names.
    pub header_prefix: String,
}

impl State {
    /// A slot for reading pages of a log.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when none is free within 2 s.
    pub(crate) async fn page_slot(&self, business: BusinessId) -> Result<FairSlot, StoreError> {
        let slot = self.page_slots.enter(business).await;
        slot.map_err(|_| StoreError::Busy("too many pages are being read".into()))
    }
}
