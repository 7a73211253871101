//! What portal-api asks to help a business: how busy it is, which retries it has tried; and for the operator, where an
//! order is.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path};
use chrono::TimeDelta;
use domain::{BusinessId, Mode};
use internal_api::orders::{FoundOrder, ModeActivity, OrdersActivity, RetryEvidence, RetryProof};
use postgres::StoreError;
use web::{ApiError, read_query};

use super::{errors, integration, internal, views};
use crate::app::App;
use crate::commands::note_retries;
use crate::domain::Retry;
use crate::store::support;

const FOUND_MAX: i64 = 20;
const COUNTED_MAX: i64 = 100_000;
const RECENT: TimeDelta = TimeDelta::hours(24);

pub(super) async fn activity(app: Data<App>, path: Path<String>) -> Result<Json<OrdersActivity>, ApiError> {
    let business = integration::parse_business(&path)?;
    let read: Result<OrdersActivity, StoreError> = app
        .database
        .read(async |conn| {
            let since = app.ambient.clock.now() - RECENT;
            let live = support::activity(conn, business, Mode::Live, since, COUNTED_MAX).await?;
            let test = support::activity(conn, business, Mode::Test, since, COUNTED_MAX).await?;
            Ok(OrdersActivity { live: view(live), test: view(test) })
        })
        .await;
    read.map(Json).map_err(errors::from_store)
}

fn view(activity: support::Activity) -> ModeActivity {
    ModeActivity { last_at: activity.last_at, last24h: activity.recent, pending: activity.pending }
}

pub(super) async fn retry_evidence(
    app: Data<App>,
    path: Path<String>,
) -> Result<Json<RetryEvidence>, ApiError> {
    let business: BusinessId = integration::parse_business(&path)?;
    let proofs = note_retries::proved(&app, business).await.map_err(errors::from_store)?;
    let of_kind = |kind: Retry| {
        let proof = proofs.iter().find(|proof| proof.kind == kind)?;
        let request_ids = proof.first.into_iter().chain([proof.retry]).collect();
        Some(RetryProof { at: proof.at, request_ids })
    };
    Ok(Json(RetryEvidence { duplicate: of_kind(Retry::Duplicate), failure: of_kind(Retry::Failure) }))
}

/// `GET /internal/orders?code=`
pub(super) async fn find_anywhere(
    app: Data<App>,
    request: HttpRequest,
) -> Result<Json<Vec<FoundOrder>>, ApiError> {
    let code = read_query(&request, |fields| fields.text("code", internal::SEARCH))?;
    let code = code.ok_or_else(|| ApiError::invalid_field("code", "required", "code is required."))?;
    let read = app.database.read(async |conn| support::find_anywhere(conn, &code, FOUND_MAX).await).await;
    let found = read.map_err(errors::from_store)?.into_iter();
    let views = found.map(|order| FoundOrder {
        business_id: order.business_id,
        order: views::order_view(&app.ambient, order),
    });
    Ok(Json(views.collect()))
}
