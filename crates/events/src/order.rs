//! The events of an order.

use chrono::{DateTime, Utc};
use domain::{CodStatus, DeliveryStatus, EventKind, Mode, OrderId, Paise, TrackingCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A step in the life of one order. `sequence` counts an order's events from 1 without a gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderEvent {
    pub event: EventKind,
    pub sequence: i64,
    pub mode: Mode,
    /// The order as it is after the event.
    pub order: OrderSnapshot,
    /// What this kind of event adds; webhooks carry it as `data`.
    #[serde(default)]
    pub data: ProgressData,
    /// The fee that a live order took from the wallet, in paise.
    pub delivery_fee_paise: Paise,
    /// The delivery ended before a driver held the parcel: the wallet gives the fee back, once.
    #[serde(default)]
    pub refund_due: bool,
    /// The cash to be collected at the door, in paise; absent for a prepaid order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cod_expected_paise: Option<Paise>,
    /// When order-api recorded the event; absent in events of releases that did not send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<DateTime<Utc>>,
}

/// What webhooks say of an order. No personal data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderSnapshot {
    pub id: OrderId,
    pub order_reference: String,
    pub tracking_code: TrackingCode,
    #[schema(format = "uri")]
    pub tracking_url: String,
    pub status: DeliveryStatus,
    pub cod_status: CodStatus,
}

/// What an event may add to the order's own fields. Absent parts are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressData {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<Driver>,
    /// Why a delivery failed, was cancelled or returned, in the fleet's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The cash of a `cod.*` event, in paise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cod_amount_paise: Option<Paise>,
}

impl ProgressData {
    /// The names of the fields that may tell of people: the driver, and what somebody wrote.
    pub const PERSONAL: [&str; 2] = ["driver", "reason"];

    /// What is left when nothing may tell of people: the cash.
    #[must_use]
    pub fn without_personal_data(self) -> Self {
        Self { driver: None, reason: None, ..self }
    }
}

/// The driver, as the fleet introduces them to the business.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Driver {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<String>,
}
