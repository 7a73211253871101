//! What wallet asks to hold its books against: the money of orders, of all businesses at once.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json};
use chrono::{DateTime, Utc};
use domain::{DeliveryStatus, OrderId};
use internal_api::Page;
use internal_api::orders::{OrderPayment, PAYMENTS_MAX};
use web::{ApiError, FieldErrors, Fields, JsonBody, read_query};

use super::errors;
use crate::app::App;
use crate::domain::Placement;
use crate::store::fleet::FleetPosition;
use crate::store::payments::{self, Payment};

const TIME: &str = "a time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z";

/// `GET /internal/orders/payments?changedAfter=&startingAfter=&limit=`
pub(super) async fn changed(
    app: Data<App>,
    request: HttpRequest,
) -> Result<Json<Page<OrderPayment>>, ApiError> {
    let (after, limit) = read_query(&request, |fields| {
        let updated_at = fields.parsed_by("changedAfter", TIME, parse_time).unwrap_or(DateTime::UNIX_EPOCH);
        let id = fields.parsed("startingAfter", "the id of an order").unwrap_or(OrderId::MAX);
        let limit = fields.parsed_by("limit", "a whole number between 1 and 1000", |text| {
            text.parse().ok().filter(|limit| (1..=PAYMENTS_MAX).contains(limit))
        });
        (FleetPosition { updated_at, id }, limit.unwrap_or(PAYMENTS_MAX))
    })?;
    let found = app.database.read(async |conn| payments::changed(conn, after, limit + 1).await).await;
    let found = found.map_err(errors::from_store)?;
    Ok(Json(Page::cut(found, limit).map(view)))
}

/// `POST /internal/orders/payments {ids}`
pub(super) async fn of(app: Data<App>, body: JsonBody) -> Result<Json<Vec<OrderPayment>>, ApiError> {
    let field_errors = FieldErrors::default();
    let ids = Fields::of_body(&body.0, &field_errors)
        .and_then(|fields| fields.optional_words::<OrderId>("ids", PAYMENTS_MAX, "the id of an order"));
    if !field_errors.is_empty() {
        return Err(ApiError::invalid(field_errors));
    }
    let ids = ids.unwrap_or_default();
    let found = app.database.read(async |conn| payments::of(conn, &ids).await).await;
    Ok(Json(found.map_err(errors::from_store)?.into_iter().map(view).collect()))
}

fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc))
}

fn view(payment: Payment) -> OrderPayment {
    OrderPayment {
        id: payment.id,
        business_id: payment.business_id,
        mode: payment.mode,
        placed: payment.placement == Placement::Placed,
        delivery_fee_paise: payment.delivery_fee,
        cod_amount_paise: Some(payment.cod_amount),
        cod_status: Some(payment.state.cod),
        delivered: Some(payment.state.status == DeliveryStatus::Delivered),
        refund_due: payment.state.refund_due(),
        changed_at: payment.changed_at,
    }
}
