//! `/v1/operator/approvals`: requests that need a second person.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{ApprovalId, BusinessId, Paise};
use internal_api::{Page, PageQuery};
use serde_json::Value;
use strum::VariantArray;
use web::{ApiError, JsonBody, QueryFields, TextRule, read_body, read_query};

use crate::account::routes::password_resets::ResetLinkView;
use crate::approvals::commands::{approval_limit, decide_approval, fetch_reset_link};
use crate::approvals::domain::{ApprovalFilter, ApprovalKind, ApprovalState};
use crate::approvals::queries::approvals;
use crate::approvals::routes::approval_view::{ApprovalView, requested, view, views};
use crate::commands::publish_portal_change::publish_portal_change;
use crate::domain::OperatorRole;
use crate::http::audited::OperatorAuthor;
use crate::http::errors;
use crate::http::openapi::{bodies, params};
use crate::http::pagination::PageRequest;
use crate::state::State;

const REASON: TextRule = TextRule::lines(500);

#[utoipa::path(
    get,
    path = "/v1/operator/approvals",
    operation_id = "listApprovals",
    tag = "Operator",
    summary = "List requests for approval, newest first",
    description = "Only those whose action the caller has the permission for.",
    params(params::ApprovalsParams),
    responses((status = 200, description = "A page of requests.", body = Page<ApprovalView>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    author: OperatorAuthor,
    role: ReqData<OperatorRole>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (page, state_wanted, business) = read_query(&request, read_filter)?;
    let page = PageRequest::new(page, "request")?;
    let kinds = ApprovalKind::VARIANTS.iter().copied();
    let kinds = kinds.filter(|kind| author.0.may(*role, kind.permission())).collect();
    let filter = ApprovalFilter { state: state_wanted, business, kinds };
    let rows = approvals::list(&state, &filter, page.limit, page.after).await?;
    let Page { data, has_more } = page.page(rows)?;
    let data = views(&state, (&author.0, *role), data).await?;
    Ok(HttpResponse::Ok().json(Page { data, has_more }))
}

#[utoipa::path(
    put,
    path = "/v1/operator/approval-limit",
    operation_id = "setApprovalLimit",
    tag = "Operator",
    summary = "Choose the amount above which credits and debits need a second person",
    description = "Never above the setting `WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE`. A second administrator must approve a higher limit.",
    request_body = bodies::ApprovalLimit,
    responses(
        (status = 204, description = "The limit holds from now on."),
        (status = 202, description = "The limit would be higher. A second person must approve it first.", body = ApprovalView),
    ),
)]
pub(crate) async fn set_limit(
    state: Data<State>,
    author: OperatorAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let limit = read_body(&body.0, &["creditsAbovePaise"], |fields| {
        if body.0.get("creditsAbovePaise").is_none() {
            return fields.missing("creditsAbovePaise");
        }
        Some(fields.optional_integer("creditsAbovePaise", 0, Paise::REQUEST_MAX.get()))
    })?;
    let set = approval_limit::set(&state, &author.0, limit.map(Paise::new)).await;
    match set.map_err(errors::approval_limit)? {
        None => Ok(HttpResponse::NoContent().finish()),
        Some(approval) => requested(&state, &author.0, approval).await,
    }
}

#[utoipa::path(
    get,
    path = "/v1/operator/approvals/{id}",
    operation_id = "readApproval",
    tag = "Operator",
    summary = "Read a request for approval",
    params(("id" = ApprovalId, Path, description = "The request.")),
    responses((status = 200, description = "The request.", body = ApprovalView)),
)]
pub(crate) async fn read(
    state: Data<State>,
    author: OperatorAuthor,
    role: ReqData<OperatorRole>,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let found = approvals::find(&state, approval_id(&id)?).await?;
    let (approval, user_email) = found.ok_or_else(errors::approval_not_found)?;
    let permission = approval.kind().permission();
    if !author.0.may(*role, permission) {
        return Err(errors::permission_missing(permission, *role));
    }
    let mut view = view(&state, (&author.0, *role), approval).await?;
    view.user_email = user_email;
    Ok(HttpResponse::Ok().json(view))
}

