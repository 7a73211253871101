//! The shop's words: a local order with its sync record (`spec.md` §3.3), and what a sync or a webhook came to.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use domain::Mode;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::settings_section::visible_ascii;
use crate::{ShopError, WebhookOutcome};

/// The id of one of the shop's own orders; it is also the order's `orderReference`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalOrderId(String);

impl LocalOrderId {
    /// # Errors
    /// When it is not 1 to 128 visible ASCII characters, which a reference and an Idempotency-Key may carry.
    pub fn parse(text: &str) -> Result<Self, ShopError> {
        if visible_ascii(text, 1..=128) { Ok(Self(text.to_owned())) } else { Err(ShopError::InvalidOrderId) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LocalOrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How far the creation of an order's delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum SyncStatus {
    NotStarted,
    Creating,
    Created,
    Failed,
}

impl SyncStatus {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One of the shop's own orders, with its sync record.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalOrder {
    pub id: LocalOrderId,
    pub confirmed_at: DateTime<Utc>,
    pub sync_status: SyncStatus,
    /// How often a request for this order was started.
    pub attempts: i32,
    pub last_attempt_at: Option<DateTime<Utc>>,
    /// The mode of the API key of the last attempt.
    pub mode: Option<Mode>,
    /// Why the last attempt failed, fit to be shown to the shop's staff.
    pub sync_error: Option<String>,
    /// Present once the delivery exists, and the reason why no second one is ever created.
    pub delivery: Option<DeliveryDetails>,
    pub cod_status: Option<String>,
    /// The `sequence` of the last webhook that was applied.
    pub last_sequence: Option<i64>,
}

/// What the shop keeps of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryDetails {
    pub service_order_id: String,
    pub tracking_code: String,
    pub tracking_url: String,
    /// As the delivery service names it; a later version may know others.
    pub status: String,
}

/// What a call of [`crate::Shop::sync_order`] came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncOutcome {
    /// The delivery was created by this call (or by an earlier attempt whose answer was lost).
    Created(DeliveryDetails),
    /// The delivery existed under this reference, and the refusal told the shop what it needed to know.
    Recovered(DeliveryDetails),
    /// The shop knew the delivery already. No request was made.
    AlreadyCreated(DeliveryDetails),
    /// Another call for this order is under way. No request was made.
    InProgress,
    /// The delivery was not created, or the shop could not learn whether it was. The customer's order is kept, and the
    /// same call may be made again: it sends the same reference and Idempotency-Key.
    Failed {
        /// The HTTP status; none when there was no answer.
        status: Option<u16>,
        /// The machine-readable code of the error body, or the shop's own `timeout`, `unreachable` or `unusable_answer`.
        code: Option<String>,
        message: String,
    },
}

impl SyncOutcome {
    /// The delivery, when there is one.
    pub fn delivery(&self) -> Option<&DeliveryDetails> {
        match self {
            Self::Created(delivery) | Self::Recovered(delivery) | Self::AlreadyCreated(delivery) => {
                Some(delivery)
            }
            Self::InProgress | Self::Failed { .. } => None,
        }
    }
}

/// A verified webhook, as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedWebhook {
    /// Grows with each webhook; the numbers may have gaps.
    pub arrival: i64,
    pub event_id: String,
    pub kind: String,
    pub sequence: Option<i64>,
    pub mode: Option<String>,
    pub order_reference: Option<String>,
    pub tracking_code: Option<String>,
    /// The bytes that were signed.
    pub body: Vec<u8>,
    /// The signature headers, by their lower-case names.
    pub headers: BTreeMap<String, String>,
    pub received_at: DateTime<Utc>,
    /// More than 1 when the same event was delivered again.
    pub times_received: i32,
    /// What came of it; none while it waits to be worked off.
    pub outcome: Option<WebhookOutcome>,
}
