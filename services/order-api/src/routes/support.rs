//! Support for portal-api: the activity of a business, its live orders, its tested retries, and the operator's search and
//! orders that need attention.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, DeliveryStatus, OrderId};
use internal_api::attention::{BUSINESSES_MAX, BusinessActivity, RECENT_MAX};
use internal_api::orders::{
    ExceptionCounts, ExceptionOrder, FoundException, FoundExceptions, FoundOrder, FoundOrdersPage,
    LiveOrders, ModeActivity, OpenOrders, OrdersActivity, RECENT_ORDERS_MAX, RetryEvidence, RetryProof,
    StatusCount,
};
use web::{ApiError, FieldErrors, Fields, JsonBody, read_query};

use super::{errors, integration, internal, limits, views};
use crate::domain::{
    self as order_domain, Activity, ListStart, LiveOrdersQuery, Order, OrderFilter, SearchText, json_size,
};
use crate::queries::{orders, support};
use crate::state::State;

const FOUND_MAX: usize = 20;
/// Of the details of found orders. Further ones come without their items.
const FOUND_BYTES: usize = 256 * 1024;
const COUNTED_MAX: i64 = 100_000;
/// In [`OpenOrders`].
const OPEN_MAX: i64 = 1_000;
const RECENT: TimeDelta = TimeDelta::hours(24);
/// In lists of businesses.
const LIST_PERIOD: TimeDelta = TimeDelta::days(30);
/// The period of the delivery rate.
const RATE_PERIOD: TimeDelta = TimeDelta::days(7);
/// Of a search of all businesses by its period alone, which reads all orders of it.
const PERIOD_ALONE_MAX: TimeDelta = TimeDelta::days(31);

pub(super) async fn activity(
    state: Data<State>,
    path: Path<String>,
) -> Result<Json<OrdersActivity>, ApiError> {
    let business = integration::parse_business(&path)?;
    let since = state.unit.clock.now() - RECENT;
    let (live, test) = support::activity(&state, business, since, COUNTED_MAX).await?;
    Ok(Json(OrdersActivity { live: view(live), test: view(test) }))
}

fn view(activity: Activity) -> ModeActivity {
    ModeActivity { last_at: activity.last_at, last24h: activity.recent, pending: activity.pending }
}

/// `POST /internal/orders/activity {ids}`
pub(super) async fn activity_of(
    state: Data<State>,
    body: JsonBody,
) -> Result<Json<Vec<BusinessActivity>>, ApiError> {
    let field_errors = FieldErrors::default();
    let ids = Fields::of_body(&body.0, &field_errors).and_then(|fields| {
        fields.optional_words::<BusinessId>("ids", BUSINESSES_MAX, "the id of a business")
    });
    if !field_errors.is_empty() {
        return Err(ApiError::invalid(field_errors));
    }
    let since = state.unit.clock.now() - LIST_PERIOD;
    let found = support::activity_of(&state, &ids.unwrap_or_default(), since, RECENT_MAX).await?;
    let view = |of: order_domain::BusinessActivity| BusinessActivity {
        business_id: of.business,
        recent: of.recent,
        last_at: of.last_at,
    };
    Ok(Json(found.into_iter().map(view).collect()))
}

/// `GET /internal/businesses/{id}/orders/live?since=`
pub(super) async fn live(
    state: Data<State>,
    path: Path<String>,
    request: HttpRequest,
) -> Result<Json<LiveOrders>, ApiError> {
    let business = integration::parse_business(&path)?;
    let since = read_query(&request, |fields| fields.parsed::<DateTime<Utc>>("since", "a time in RFC 3339"))?;
    let since = since.ok_or_else(|| ApiError::invalid_field("since", "required", "since is required."))?;
    let now = state.unit.clock.now();
    let query = LiveOrdersQuery {
        today_since: since,
        period_since: since.min(now - RATE_PERIOD),
        max: RECENT_ORDERS_MAX,
    };
    let found = support::live_orders(&state, business, &query).await?;
    let attention = orders::count_exceptions(&state, Some(business), None).await?;
    let of = |statuses: &[DeliveryStatus]| -> i64 {
        let counted = found.by_status.iter().filter(|recent| statuses.contains(&recent.status));
        counted.map(|recent| recent.in_period).sum()
    };
    let today = found.by_status.iter().filter(|recent| recent.today > 0);
    Ok(Json(LiveOrders {
        last_at: found.last_at,
        today: today.map(|recent| StatusCount { status: recent.status, orders: recent.today }).collect(),
        ended: of(&[DeliveryStatus::Delivered, DeliveryStatus::Failed, DeliveryStatus::Returned]),
        delivered: of(&[DeliveryStatus::Delivered]),
        attention: views::exception_counts(attention),
        attention_limits: Some(views::exception_limits(state.patience)),
    }))
}

/// `GET /internal/businesses/{id}/open-orders`
pub(super) async fn open(state: Data<State>, path: Path<String>) -> Result<Json<OpenOrders>, ApiError> {
    let business = integration::parse_business(&path)?;
    let found = support::open_orders(&state, business, OPEN_MAX).await?;
    Ok(Json(OpenOrders { on_their_way: found.on_their_way, failed: found.failed, cash: found.cash }))
}

