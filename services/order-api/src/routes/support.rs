//! Support for portal-api: the activity of a business, its tested retries, and the search of an operator.

use ::domain::BusinessId;
use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use chrono::TimeDelta;
use internal_api::orders::{FoundOrder, ModeActivity, OrdersActivity, RetryEvidence, RetryProof};
use web::{ApiError, read_query};

use super::{errors, integration, internal, views};
use crate::domain::{self, Activity, ListStart, Order, OrderFilter, SearchText, json_size};
use crate::queries::{orders, support};
use crate::state::State;

const FOUND_MAX: i64 = 20;
const FOUND_PAGE: usize = 20;
/// Of the details of found orders. Further ones come without their items.
const FOUND_BYTES: usize = 256 * 1024;
const COUNTED_MAX: i64 = 100_000;
const RECENT: TimeDelta = TimeDelta::hours(24);

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

pub(super) async fn retry_evidence(
    state: Data<State>,
    path: Path<String>,
) -> Result<Json<RetryEvidence>, ApiError> {
    let business = integration::parse_business(&path)?;
    let tested = support::tested_retries(&state, business).await?;
    let proof = |domain::RetryProof { at, request_ids }| RetryProof { at, request_ids };
    Ok(Json(RetryEvidence { duplicate: tested.duplicate.map(proof), failure: tested.failure.map(proof) }))
}

/// `GET /internal/orders?search=&business=`, or `?code=` for an exact id, tracking code or reference
pub(super) async fn find_anywhere(
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Vec<FoundOrder>>, ApiError> {
    let (code, search, business) = read_query(&request, |fields| {
        let (code, search) = (fields.text("code", internal::SEARCH), fields.text("search", internal::SEARCH));
        (code, search, fields.parsed::<BusinessId>("business", "the id of a business"))
    })?;
    let found = match (code, search, business) {
        (Some(code), None, None) => support::find_anywhere(&state.unit, &code, FOUND_MAX).await?,
        (None, Some(text), None) => {
            support::search_anywhere(&state, &text, FOUND_MAX).await.map_err(errors::from_list)?
        }
        (None, Some(text), Some(business)) => {
            let search = Some(SearchText { text, sees_phones: true });
            let (filter, start) = (OrderFilter { search, ..OrderFilter::default() }, ListStart::Newest(None));
            let found = orders::list(&state, business, &filter, start, FOUND_PAGE).await;
            found.map_err(errors::from_list)?.orders
        }
        _ => return Err(ApiError::invalid_field("search", "required", "Send either search or code.")),
    };
    let found = found.into_iter();
    let mut bytes = 0;
    let view = |order: Order| {
        bytes += json_size(&order.details);
        let business_id = order.business_id;
        let mut order = views::order_view(&state.tracking_urls, order);
        if bytes > FOUND_BYTES
            && let Some(package) = order.package.as_object_mut()
        {
            package.remove("items");
        }
        FoundOrder { business_id, order }
    };
    Ok(Json(found.map(view).collect()))
}
