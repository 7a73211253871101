//! `GET /internal/businesses/{id}/api-keys?createdBy=`

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::Page;
use web::{ApiError, read_query};

use super::{path, view};
use crate::queries;
use crate::state::State;

pub(super) async fn list(
    request: HttpRequest,
    state: Data<State>,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let (page, created_by) =
        read_query(&request, |query| (query.page(), query.parsed("createdBy", "the id of a user")))?;
    let unknown = || {
        ApiError::invalid_field(
            "startingAfter",
            "invalid_value",
            "startingAfter names no API key of this list.",
        )
    };
    let after = page.starting_after.map(|id| id.parse().map_err(|_| unknown())).transpose()?;
    let keys = queries::list(&state, business, created_by, after, page.limit).await?;
    let keys = keys.ok_or_else(unknown)?;
    Ok(HttpResponse::Ok().json(Page::cut(keys, page.limit).map(view::of_listed)))
}