pub(super) async fn retry_evidence(
    state: Data<State>,
    path: Path<String>,
) -> Result<Json<RetryEvidence>, ApiError> {
    let business = integration::parse_business(&path)?;
    let tested = support::tested_retries(&state, business).await?;
    let proof = |order_domain::RetryProof { at, request_ids }| RetryProof { at, request_ids };
    Ok(Json(RetryEvidence { duplicate: tested.duplicate.map(proof), failure: tested.failure.map(proof) }))
}

/// `GET /internal/orders?code=`: an exact id, tracking code or reference
pub(super) async fn find_anywhere(
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Vec<FoundOrder>>, ApiError> {
    let code = read_query(&request, |fields| fields.text("code", limits::SEARCH))?;
    let code = code.ok_or_else(|| ApiError::invalid_field("code", "required", "code is required."))?;
    let found = support::find_anywhere(&state.unit, &code, FOUND_MAX).await?;
    Ok(Json(found_orders(&state, found)))
}

fn is_too_long((until, from): (DateTime<Utc>, DateTime<Utc>)) -> bool {
    until - from > PERIOD_ALONE_MAX
}

/// `GET /internal/orders/search?search=&city=&status=&business=&createdFrom=&createdUntil=`, with `search`, `city` or both times
pub(super) async fn search(
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<FoundOrdersPage>, ApiError> {
    let (page, business, words, filter) = read_query(&request, |fields| {
        let filter = OrderFilter {
            status: fields.parsed("status", integration::DELIVERY_STATUSES),
            created_from: integration::time(fields, "createdFrom"),
            created_until: integration::time(fields, "createdUntil"),
            ..OrderFilter::default()
        };
        let words = (fields.text("search", limits::SEARCH), fields.text("city", limits::SEARCH));
        (fields.page(), fields.parsed::<BusinessId>("business", "the id of a business"), words, filter)
    })?;
    let after = page.starting_after.as_deref().map(str::parse::<OrderId>).transpose();
    let after = after.map_err(|_| integration::unknown_cursor())?;
    let (text, city) = match words {
        (None, None) if filter.created_from.is_none() || filter.created_until.is_none() => {
            let message = "Send search, city, or createdFrom and createdUntil.";
            return Err(ApiError::invalid_field("search", "required", message));
        }
        (None, None)
            if business.is_none()
                && filter.created_until.zip(filter.created_from).is_some_and(is_too_long) =>
        {
            let message =
                "Without search, city and business, createdFrom must be at most 31 days before createdUntil.";
            return Err(ApiError::invalid_field("createdFrom", "out_of_range", message));
        }
        // The words of an order have its city.
        (text, city) => (text.iter().chain(&city).cloned().collect::<Vec<_>>().join(" "), city),
    };
    let found = match business {
        None => support::search_anywhere(&state, &text, &filter, after, page.limit).await,
        Some(business) => {
            let search = (!text.is_empty()).then_some(SearchText { text, sees_phones: true });
            let (filter, start) = (OrderFilter { search, ..filter }, ListStart::Newest(after));
            orders::list(&state, business, &filter, start, page.limit).await
        }
    };
    let mut found = found.map_err(errors::from_list)?;
    if let Some(city) = city {
        found = support::only_to(&city, found);
    }
    Ok(Json(FoundOrdersPage {
        data: found_orders(&state, found.orders),
        has_more: found.has_more,
        next: found.continue_after,
    }))
}

/// `GET /internal/orders/exceptions?kind=&decision=&business=&area=`
pub(super) async fn exceptions(
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<FoundExceptions>, ApiError> {
    let ((kind, decision), business, area) = read_query(&request, |fields| {
        let business = fields.parsed::<BusinessId>("business", "the id of a business");
        (internal::exception_filter(fields), business, fields.text("area", limits::SEARCH))
    })?;
    let counts = orders::count_exceptions(&state, business, area.as_deref()).await?;
    let found = orders::list_exceptions(&state, business, area.as_deref(), kind, decision).await?;
    let (listed, since): (Vec<_>, Vec<_>) = found.orders.into_iter().unzip();
    let listed = found_orders(&state, listed).into_iter().zip(since).map(|(found, since)| FoundException {
        business_id: found.business_id,
        order: ExceptionOrder { order: found.order, since: Some(since) },
    });
    Ok(Json(FoundExceptions {
        counts: views::exception_counts(counts),
        attempts_max: state.attempts.max,
        limits: views::exception_limits(state.patience),
        data: listed.collect(),
        has_more: found.has_more,
    }))
}

/// `GET /internal/orders/exceptions/counts`
pub(super) async fn exception_counts(state: Data<State>) -> Result<Json<ExceptionCounts>, ApiError> {
    Ok(Json(views::exception_counts(orders::count_exceptions(&state, None, None).await?)))
}

fn found_orders(state: &State, found: Vec<Order>) -> Vec<FoundOrder> {
    let found = found.into_iter();
    let mut bytes = 0;
    let view = |order: Order| {
        bytes += json_size(&order.details);
        let business_id = order.business_id;
        let mut order = views::order_view(&state.tracking_urls, state.attempts, order);
        if bytes > FOUND_BYTES
            && let Some(package) = order.package.as_object_mut()
        {
            package.remove("items");
        }
        FoundOrder { business_id, order }
    };
    found.map(view).collect()
}
