//! The events of an order.

use chrono::{DateTime, NaiveDate, Utc};
use domain::schema::open_words;
use domain::{
    CodStatus, DeliveryStatus, EventKind, EvidencePlace, FailureReason, Mode, OrderId, Paise, Photo,
    RecipientRelation, RemittanceId, RequestedBy, TrackingCode,
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
    /// The bank transfer that settled the cash, if the operator recorded it in this service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remittance: Option<Remittance>,
    /// Of `order.delivered` and `order.failed`: the attempt, the hash of its record, and what the fleet reported as evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Of `order.reattempt_scheduled`: the attempt that the business asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reattempt: Option<ScheduledAttempt>,
    /// Who asked for it, as a word of a list that later releases extend: of `order.reattempt_scheduled`, `order.returning`, and
    /// `order.cancelled` unless the fleet or a simulation cancelled. Absent in events of older releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = requested_by)]
    pub requested_by: Option<String>,
}

impl ProgressData {
    /// The fields that can contain personal data: the driver, free text, and where and to whom a parcel went.
    pub const PERSONAL: [&str; 3] = ["driver", "reason", "evidence"];

    /// Keeps the cash, the code of the reason, the requested attempt, and the kind of who asked.
    #[must_use]
    pub fn without_personal_data(self) -> Self {
        Self { driver: None, reason: None, evidence: None, ..self }
    }
}

/// The evidence of one attempt. Fields without a value are left out, so that often only `attempt` and `hash` are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// 1 for the first attempt.
    pub attempt: u32,
    /// When the driver took it, by the fleet's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<EvidencePlace>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient_name: Option<String>,
    /// Who took the parcel, as a word of a list that later releases extend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = recipient_relation)]
    pub recipient_relation: Option<String>,
    /// Whether the driver had the customer's delivery code. Left out for a failed attempt, or when none was issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_verified: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo: Option<Photo>,
    /// SHA-256 of the attempt's record, in hex. Keep it: a record that was changed afterwards has another one.
    pub hash: String,
}

fn recipient_relation() -> AnyOfBuilder {
    open_words(RecipientRelation::words(), "Who took the parcel; left out when the fleet did not say it.")
}

/// An attempt that a business asked for, without its note for the driver, which may name somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledAttempt {
    /// 2 for the attempt after the first failure.
    pub number: u32,
    /// The day in India; left out for as soon as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<NaiveDate>,
    /// What the attempt takes from the wallet when it begins.
    #[serde(default)]
    #[schema(required)]
    pub fee_paise: Paise,
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

fn requested_by() -> AnyOfBuilder {
    let description = "Who asked for it: a program with your API key, a person in your portal, or the operator's staff. Left out when the fleet or a simulation did.";
    open_words(RequestedBy::words(), description)
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
