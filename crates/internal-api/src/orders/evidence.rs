//! The evidence of an order's attempts, for disputes.

use chrono::{DateTime, Utc};
use domain::schema::open_words;
use domain::{
    BusinessId, DeliveryStatus, EventKind, EvidencePlace, Mode, OrderId, Photo, RecipientRelation,
    TrackingCode,
};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};

use super::{OrdersClient, reason_code};
use crate::CallError;

/// The records of all attempts of an order, with which anybody can verify them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceView {
    pub order: EvidenceOrder,
    /// Oldest first. An attempt that a release before 1.1 recorded is missing.
    pub attempts: Vec<EvidenceAttempt>,
    /// Whether all hashes match.
    pub intact: bool,
    /// How to verify the hashes, in words.
    pub verification: String,
}

/// The order that the evidence is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceOrder {
    pub id: OrderId,
    /// The business's id of the order.
    pub order_reference: String,
    pub tracking_code: TrackingCode,
    pub mode: Mode,
    pub status: DeliveryStatus,
    /// When the first request for the order arrived.
    pub created_at: DateTime<Utc>,
    /// When the order's personal data was erased; null before.
    pub personal_data_erased_at: Option<DateTime<Utc>>,
}

/// An attempt at a delivery: what `record` and `personal` say, and both as they are hashed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceAttempt {
    /// 1 for the first.
    pub attempt: u32,
    /// `order.delivered` or `order.failed`.
    pub event: EventKind,
    /// The sequence of the event.
    pub sequence: i64,
    /// The fleet's id of its report.
    pub report_id: String,
    /// When it happened, by the fleet's clock, which can be wrong.
    pub occurred_at: DateTime<Utc>,
    /// When this service recorded it.
    pub recorded_at: DateTime<Utc>,
    /// Why the delivery failed; null once erased.
    pub reason: Option<String>,
    #[schema(schema_with = reason_code)]
    pub reason_code: Option<String>,
    /// When the driver took the evidence, by the fleet's clock.
    pub captured_at: Option<DateTime<Utc>>,
    /// Null once erased.
    pub place: Option<EvidencePlace>,
    /// Null once erased.
    pub recipient_name: Option<String>,
    #[schema(schema_with = recipient_relation)]
    pub recipient_relation: Option<String>,
    /// Whether the driver had the customer's delivery code; null for a failed attempt, or when none was issued.
    pub code_verified: Option<bool>,
    /// Null once erased; then `record` still has its `photoSha256`.
    pub photo: Option<Photo>,
    /// The hash of the attempt before; null for the first.
    pub previous_hash: Option<String>,
    /// SHA-256 of `record`, in hex.
    pub hash: String,
    /// The record: a JSON text.
    pub record: String,
    /// The personal part of the record: a JSON text, of which `record` has the hash. Null once erased.
    pub personal: Option<String>,
}

fn recipient_relation() -> OneOfBuilder {
    let null = ObjectBuilder::new().schema_type(Type::Null);
    let relation = open_words(RecipientRelation::words(), "A recipient.");
    let description = "Who took the parcel; null when the fleet did not say it.";
    OneOfBuilder::new().item(relation).item(null).description(Some(description))
}

/// The code that the customer tells the driver.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeliveryCode)]
pub struct DeliveryCodeView {
    /// Six digits.
    #[schema(pattern = "^[0-9]{6}$")]
    pub delivery_code: String,
}

impl OrdersClient {
    /// `POST /internal/businesses/{id}/orders/{order}/delivery-code`; a repeated call returns the same code
    pub async fn issue_delivery_code(
        &self,
        business: BusinessId,
        order: &str,
    ) -> Result<DeliveryCodeView, CallError> {
        let path = ["businesses", &business.to_string(), "orders", order, "delivery-code"];
        self.0.send(Method::POST, &path, &Value::Null).await
    }

    /// `GET /internal/businesses/{id}/orders/{order}/evidence`
    pub async fn evidence(&self, business: BusinessId, order: &str) -> Result<EvidenceView, CallError> {
        self.0.get(&["businesses", &business.to_string(), "orders", order, "evidence"]).await
    }
}
