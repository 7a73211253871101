//! Pages of orders and events take at most half of the pool's connections, so that orders are placed while many pages are
//! asked for. A reader takes at most half of these slots, so that others read meanwhile.

use domain::BusinessId;
use postgres::StoreError;
use web::{FairSlot, FairSlots};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    Business(BusinessId),
    Fleet,
    /// The staff, about all businesses.
    Operator,
}

/// Slots for pages that are being read.
pub struct PageSlots(FairSlots<Reader>);

impl PageSlots {
    pub fn of(pool_size: usize) -> Self {
        let all = (pool_size / 2).max(1);
        Self(FairSlots::new(all, (all / 2).max(1)))
    }

    /// # Errors
    /// [`StoreError::Busy`] when none is free within 2 s.
    pub async fn enter(&self, reader: Reader) -> Result<FairSlot, StoreError> {
        let slot = self.0.enter(reader).await;
        slot.map_err(|_| StoreError::Busy("too many pages are being read".into()))
    }
}
