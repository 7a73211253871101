//! Conversion between rows and domain values.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use domain::{DeliveryState, Paise};
use postgres::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::corrupt;
use super::schema::{order_events, orders};
use crate::domain::{
    CashReports, Decided, ExistingOrder, Fingerprint, NewOrder, Order, OrderEvent, PaidAttempts, Placement,
    json_size,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = orders, check_for_backend(diesel::pg::Pg))]
pub(super) struct OrderRow {
    id: String,
    business_id: String,
    mode: String,
    tracking_code: String,
    order_reference: String,
    order_source: String,
    status: String,
    cod_status: String,
    picked_up: bool,
    payment_type: String,
    after_failure: Option<Value>,
    delivery_fee_paise: i64,
    cod_amount_paise: i64,
    details: Value,
    sequence: i64,
    driver: Option<Value>,
    reason: Option<String>,
    cod_collected_paise: Option<i64>,
    cod_handed_over_paise: Option<i64>,
    cod_settled_paise: Option<i64>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    personal_data_erased_at: Option<DateTime<Utc>>,
}

impl OrderRow {
    /// In bytes of JSON.
    pub(super) fn size_of_details(&self) -> usize {
        json_size(&self.details)
    }
}

/// The columns of a delivery's state.
pub(super) struct StateColumns<'a> {
    pub(super) status: &'a str,
    pub(super) cod_status: &'a str,
    pub(super) picked_up: bool,
    pub(super) payment_type: &'a str,
    pub(super) after_failure: Option<&'a Value>,
}

impl TryFrom<StateColumns<'_>> for DeliveryState {
    type Error = StoreError;

    fn try_from(row: StateColumns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            status: row.status.parse().map_err(|error| corrupt("orders.status", error))?,
            cod: row.cod_status.parse().map_err(|error| corrupt("orders.cod_status", error))?,
            picked_up: row.picked_up,
            payment: row.payment_type.parse().map_err(|error| corrupt("orders.payment_type", error))?,
            failed_attempts: AfterFailure::read(row.after_failure)?.failed_attempts,
        })
    }
}

/// The column `after_failure`. The trigger `orders_count_failure` keeps the keys that it does not name.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AfterFailure {
    failed_attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decided: Option<Decided>,
    #[serde(default, skip_serializing_if = "is_default")]
    paid: PaidAttempts,
}

fn is_default(paid: &PaidAttempts) -> bool {
    *paid == PaidAttempts::default()
}

impl AfterFailure {
    fn read(column: Option<&Value>) -> Result<Self, StoreError> {
        let Some(stored) = column else { return Ok(Self::default()) };
        Self::deserialize(stored).map_err(|error| corrupt("orders.after_failure", error))
    }
}

/// The column `after_failure` of an order.
pub(super) fn after_failure(order: &Order) -> Result<Option<Value>, StoreError> {
    let column = AfterFailure {
        failed_attempts: order.state.failed_attempts,
        reason_code: order.reason_code.clone(),
        decided: order.decided,
        paid: order.paid,
    };
    let written = (column != AfterFailure::default()).then(|| serde_json::to_value(column)).transpose();
    written.map_err(|error| corrupt("orders.after_failure", error))
}

impl TryFrom<OrderRow> for Order {
    type Error = StoreError;

