//! `…/refusal` of a business: the operator says why it refuses the approval or live access, and an owner asks again.

use actix_web::web::{Data, Path, Payload, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::BusinessId;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, TextRule, read_body, read_optional_json};

use crate::business::commands::refuse_business::{ask_again, refuse_business};
use crate::business::domain::Refusal;
use crate::business::queries::{businesses, refusal};
use crate::business::routes::businesses::business_id;
use crate::domain::Session;
use crate::http::audited::{OperatorAuthor, UserAuthor};
use crate::http::errors;
use crate::http::openapi::contact_bodies;
use crate::state::State;

const REASON: TextRule = TextRule::lines(500);
const NOTE: TextRule = TextRule::lines(500);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefusalView {
    reason: String,
    refused_at: DateTime<Utc>,
    /// Then the business waits for the operator again.
    asked_again_at: Option<DateTime<Utc>>,
    /// What the business wrote when it asked again.
    note: Option<String>,
}

/// Null if nothing was refused, or the business has it now.
#[derive(Serialize, utoipa::ToSchema)]
struct LastRefusal {
    refusal: Option<RefusalView>,
}

impl From<Refusal> for RefusalView {
    fn from(refusal: Refusal) -> Self {
        let Refusal { reason, refused_at, asked_again_at, note } = refusal;
        Self { reason, refused_at, asked_again_at, note }
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/business/refusal",
    operation_id = "readRefusal",
    tag = "Account",
    summary = "Read why the operator refused the approval of the business, or live access",
    responses((status = 200, description = "The last refusal, or none.", body = LastRefusal)),
)]
pub(crate) async fn read(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let business = businesses::find(&state, session.business).await?;
    let business = business.ok_or_else(errors::business_not_found)?;
    let refusal = refusal::find(&state, &business).await?.map(RefusalView::from);
    Ok(HttpResponse::Ok().json(LastRefusal { refusal }))
}

#[utoipa::path(
    post,
    path = "/v1/portal/business/refusal/ask-again",
    operation_id = "askAgain",
    tag = "Account",
    summary = "Ask the operator again for what it refused",
    description = "The operator reads the note, which may follow in a later call. A repeated call changes nothing. Without a refusal: 409 `nothing_refused`. A business that has what it waited for: 409 `business_not_waiting`.",
    request_body = Option<contact_bodies::AskAgain>,
    responses((status = 204, description = "The business waits for the operator again.")),
)]
pub(crate) async fn ask(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let note = match read_optional_json(&request, payload).await? {
        Value::Null => None,
        body => read_body(&body, &["note"], |fields| Some(fields.optional_text("note", NOTE)))?,
    };
    ask_again(&state, session.business, &author.0, note.as_deref()).await.map_err(errors::refusal)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/refusal",
    operation_id = "refuseBusiness",
    tag = "Operator",
    summary = "Refuse the approval of a business, or live access, with a reason that its owners read",
    description = "Replaces an earlier refusal. An approval ends it. A business that waits for neither: 409 `business_not_waiting`.",
    params(("id" = BusinessId, Path, description = "The business.")),
    request_body = contact_bodies::RefuseBusiness,
    responses((status = 204, description = "Refused.")),
)]
pub(crate) async fn refuse(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let reason = read_body(&body.0, &["reason"], |fields| fields.required_text("reason", REASON))?;
    refuse_business(&state, business, &author.0, &reason).await.map_err(errors::refusal)?;
    Ok(HttpResponse::NoContent().finish())
}
