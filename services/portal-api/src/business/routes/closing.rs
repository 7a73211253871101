//! `…/closing` of a business, for its owners and for the operator.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, ReqData};
use chrono::{DateTime, Utc};
use domain::BusinessId;
use serde::Serialize;
use web::{ApiError, JsonBody, TextRule, read_body};

use crate::business::commands::closing::{begin_closing, withdraw_closing};
use crate::business::commands::complete_closing::complete_closing;
use crate::business::commands::open_items::open_items;
use crate::business::domain::{Closing, OpenItem, OpenItems};
use crate::business::queries;
use crate::business::routes::businesses::business_id;
use crate::domain::{Permission, Session};
use crate::http::audited::{OperatorAuthor, UserAuthor};
use crate::http::errors;
use crate::http::openapi::contact_bodies;
use crate::state::State;

const REASON: TextRule = TextRule::lines(500);

#[derive(Clone, Copy, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum ClosingState {
    /// Nobody is closing the business.
    NotBegun,
    Open,
    Completed,
}

#[derive(Clone, Copy, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum ClosingBeginner {
    Owner,
    Operator,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ClosingView {
    state: ClosingState,
    begun_at: Option<DateTime<Utc>>,
    begun_by: Option<ClosingBeginner>,
    reason: Option<String>,
    /// When its completion began. From then on keys and endpoints end, and nobody withdraws it.
    ending_at: Option<DateTime<Utc>>,
    completed_at: Option<DateTime<Utc>>,
    /// Until then, the law keeps the books of a closed business.
    erase_after: Option<DateTime<Utc>>,
    erased_at: Option<DateTime<Utc>>,
    /// What the business has in all services. Null for users who are no owners.
    open: Option<OpenItems>,
    /// What must be settled before the completion. Null as `open`.
    unsettled: Option<Vec<OpenItem>>,
    can_complete: bool,
}

impl ClosingView {
    fn of(closing: Option<Closing>, open: Option<OpenItems>) -> Self {
        let state = match &closing {
            None => ClosingState::NotBegun,
            Some(closing) if closing.completed_at.is_some() => ClosingState::Completed,
            Some(_) => ClosingState::Open,
        };
        let unsettled = open.as_ref().map(OpenItems::unsettled);
        let is_settled = unsettled.as_ref().is_some_and(Vec::is_empty);
        let begun_by = closing.as_ref().map(|closing| match closing.by_operator {
            true => ClosingBeginner::Operator,
            false => ClosingBeginner::Owner,
        });
        Self {
            state,
            begun_at: closing.as_ref().map(|closing| closing.requested_at),
            begun_by,
            ending_at: closing.as_ref().and_then(|closing| closing.ending_at),
            completed_at: closing.as_ref().and_then(|closing| closing.completed_at),
            erase_after: closing.as_ref().and_then(|closing| closing.erase_after),
            erased_at: closing.as_ref().and_then(|closing| closing.erased_at),
            reason: closing.and_then(|closing| closing.reason),
            open,
            unsettled,
            can_complete: is_settled && matches!(state, ClosingState::Open),
        }
    }
}

async fn view(state: &State, business: BusinessId, shows_open: bool) -> Result<HttpResponse, ApiError> {
    let closing = queries::closing::find(state, business).await?;
    let open = match shows_open {
        true => Some(open_items(state, business).await.map_err(errors::open_items)?),
        false => None,
    };
    Ok(HttpResponse::Ok().json(ClosingView::of(closing, open)))
}

#[utoipa::path(
    get,
    path = "/v1/portal/business/closing",
    operation_id = "readClosing",
    tag = "Account",
    summary = "Read whether the business is being closed and, for owners, what is open",
    description = "503 if a service does not answer: nothing counts as settled then.",
    responses((status = 200, description = "The closing, or none.", body = ClosingView)),
)]
pub(crate) async fn read(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    view(&state, session.business, session.role.may(Permission::ManageBusiness)).await
}

#[utoipa::path(
    post,
    path = "/v1/portal/business/closing",
    operation_id = "beginClosing",
    tag = "Account",
    summary = "Begin to close the business. New live orders are refused from then on",
    description = "A repeated call changes nothing. After the completion: 409 `business_closed`.",
    request_body = contact_bodies::BeginClosing,
    responses((status = 204, description = "The closing has begun.")),
)]
pub(crate) async fn begin(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let reason = read_body(&body.0, &["reason"], |fields| Some(fields.optional_text("reason", REASON)))?;
    begin_closing(&state, session.business, &author.0, reason).await.map_err(errors::closing)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    delete,
    path = "/v1/portal/business/closing",
    operation_id = "withdrawClosing",
    tag = "Account",
    summary = "Withdraw the closing of the business",
    description = "Live access is as before, unless the operator has switched it off. A closing of the operator: 409 `closing_of_operator`. Once its completion has begun: 409 `closing_ends`, and after it `business_closed`.",
    responses((status = 204, description = "Nobody is closing the business.")),
)]
pub(crate) async fn withdraw(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
) -> Result<HttpResponse, ApiError> {
    withdraw_closing(&state, session.business, &author.0).await.map_err(errors::closing)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/closing",
    operation_id = "readClosingOf",
    tag = "Operator",
    summary = "Read whether a business is being closed, and what is open",
    description = "503 if a service does not answer: nothing counts as settled then.",
    params(("id" = BusinessId, Path, description = "The business.")),
    responses((status = 200, description = "The closing, or none.", body = ClosingView)),
)]
pub(crate) async fn read_for_operator(
    state: Data<State>,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    view(&state, business, true).await
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/closing",
    operation_id = "beginClosingOf",
    tag = "Operator",
    summary = "Begin to close a business. New live orders are refused from then on",
    description = "A repeated call changes nothing. The owners cannot withdraw it. A closing that an owner began is taken over, with this reason. After the completion: 409 `business_closed`.",
    params(("id" = BusinessId, Path, description = "The business.")),
    request_body = contact_bodies::BeginClosingOf,
    responses((status = 204, description = "The closing has begun.")),
)]
pub(crate) async fn begin_for_operator(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let reason = read_body(&body.0, &["reason"], |fields| fields.required_text("reason", REASON))?;
    begin_closing(&state, business, &author.0, Some(reason)).await.map_err(errors::closing)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    delete,
    path = "/v1/operator/businesses/{id}/closing",
    operation_id = "withdrawClosingOf",
    tag = "Operator",
    summary = "Withdraw the closing of a business",
    description = "Live access is as before, unless it was switched off meanwhile. Once its completion has begun: 409 `closing_ends`, and after it `business_closed`.",
    params(("id" = BusinessId, Path, description = "The business.")),
    responses((status = 204, description = "Nobody is closing the business.")),
)]
pub(crate) async fn withdraw_for_operator(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    withdraw_closing(&state, business, &author.0).await.map_err(errors::closing)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/closing/complete",
    operation_id = "completeClosing",
    tag = "Operator",
    summary = "Complete the closing of a business: its keys and webhook endpoints end",
    description = "Refused with 409 `closing_not_settled`, which lists all that is `unsettled`. If that is found only after keys and endpoints have ended, the view says `endingAt`: the closing can no longer be withdrawn. A repeated call continues after a failure.",
    params(("id" = BusinessId, Path, description = "The business.")),
    responses((status = 204, description = "The business is closed.")),
)]
pub(crate) async fn complete(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let running = state.clone();
    // Continues when the client disconnects: each step has its audit entry.
    let work = async move { complete_closing(&running, business, &author.0).await };
    state.tasks.run(work).await?.map_err(errors::complete_closing)?;
    Ok(HttpResponse::NoContent().finish())
}
