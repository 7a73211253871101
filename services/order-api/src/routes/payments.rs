//! The amounts of the orders of all businesses, for the reconciliation of the wallet.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json};
use chrono::{DateTime, Utc};
use domain::{DeliveryStatus, OrderId};
use internal_api::Page;
use internal_api::orders::{OrderPayment, PAYMENTS_MAX};
use web::{ApiError, FieldErrors, Fields, JsonBody, read_query};

use crate::domain::{ChangePosition, OrderFinancials, Placement};
use crate::queries::all_businesses;
use crate::state::State;

const TIME: &str = "a time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z";

/// `GET /internal/orders/payments?changedAfter=&startingAfter=&limit=`
pub(super) async fn changed(
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Page<OrderPayment>>, ApiError> {
    let (after, limit) = read_query(&request, |fields| {
        let updated_at = fields.parsed_by("changedAfter", TIME, parse_time).unwrap_or(DateTime::UNIX_EPOCH);
        let id = fields.parsed("startingAfter", "the id of an order").unwrap_or(OrderId::MAX);
        let limit = fields.parsed_by("limit", "a whole number between 1 and 1000", |text| {
            text.parse().ok().filter(|limit| (1..=PAYMENTS_MAX).contains(limit))
        });
        (ChangePosition { updated_at, id }, limit.unwrap_or(PAYMENTS_MAX))
    })?;
    let found = all_businesses::financials_changed(&state, after, limit + 1).await?;
    Ok(Json(Page::cut(found, limit).map(view)))
}

/// `POST /internal/orders/payments {ids}`
pub(super) async fn of(state: Data<State>, body: JsonBody) -> Result<Json<Vec<OrderPayment>>, ApiError> {
    let field_errors = FieldErrors::default();
    let ids = Fields::of_body(&body.0, &field_errors)
        .and_then(|fields| fields.optional_words::<OrderId>("ids", PAYMENTS_MAX, "the id of an order"));
    if !field_errors.is_empty() {
        return Err(ApiError::invalid(field_errors));
    }
    let found = all_businesses::financials_of(&state, &ids.unwrap_or_default()).await?;
    Ok(Json(found.into_iter().map(view).collect()))
}

fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc))
}

fn view(order: OrderFinancials) -> OrderPayment {
    OrderPayment {
        id: order.id,
        business_id: order.business_id,
        mode: order.mode,
        placed: order.placement == Placement::Placed,
        delivery_fee_paise: order.delivery_fee,
        cod_amount_paise: order.cod_amount,
        cod_status: order.state.cod,
        delivered: order.state.status == DeliveryStatus::Delivered,
        refund_due: order.state.refund_due(),
        changed_at: order.changed_at,
    }
}
