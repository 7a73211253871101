//! A local order with its sync record (SPECIFICATION §3.3), and the results of syncs and webhooks.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use domain::Mode;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::settings_section::visible_ascii;
use crate::{ShopError, WebhookOutcome};

/// The id of a local order. It is also the order's `orderReference`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalOrderId(String);

impl LocalOrderId {
    /// # Errors
    /// When it is not 1 to 128 visible ASCII characters: it becomes part of a reference and an Idempotency-Key.
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

/// The progress of creating an order's delivery.
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

/// A local order with its sync record.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalOrder {
    pub id: LocalOrderId,
    pub confirmed_at: DateTime<Utc>,
    pub sync_status: SyncStatus,
    /// The number of requests started for this order.
    pub attempts: i32,
    pub last_attempt_at: Option<DateTime<Utc>>,
    /// The mode of the API key of the last attempt.
    pub mode: Option<Mode>,
    /// Why the last attempt failed, in words for the shop's staff.
    pub sync_error: Option<String>,
    /// Present once the delivery exists. Prevents a second delivery.
    pub delivery: Option<DeliveryDetails>,
    pub cod_status: Option<String>,
    /// The `sequence` of the last applied webhook.
    pub last_sequence: Option<i64>,
}

/// The stored details of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryDetails {
    pub service_order_id: String,
    pub tracking_code: String,
    pub tracking_url: String,
    /// The delivery service's own word; a later version may add others.
    pub status: String,
}

/// The result of [`crate::Shop::sync_order`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncOutcome {
    /// This call created the delivery.
    Created(DeliveryDetails),
    /// The delivery existed under this reference: an earlier attempt's response was lost, or the 409 response contained
    /// its details.
    Recovered(DeliveryDetails),
    /// The shop knew the delivery already and sent no request.
    AlreadyCreated(DeliveryDetails),
    /// Another call for this order is in progress, so this call sent no request.
    InProgress,
    /// The delivery was not created, or the result is unknown. The customer's order is stored. A retry sends the same
    /// reference and Idempotency-Key.
    Failed {
        /// The HTTP status; `None` without a response.
        status: Option<u16>,
        /// The machine-readable code of the error body, or the shop's own `timeout`, `unreachable` or
        /// `unusable_answer`.
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

/// A verified webhook as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedWebhook {
    /// Increases with each webhook; numbers may be skipped.
    pub arrival: i64,
    pub event_id: String,
    pub kind: String,
    pub sequence: Option<i64>,
    pub mode: Option<String>,
    pub order_reference: Option<String>,
    pub tracking_code: Option<String>,
    /// The signed bytes.
    pub body: Vec<u8>,
    /// The signature headers, by their lower-case names.
    pub headers: BTreeMap<String, String>,
    pub received_at: DateTime<Utc>,
    /// Greater than 1 when the event was redelivered.
    pub times_received: i32,
    /// The result; `None` before it is processed.
    pub outcome: Option<WebhookOutcome>,
}
