//! `POST …/webhook-endpoints/{endpoint}/recover {since, until?}`, `GET …/recoveries`, `GET …/recoveries/{recovery}` and
//! `POST …/recoveries/{recovery}/cancel`

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, TimeDelta, Utc};
use domain::RecoveryId;
use internal_api::Page;
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks};

use super::errors::{from_page, from_recover, recovery_not_found, unknown_start};
use super::{input, path, view};
use crate::state::State;
use crate::{commands, queries};

pub(super) async fn begin(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let state = state.into_inner();
    let period = read(&body, state.unit.clock.now(), state.retention_days)?;
    let work = async move { commands::begin_recovery(&state, business, endpoint, period).await };
    let begun = tasks.run(work).await?.map_err(from_recover)?;
    Ok(HttpResponse::Accepted().json(view::of_recovery(begun)))
}

pub(super) async fn list(
    request: HttpRequest,
    state: Data<State>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let page = web::page_query(&request)?;
    let unknown = |_| unknown_start("recovery of this endpoint");
    let after = page.starting_after.map(|id| id.parse().map_err(unknown)).transpose()?;
    let recoveries =
        queries::recoveries(&state, business, endpoint, after, page.limit).await.map_err(from_page)?;
    Ok(HttpResponse::Ok().json(Page::cut(recoveries, page.limit).map(view::of_recovery)))
}

pub(super) async fn show(
    state: Data<State>,
    ids: Path<(String, String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&(ids.0.clone(), ids.1.clone()))?;
    let id = recovery(&ids.2)?;
    let found = queries::recovery(&state, business, endpoint, id).await?;
    Ok(HttpResponse::Ok().json(view::of_recovery(found.ok_or_else(recovery_not_found)?)))
}

pub(super) async fn cancel(
    state: Data<State>,
    tasks: Data<Tasks>,
    ids: Path<(String, String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&(ids.0.clone(), ids.1.clone()))?;
    let id = recovery(&ids.2)?;
    let state = state.into_inner();
    let work = async move { commands::cancel_recovery(&state, business, endpoint, id).await };
    let cancelled = tasks.run(work).await?.map_err(from_recover)?;
    Ok(HttpResponse::Ok().json(view::of_recovery(cancelled)))
}

fn recovery(text: &str) -> Result<RecoveryId, ApiError> {
    text.parse().map_err(|_| recovery_not_found())
}

/// From `since`, which must lie within the retention period, to `until`, or to now.
fn read(
    body: &JsonBody,
    now: DateTime<Utc>,
    retention_days: u32,
) -> Result<(DateTime<Utc>, DateTime<Utc>), ApiError> {
    let field_errors = FieldErrors::default();
    let period = Fields::of_body(&body.0, &field_errors).and_then(|fields| {
        input::refuse_unknown(&fields, &["since", "until"]);
        let since = input::required_time(&fields, "since");
        let until = input::time(&fields, "until");
        let earliest = now - TimeDelta::days(retention_days.into());
        if since.is_some_and(|since| since < earliest || since > now) {
            let message = format!("since must be in the past, at most {retention_days} days ago.");
            fields.reject("since", "out_of_range", message);
        }
        if until.is_some_and(|until| until > now || since.is_some_and(|since| until <= since)) {
            fields.reject("until", "out_of_range", "until must be between since and now.");
        }
        Some((since?, until.unwrap_or(now)))
    });
    match period {
        Some((since, until)) if field_errors.is_empty() && since < until => Ok((since, until)),
        Some(_) if field_errors.is_empty() => {
            Err(ApiError::invalid_field("since", "out_of_range", "since must be in the past."))
        }
        _ => Err(ApiError::invalid(field_errors)),
    }
}
