//! Orders for portal-api. The path names the business; the user of the portal chooses the mode.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path, Payload};
use domain::{OrderId, RequestedBy};
use internal_api::orders::{
    AcceptedRequest, AnyTestOrder, DecisionFilter, ExceptionKind, ExceptionOrder, ExceptionsPage,
    OrderReference, OrderView,
};
use web::{ApiError, FieldErrors, Fields, JsonBody, QueryFields, read_optional_json, read_query};

use super::fleet_page::OrderPage;
use super::{errors, integration, views};
use crate::domain::{DecisionFilter as Decision, ExceptionKind as Kind};
use crate::queries::orders;
use crate::state::State;

/// The size of a page.
const REFERENCES_MAX: usize = 100;

pub(super) async fn list(
    state: Data<State>,
    request: HttpRequest,
    path: Path<String>,
) -> Result<Json<OrderPage>, ApiError> {
    let business = integration::parse_business(&path)?;
    let query = read_query(&request, |fields| {
        let mode = fields.parsed("mode", "test or live");
        let mut query = integration::order_query(fields, mode);
        let sees_phones = fields.parsed("seesPhones", "true or false").unwrap_or(false);
        if let Some(search) = &mut query.filter.search {
            search.sees_phones = sees_phones;
        }
        query
    })?;
    integration::page(&state, business, query).await.map(Json)
}

/// The request that created an order.
pub(super) async fn request(
    state: Data<State>,
    path: Path<(String, String)>,
) -> Result<Json<AcceptedRequest>, ApiError> {
    let business = integration::parse_business(&path.0)?;
    let id = integration::parse_id(&path.1)?;
    let accepted = orders::accepted(&state, business, id).await?.ok_or_else(errors::order_not_found)?;
    Ok(Json(views::accepted_request(accepted)))
}

/// `POST /internal/businesses/{business}/orders/{id}/cancel`, with `{reason?}`
pub(super) async fn cancel(
    state: Data<State>,
    path: Path<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> Result<Json<OrderView>, ApiError> {
    let business = integration::parse_business(&path.0)?;
    let reason = integration::cancel_reason(&read_optional_json(&request, payload).await?)?;
    let order = integration::find(&state, business, None, &path.1).await?;
    integration::cancel_by_id(&state, business, order.mode, order.id, reason, RequestedBy::Portal).await
}

pub(super) async fn get(
    state: Data<State>,
    path: Path<(String, String)>,
) -> Result<Json<OrderView>, ApiError> {
    let order = integration::find(&state, integration::parse_business(&path.0)?, None, &path.1).await?;
    Ok(Json(views::order_view(&state.tracking_urls, state.attempts, order)))
}

/// The references of up to 100 orders, without orders of other businesses.
pub(super) async fn references(
    state: Data<State>,
    path: Path<String>,
    body: JsonBody,
) -> Result<Json<Vec<OrderReference>>, ApiError> {
    let business = integration::parse_business(&path)?;
    let field_errors = FieldErrors::default();
    let ids = Fields::of_body(&body.0, &field_errors)
        .and_then(|fields| fields.optional_words::<OrderId>("ids", REFERENCES_MAX, "the id of an order"));
    if !field_errors.is_empty() {
        return Err(ApiError::invalid(field_errors));
    }
    let found = orders::references(&state, business, &ids.unwrap_or_default()).await?.into_iter();
    Ok(Json(found.map(|(id, order_reference)| OrderReference { id, order_reference }).collect()))
}

pub(super) async fn any_test_order(
    state: Data<State>,
    path: Path<String>,
) -> Result<Json<AnyTestOrder>, ApiError> {
    let exists = orders::any_test_order(&state, integration::parse_business(&path)?).await?;
    Ok(Json(AnyTestOrder { exists }))
}

/// `GET /internal/businesses/{business}/exceptions?kind=`
pub(super) async fn exceptions(
    state: Data<State>,
    request: HttpRequest,
    path: Path<String>,
) -> Result<Json<ExceptionsPage>, ApiError> {
    let business = integration::parse_business(&path)?;
    let (kind, decision) = read_query(&request, exception_filter)?;
    let counts = orders::count_exceptions(&state, Some(business), None).await?;
    let found = orders::list_exceptions(&state, Some(business), None, kind, decision).await?;
    let listed = found.orders.into_iter().map(|(order, since)| ExceptionOrder {
        order: views::order_view(&state.tracking_urls, state.attempts, order),
        since: Some(since),
    });
    Ok(Json(ExceptionsPage {
        counts: views::exception_counts(counts),
        attempts_max: state.attempts.max,
        limits: Some(views::exception_limits(state.patience)),
        data: listed.collect(),
        has_more: found.has_more,
    }))
}

/// `kind` and `decision`
pub(super) fn exception_filter(fields: &mut QueryFields) -> (Kind, Option<Decision>) {
    let kind = fields.parsed::<ExceptionKind>("kind", "failed, unassigned or stuck");
    let kind = match kind.unwrap_or(ExceptionKind::Failed) {
        ExceptionKind::Failed => Kind::Failed,
        ExceptionKind::Unassigned => Kind::Unassigned,
        ExceptionKind::Stuck => Kind::Stuck,
    };
    let decision = fields.parsed::<DecisionFilter>("decision", "asked, none or pending");
    let decision = decision.map(|decision| match decision {
        DecisionFilter::Asked => Decision::Asked,
        DecisionFilter::None => Decision::None,
        DecisionFilter::Pending => Decision::Pending,
    });
    (kind, decision)
}