#[utoipa::path(
    post,
    path = "/v1/operator/approvals/{id}/approve",
    operation_id = "approveRequest",
    tag = "Operator",
    summary = "Approve and execute the request of another person",
    description = "A wallet that does not answer is 503: repeat the call. A repeated call never executes twice. For a reset link, the requester fetches the link afterwards.",
    params(("id" = ApprovalId, Path, description = "The request.")),
    request_body = bodies::ApproveRequest,
    responses((status = 200, description = "The request after the approval.", body = ApprovalView)),
)]
pub(crate) async fn approve(
    state: Data<State>,
    author: OperatorAuthor,
    role: ReqData<OperatorRole>,
    id: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (id, reason) = (approval_id(&id)?, parse_reason(&body.0, false)?);
    let (shared, caller) = (state.clone(), author.0.clone());
    // Continues when the client disconnects, so that no credit is left without its outcome.
    let work = async move { decide_approval::approve(&shared, &caller, id, reason).await };
    let approved = state.tasks.run(work).await?.map_err(errors::decide)?;
    if let Some(business) = approved.business {
        publish_portal_change(&state, business);
    }
    Ok(HttpResponse::Ok().json(view(&state, (&author.0, *role), approved).await?))
}

#[utoipa::path(
    post,
    path = "/v1/operator/approvals/{id}/reject",
    operation_id = "rejectRequest",
    tag = "Operator",
    summary = "Reject the request of another person",
    params(("id" = ApprovalId, Path, description = "The request.")),
    request_body = bodies::RejectRequest,
    responses((status = 200, description = "The rejected request.", body = ApprovalView)),
)]
pub(crate) async fn reject(
    state: Data<State>,
    author: OperatorAuthor,
    role: ReqData<OperatorRole>,
    id: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (id, reason) = (approval_id(&id)?, parse_reason(&body.0, true)?);
    let reason = reason.unwrap_or_default();
    let rejected = decide_approval::reject(&state, &author.0, id, reason).await.map_err(errors::decide)?;
    Ok(HttpResponse::Ok().json(view(&state, (&author.0, *role), rejected).await?))
}

#[utoipa::path(
    post,
    path = "/v1/operator/approvals/{id}/withdraw",
    operation_id = "withdrawRequest",
    tag = "Operator",
    summary = "Withdraw your own request",
    params(("id" = ApprovalId, Path, description = "The request.")),
    responses((status = 200, description = "The withdrawn request.", body = ApprovalView)),
)]
pub(crate) async fn withdraw(
    state: Data<State>,
    author: OperatorAuthor,
    role: ReqData<OperatorRole>,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let withdrawn = decide_approval::withdraw(&state, &author.0, approval_id(&id)?).await;
    let withdrawn = withdrawn.map_err(errors::decide)?;
    Ok(HttpResponse::Ok().json(view(&state, (&author.0, *role), withdrawn).await?))
}

#[utoipa::path(
    post,
    path = "/v1/operator/approvals/{id}/reset-link",
    operation_id = "fetchResetLink",
    tag = "Operator",
    summary = "Fetch the approved reset link of your own request, once",
    params(("id" = ApprovalId, Path, description = "The request.")),
    responses((status = 201, description = "The link, which is shown only once.", body = ResetLinkView)),
)]
pub(crate) async fn reset_link(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let fetched = fetch_reset_link::fetch_reset_link(&state, &author.0, approval_id(&id)?).await;
    let (token, expires_at) = fetched.map_err(errors::decide)?;
    Ok(HttpResponse::Created().json(ResetLinkView::new(&state, &token, expires_at)))
}

fn read_filter(fields: &mut QueryFields) -> (PageQuery, Option<ApprovalState>, Option<BusinessId>) {
    let state = fields.parsed("state", ApprovalState::WORDS);
    let business = fields.parsed("businessId", "a business's id");
    (fields.page(), state, business)
}

fn parse_reason(body: &Value, is_required: bool) -> Result<Option<String>, ApiError> {
    read_body(body, &["reason"], |fields| match is_required {
        true => fields.required_text("reason", REASON).map(Some),
        false => Some(fields.optional_text("reason", REASON)),
    })
}

fn approval_id(text: &str) -> Result<ApprovalId, ApiError> {
    text.parse().map_err(|_| errors::approval_not_found())
}
