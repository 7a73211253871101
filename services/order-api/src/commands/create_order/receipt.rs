//! The body of the 201 (SPECIFICATION §2.2). It is rendered before the order is stored and is stored with it, so
//! that a replay returns the same bytes.

use chrono::{DateTime, Utc};
use domain::{DeliveryStatus, Mode, OrderId, TrackingCode};
use postgres::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::{NewOrder, TrackingUrls, Warning};

/// The order that was created.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OrderCreated)]
pub(crate) struct Receipt<'a> {
    id: OrderId,
    /// The same value as `id`.
    service_order_id: OrderId,
    /// Your id of the order.
    order_reference: &'a str,
    tracking_code: &'a TrackingCode,
    /// A page that shows the customer where the parcel is.
    #[schema(format = "uri")]
    tracking_url: String,
    status: DeliveryStatus,
    mode: Mode,
    /// When the first request for the order arrived.
    created_at: DateTime<Utc>,
    /// Fields that were accepted, but may be wrong.
    warnings: &'a [Warning],
}

pub(crate) fn render(
    tracking_urls: &TrackingUrls,
    order: &NewOrder,
    warnings: &[Warning],
) -> Result<Vec<u8>, StoreError> {
    let receipt = Receipt {
        id: order.id,
        service_order_id: order.id,
        order_reference: &order.order_reference,
        tracking_code: &order.tracking_code,
        tracking_url: tracking_urls.of(&order.tracking_code),
        status: DeliveryStatus::Created,
        mode: order.mode,
        created_at: order.created_at,
        warnings,
    };
    serde_json::to_vec(&receipt).map_err(|error| StoreError::Corrupt(format!("receipt: {error}")))
}
