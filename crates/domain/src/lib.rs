//! Pure rules shared by the services: ids, amounts, API keys, and the state machine of a delivery. No I/O: callers pass
//! time and randomness as [`Clock`] and [`Entropy`].

mod api_key;
mod attempt_fee;
mod clock;
mod delivery;
mod digits;
mod email;
mod entropy;
mod event_kind;
mod evidence;
mod failure_reason;
mod go_live;
mod ids;
mod indian_time;
mod key_restrictions;
mod mode;
mod paise;
mod payment_type;
mod phone;
mod pincode;
mod requested_by;
pub mod schema;
mod text;
mod tracking_code;

pub use api_key::{ApiKey, ApiKeyError, KeySegment};
pub use attempt_fee::{
    attempt_fee_reference, attempt_fee_references, is_attempt_fee_reference, order_of_attempt_fee,
};
pub use clock::Clock;
pub use delivery::{CodStatus, DeliveryState, DeliveryStatus, IllegalMove};
pub use digits::DigitGroups;
pub use email::Email;
pub use entropy::Entropy;
pub use event_kind::{DEFAULT_SUBSCRIPTION, EventKind};
pub use evidence::{EvidencePlace, Photo, RecipientRelation};
pub use failure_reason::FailureReason;
pub use go_live::{GoLiveFacts, GoLiveItem};
pub use ids::{
    AccountId, ApiKeyId, ApprovalId, AuditEntryId, BusinessId, EndpointId, EventId, ExportId, IdError,
    InvitationId, OperatorTokenId, OrderId, PasskeyId, RecoveryId, RemittanceId, RequestId, SessionId,
    StaffId, TopUpId, TransferId, UserId, WebhookDeliveryId,
};
pub use indian_time::{indian_time, start_of_indian_day};
pub use key_restrictions::{IpAllowList, IpNetwork, IpNetworkError, KeyRestrictions, KeyScope};
pub use mode::Mode;
pub use paise::{Paise, PaiseError};
pub use payment_type::PaymentType;
pub use phone::Phone;
pub use pincode::Pincode;
pub use requested_by::RequestedBy;
pub use text::{composed, is_control, is_invisible, is_line_break_or_tab, looks_empty};
pub use tracking_code::{TrackingCode, TrackingCodeError};
