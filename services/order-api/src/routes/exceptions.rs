//! The live orders of a business that need its attention, for the portal.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use internal_api::orders::{ExceptionCounts, ExceptionKind, ExceptionsPage};
use web::{ApiError, read_query};

use super::{integration, views};
use crate::domain;
use crate::queries::exceptions::exceptions;
use crate::state::State;

const LISTED_MAX: usize = 100;

/// `GET /internal/businesses/{business}/exceptions?kind=`
pub(super) async fn list(
    state: Data<State>,
    request: HttpRequest,
    path: Path<String>,
) -> Result<Json<ExceptionsPage>, ApiError> {
    let business = integration::parse_business(&path)?;
    let kind =
        read_query(&request, |fields| fields.parsed::<ExceptionKind>("kind", "failed, unassigned or stuck"))?;
    let kind = match kind.unwrap_or(ExceptionKind::Failed) {
        ExceptionKind::Failed => domain::ExceptionKind::Failed,
        ExceptionKind::Unassigned => domain::ExceptionKind::Unassigned,
        ExceptionKind::Stuck => domain::ExceptionKind::Stuck,
    };
    let limit = i64::try_from(LISTED_MAX).unwrap_or(i64::MAX);
    let found = exceptions(&state, business, kind, limit + 1).await?;
    let has_more = found.orders.len() > LISTED_MAX;
    let listed = found.orders.into_iter().take(LISTED_MAX);
    Ok(Json(ExceptionsPage {
        counts: ExceptionCounts { failed: found.failed, unassigned: found.unassigned, stuck: found.stuck },
        attempts_max: state.attempts_max,
        data: listed.map(|order| views::order_view(&state.tracking_urls, order)).collect(),
        has_more,
    }))
}
