//! `/v1/operator/staff`: administrators manage the operator's staff.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::StaffId;
use internal_api::Page;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, TextRule, page_query, read_body};

use crate::account::routes::account_fields::reachable_email;
use crate::account::routes::sessions::RevokedView;
use crate::console;
use crate::console::commands::staff::{self, IssuedLink};
use crate::console::domain::{NewStaff, Staff};
use crate::domain::OperatorRole;
use crate::http::audited::OperatorAuthor;
use crate::http::errors;
use crate::http::openapi::{bodies, params};
use crate::http::pagination::PageRequest;
use crate::single_sign_on::commands::unlink_identity;
use crate::state::State;

/// The name of a person or a token.
pub(crate) const NAME: TextRule = TextRule::line(120);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct StaffView {
    id: StaffId,
    name: String,
    email: String,
    role: OperatorRole,
    /// `invited` until the person has a way to log in, then `active`; `inactive` if none works any more.
    status: &'static str,
    created_at: DateTime<Utc>,
    last_seen_at: Option<DateTime<Utc>>,
    /// Whether two-factor authentication is on.
    second_factor: bool,
    /// Whether the account is linked with single sign-on.
    single_sign_on: bool,
    /// Whether it is the person who sends this call.
    you: bool,
}

/// A person with a link that sets their password. It is shown only once.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct StaffLinkView {
    #[serde(flatten)]
    staff: StaffView,
    /// Can be used once.
    url: String,
    expires_at: DateTime<Utc>,
}

impl StaffView {
    fn of(state: &State, staff: Staff, current: Option<StaffId>) -> Self {
        let status = match staff.can_log_in(state.staff_log_in_ways()) {
            true => "active",
            false if staff.has_joined() => "inactive",
            false => "invited",
        };
        Self {
            you: Some(staff.id) == current,
            id: staff.id,
            name: staff.name,
            email: staff.email,
            role: staff.role,
            status,
            created_at: staff.created_at,
            last_seen_at: staff.last_seen_at,
            second_factor: staff.has_second_factor,
            single_sign_on: !staff.identities.is_empty(),
        }
    }
}

#[utoipa::path(
    get,
    path = "/v1/operator/staff",
    operation_id = "listStaff",
    tag = "Operator",
    summary = "List the operator's staff, oldest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of persons.", body = Page<StaffView>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    author: OperatorAuthor,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::new(page_query(&request)?, "person")?;
    let rows = console::queries::staff::list(&state, page.limit, page.after).await?;
    let current = author.0.staff();
    Ok(HttpResponse::Ok().json(page.page(rows)?.map(|person| StaffView::of(&state, person, current))))
}

#[utoipa::path(
    post,
    path = "/v1/operator/staff",
    operation_id = "inviteStaff",
    tag = "Operator",
    summary = "Invite a person to the staff with a link that sets their password",
    request_body = bodies::InviteStaff,
    responses((status = 201, description = "The person with the link, which is shown only once.", body = StaffLinkView)),
)]
pub(crate) async fn invite(
    state: Data<State>,
    author: OperatorAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let new = parse_new(&body.0)?;
    let parts = (&state.unit.clock, &state.unit.entropy);
    let issued = staff::invite(&state.unit.database, parts, &author.0, new).await.map_err(errors::staff)?;
    Ok(HttpResponse::Created().json(link_view(&state, issued, author.0.staff())))
}

#[utoipa::path(
    patch,
    path = "/v1/operator/staff/{id}",
    operation_id = "changeStaffRole",
    tag = "Operator",
    summary = "Change the role of a person",
    params(("id" = StaffId, Path, description = "The person.")),
    request_body = bodies::ChangeStaffRole,
    responses((status = 200, description = "The changed person.", body = StaffView)),
)]
pub(crate) async fn change(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (id, role) = (staff_id(&id)?, parse_role(&body.0)?);
    let changed = staff::change_role(&state, &author.0, id, role).await.map_err(errors::staff)?;
    Ok(HttpResponse::Ok().json(StaffView::of(&state, changed, author.0.staff())))
}

#[utoipa::path(
    delete,
    path = "/v1/operator/staff/{id}",
    operation_id = "removeStaff",
    tag = "Operator",
    summary = "Remove a person. Their sessions end at once",
    params(("id" = StaffId, Path, description = "The person.")),
    responses((status = 204, description = "The person is removed.")),
)]
pub(crate) async fn remove(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    staff::remove(&state, &author.0, staff_id(&id)?).await.map_err(errors::staff)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    post,
    path = "/v1/operator/staff/{id}/password-link",
    operation_id = "issueStaffLink",
    tag = "Operator",
    summary = "Create a link that sets a person's password. Replaces the older link",
    params(("id" = StaffId, Path, description = "The person.")),
    responses((status = 201, description = "The link, which is shown only once.", body = StaffLinkView)),
)]
pub(crate) async fn issue_link(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let issued = staff::issue_link(&state, &author.0, staff_id(&id)?).await.map_err(errors::staff)?;
    Ok(HttpResponse::Created().json(link_view(&state, issued, author.0.staff())))
}

#[utoipa::path(
    delete,
    path = "/v1/operator/staff/{id}/identity",
    operation_id = "unlinkStaffIdentity",
    tag = "Operator",
    summary = "Unlink a person from single sign-on. The sessions that it opened end",
    params(("id" = StaffId, Path, description = "The person.")),
    responses((status = 204, description = "The account is not linked any more.")),
)]
pub(crate) async fn unlink(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    unlink_identity::unlink(&state, &author.0, staff_id(&id)?).await.map_err(errors::staff)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    delete,
    path = "/v1/operator/staff/{id}/sessions",
    operation_id = "endSessionsOfStaff",
    tag = "Operator",
    summary = "End all console sessions of a person",
    params(("id" = StaffId, Path, description = "The person.")),
    responses((status = 200, description = "How many sessions have ended.", body = RevokedView)),
)]
pub(crate) async fn end_sessions(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let ended = staff::end_sessions(&state, &author.0, staff_id(&id)?).await;
    let revoked = ended.map_err(errors::staff)?;
    Ok(HttpResponse::Ok().json(RevokedView { revoked }))
}

fn link_view(state: &State, issued: IssuedLink, current: Option<StaffId>) -> StaffLinkView {
    StaffLinkView {
        url: state.links.staff_password(&issued.token),
        staff: StaffView::of(state, issued.staff, current),
        expires_at: issued.expires_at,
    }
}

fn parse_new(body: &Value) -> Result<NewStaff, ApiError> {
    read_body(body, &["email", "name", "role"], |fields| {
        let (email, name) = (reachable_email(fields), fields.required_text("name", NAME));
        let role = fields.required_word::<OperatorRole>("role", OperatorRole::WORDS);
        Some(NewStaff { email: email?, name: name?, role: role? })
    })
}

fn parse_role(body: &Value) -> Result<OperatorRole, ApiError> {
    read_body(body, &["role"], |fields| fields.required_word::<OperatorRole>("role", OperatorRole::WORDS))
}

fn staff_id(text: &str) -> Result<StaffId, ApiError> {
    text.parse().map_err(|_| errors::staff_not_found())
}
