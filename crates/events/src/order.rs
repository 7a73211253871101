//! The events of an order.

use chrono::{DateTime, NaiveDate, Utc};
use domain::schema::open_words;
use domain::{
    CodStatus, DeliveryStatus, EventKind, FailureReason, Mode, OrderId, Paise, RemittanceId, TrackingCode,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::AnyOfBuilder;

/// One step of an order. `sequence` counts the events of an order from 1 without a gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderEvent {
    pub event: EventKind,
    pub sequence: i64,
    pub mode: Mode,
    /// The order after the event.
    pub order: OrderSnapshot,
    /// The fields of this kind of event; webhooks carry them as `data`.
    #[serde(default)]
    pub data: ProgressData,
    /// The fee that a live order took from the wallet, in paise.
    pub delivery_fee_paise: Paise,
    /// The delivery ended before a driver had the parcel, so the wallet refunds the fee once.
    #[serde(default)]
    pub refund_due: bool,
    /// The cash to collect at the door, in paise. Absent for a prepaid order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cod_expected_paise: Option<Paise>,
    /// When order-api recorded the event. Absent in events of older releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<DateTime<Utc>>,
}

/// The order as webhooks show it. No personal data.
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

/// The optional fields of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressData {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<Driver>,
    /// Why a delivery failed, was cancelled or returned, in the fleet's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why a delivery failed, as a word of a list that later releases extend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = reason_code)]
    pub reason_code: Option<String>,
    /// The cash of a `cod.*` event, in paise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cod_amount_paise: Option<Paise>,
    /// The bank transfer that settled the cash, if the operator recorded it in Waybill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remittance: Option<Remittance>,
}

impl ProgressData {
    /// The fields that can contain personal data: the driver, and free text.
    pub const PERSONAL: [&str; 2] = ["driver", "reason"];

    /// Keeps only the cash and the code of the reason.
    #[must_use]
    pub fn without_personal_data(self) -> Self {
        Self { driver: None, reason: None, ..self }
    }
}

/// A bank transfer that pays out the cash of many orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remittance {
    pub id: RemittanceId,
    /// The bank's reference of the transfer.
    pub bank_reference: String,
    /// The day of the transfer.
    pub paid_on: NaiveDate,
}

fn reason_code() -> AnyOfBuilder {
    open_words(FailureReason::words(), "Why the delivery failed; left out when the fleet did not say it.")
}

/// The driver, as reported by the fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Driver {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<String>,
}