    fn try_from(row: OrderRow) -> Result<Self, StoreError> {
        let AfterFailure { reason_code, decided, paid, .. } = AfterFailure::read(row.after_failure.as_ref())?;
        Ok(Self {
            id: row.id.parse().map_err(|error| corrupt("orders.id", error))?,
            business_id: row.business_id.parse().map_err(|error| corrupt("orders.business_id", error))?,
            mode: row.mode.parse().map_err(|error| corrupt("orders.mode", error))?,
            tracking_code: row
                .tracking_code
                .parse()
                .map_err(|error| corrupt("orders.tracking_code", error))?,
            order_reference: row.order_reference,
            order_source: row.order_source,
            state: StateColumns {
                status: &row.status,
                cod_status: &row.cod_status,
                picked_up: row.picked_up,
                payment_type: &row.payment_type,
                after_failure: row.after_failure.as_ref(),
            }
            .try_into()?,
            delivery_fee: Paise::new(row.delivery_fee_paise),
            cod_amount: Paise::new(row.cod_amount_paise),
            details: Arc::new(row.details),
            sequence: row.sequence,
            driver: row.driver,
            reason: row.reason,
            reason_code,
            decided,
            paid,
            cash: CashReports {
                collected: row.cod_collected_paise.map(Paise::new),
                handed_over: row.cod_handed_over_paise.map(Paise::new),
                settled: row.cod_settled_paise.map(Paise::new),
            },
            created_at: row.created_at,
            updated_at: row.updated_at,
            personal_data_erased_at: row.personal_data_erased_at,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = orders, check_for_backend(diesel::pg::Pg))]
pub(super) struct ExistingOrderRow {
    id: String,
    business_id: String,
    placement: String,
    attempt: i32,
    order_reference: String,
    tracking_code: String,
    status: String,
    idempotency_key: String,
    fingerprint: Vec<u8>,
    meaning: Option<Vec<u8>>,
    payment_type: String,
    delivery_fee_paise: i64,
    cod_amount_paise: i64,
    receipt: Vec<u8>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl TryFrom<ExistingOrderRow> for ExistingOrder {
    type Error = StoreError;

    fn try_from(row: ExistingOrderRow) -> Result<Self, StoreError> {
        Ok(Self {
            order_id: row.id.parse().map_err(|error| corrupt("orders.id", error))?,
            business_id: row.business_id.parse().map_err(|error| corrupt("orders.business_id", error))?,
            placement: row.placement.parse().map_err(|error| corrupt("orders.placement", error))?,
            attempt: row.attempt,
            order_reference: row.order_reference,
            tracking_code: row
                .tracking_code
                .parse()
                .map_err(|error| corrupt("orders.tracking_code", error))?,
            status: row.status.parse().map_err(|error| corrupt("orders.status", error))?,
            idempotency_key: row.idempotency_key,
            fingerprint: Fingerprint::from_bytes(&row.fingerprint)
                .ok_or_else(|| corrupt("orders.fingerprint", "wrong length"))?,
            meaning: row.meaning.as_deref().and_then(Fingerprint::from_bytes),
            payment_type: row.payment_type.parse().map_err(|error| corrupt("orders.payment_type", error))?,
            delivery_fee: Paise::new(row.delivery_fee_paise),
            cod_amount: Paise::new(row.cod_amount_paise),
            receipt: row.receipt,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

/// The columns that a new request sets when it takes over a released order.
#[derive(AsChangeset)]
#[diesel(table_name = orders, treat_none_as_null = true)]
pub(super) struct TakeOverRow<'a> {
    placement: &'static str,
    attempt: i32,
    idempotency_key: &'a str,
    fingerprint: &'a [u8],
    tracking_code: &'a str,
    order_source: &'a str,
    cod_status: &'static str,
    payment_type: &'static str,
    delivery_fee_paise: i64,
    cod_amount_paise: i64,
    details: &'a Value,
    receipt: &'a [u8],
    updated_at: DateTime<Utc>,
    pending_since: Option<DateTime<Utc>>,
    request_id: String,
    key_id: String,
    personal_data_erased_at: Option<DateTime<Utc>>,
    meaning: Vec<u8>,
}

impl<'a> TakeOverRow<'a> {
    pub(super) fn new(order: &'a NewOrder, attempt: i32, now: DateTime<Utc>) -> Self {
        Self {
            placement: Placement::PendingPayment.as_str(),
            attempt,
            idempotency_key: &order.idempotency_key,
            fingerprint: order.fingerprint.as_bytes(),
            tracking_code: order.tracking_code.as_str(),
            order_source: &order.order_source,
            cod_status: DeliveryState::new(order.payment_type).cod.as_str(),
            payment_type: order.payment_type.as_str(),
            delivery_fee_paise: order.delivery_fee.get(),
            cod_amount_paise: order.cod_amount.get(),
            details: &order.details,
            receipt: &order.receipt,
            updated_at: now,
            pending_since: Some(now),
            request_id: order.request_id.to_string(),
            key_id: order.key_id.to_string(),
            personal_data_erased_at: None,
            meaning: order.bound_meaning().as_bytes().to_vec(),
        }
    }
}

#[derive(Queryable, QueryableByName, Selectable)]
#[diesel(table_name = order_events, check_for_backend(diesel::pg::Pg))]
pub(super) struct OrderEventRow {
    order_id: String,
    sequence: i64,
    event_id: String,
    business_id: String,
    kind: String,
    status: String,
    cod_status: String,
    data: Value,
    occurred_at: DateTime<Utc>,
    recorded_at: DateTime<Utc>,
}

impl OrderEventRow {
    /// The order and the sequence.
    pub(super) fn key(&self) -> (&str, i64) {
        (&self.order_id, self.sequence)
    }

    pub(super) fn event_id(&self) -> Result<domain::EventId, StoreError> {
        self.event_id.parse().map_err(|error| corrupt("order_events.event_id", error))
    }
}

impl TryFrom<OrderEventRow> for OrderEvent {
    type Error = StoreError;

    fn try_from(row: OrderEventRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.event_id.parse().map_err(|error| corrupt("order_events.event_id", error))?,
            order_id: row.order_id.parse().map_err(|error| corrupt("order_events.order_id", error))?,
            business_id: row
                .business_id
                .parse()
                .map_err(|error| corrupt("order_events.business_id", error))?,
            kind: row.kind.parse().map_err(|error| corrupt("order_events.kind", error))?,
            sequence: row.sequence,
            status: row.status.parse().map_err(|error| corrupt("order_events.status", error))?,
            cod_status: row.cod_status.parse().map_err(|error| corrupt("order_events.cod_status", error))?,
            data: row.data,
            occurred_at: row.occurred_at,
            recorded_at: row.recorded_at,
        })
    }
}
