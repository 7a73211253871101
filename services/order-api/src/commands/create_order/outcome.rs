//! A request for an order, and its outcomes.

use domain::{GoLiveItem, OrderId, Paise, RequestId};
use internal_api::CallError;
use internal_api::keys::AuthenticatedKey;
use postgres::StoreError;
use web::FieldError;

use crate::commands::settlement::SettlementError;
use crate::domain::{ExistingOrder, OrderDraft, RequestIdentity, Warning};

pub struct CreateOrder {
    pub caller: AuthenticatedKey,
    pub request_id: RequestId,
    pub identity: RequestIdentity,
    /// The field errors count only after replays and locked businesses are ruled out (SPECIFICATION §4.1, order of
    /// checks).
    pub draft: Result<OrderDraft, InvalidOrder>,
}

/// A body with field errors. The warnings may explain them: an error can follow from a misspelt name.
#[derive(Clone, Debug)]
pub struct InvalidOrder {
    pub field_errors: Vec<FieldError>,
    pub warnings: Vec<Warning>,
}

/// A placed order.
#[derive(Debug)]
pub struct Placed {
    pub order_id: OrderId,
    /// The stored body of the 201.
    pub receipt: Vec<u8>,
    pub replayed: bool,
}

/// The order with the Idempotency-Key of another request.
#[derive(Debug)]
pub struct ReusedKey {
    pub existing: ExistingOrder,
    /// The fields in which the request differs, as far as they are stored.
    pub differences: Vec<String>,
}

/// What decides what a locked business can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockedBusiness {
    /// It has placed no live order yet.
    New,
    WasLive,
    /// Its closing has begun.
    Closing,
}

/// Why no order was placed. None of these is stored: the same key may be tried again.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    #[error("the Idempotency-Key was used for another body")]
    KeyReused(Box<ReusedKey>),
    #[error("live orders are locked")]
    Locked { missing: Vec<GoLiveItem>, business: LockedBusiness },
    #[error("the request is not valid")]
    Invalid(InvalidOrder),
    #[error("an order with this reference exists")]
    ReferenceExists(Box<ExistingOrder>),
    #[error("another request for this reference is being paid")]
    OrderInProgress,
    #[error("the wallet balance is too low")]
    InsufficientBalance { balance: Paise, owed: Paise, required: Paise },
    #[error("the outcome is not known in time")]
    Unknown,
    #[error("an earlier request with this key is still being paid")]
    KeyInProgress,
    #[error(transparent)]
    Peer(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SettlementError> for CreateError {
    fn from(error: SettlementError) -> Self {
        match error {
            SettlementError::OutcomeUnknown => Self::Unknown,
            SettlementError::Wallet(error) => Self::Peer(error),
            SettlementError::Store(error) => Self::Store(error),
        }
    }
}
