//! `/v1/portal/users`: the people of a business; for its owners, and the list for the operator.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, UserId};
use internal_api::Page;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, page_query};

use super::author::ByUser;
use super::errors;
use super::lists::Wanted;
use super::openapi::{bodies, params};
use super::operator::business_id;
use crate::app::App;
use crate::commands::change_user::{change_role, remove_user};
use crate::domain::{Role, Session};
use crate::store::users::{self, User};

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct UserView {
    id: UserId,
    email: String,
    role: Role,
    created_at: DateTime<Utc>,
    last_seen_at: Option<DateTime<Utc>>,
    /// Whether it is the one who asks.
    you: bool,
}

impl UserView {
    fn of(user: User, asking: Option<UserId>) -> Self {
        Self {
            id: user.id,
            email: user.email,
            role: user.role,
            created_at: user.created_at,
            last_seen_at: user.last_seen_at,
            you: Some(user.id) == asking,
        }
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/users",
    operation_id = "listUsers",
    tag = "Team",
    summary = "The people of the business",
    params(params::PageParams),
    responses((status = 200, description = "A page of people, those who came first before the others.", body = Page<UserView>)),
)]
pub(super) async fn list(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    page_of(&app, session.business, Some(session.user), &request).await
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/users",
    operation_id = "listUsersOfBusiness",
    tag = "Operator",
    summary = "The people of a business",
    params(("id" = BusinessId, Path, description = "The business."), params::PageParams),
    responses((status = 200, description = "A page of people.", body = Page<UserView>)),
)]
pub(super) async fn list_for_operator(
    app: Data<App>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&app, &business).await?;
    page_of(&app, business, None, &request).await
}

async fn page_of(
    app: &App,
    business: BusinessId,
    asking: Option<UserId>,
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let wanted = Wanted::of(page_query(request)?, "user")?;
    let (limit, after) = (wanted.limit, wanted.after);
    let read = app.database.read(async |conn| users::list(conn, business, limit, after).await).await;
    Ok(HttpResponse::Ok().json(wanted.page(read)?.map(|user| UserView::of(user, asking))))
}

#[utoipa::path(
    patch,
    path = "/v1/portal/users/{id}",
    operation_id = "changeRole",
    tag = "Team",
    summary = "Give somebody another role",
    params(("id" = UserId, Path, description = "The user.")),
    request_body = bodies::ChangeRole,
    responses((status = 200, description = "The user as they are then.", body = UserView)),
)]
pub(super) async fn change(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    user: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let user = user_id(&user)?;
    let role = parse(&body.0)?;
    let changed = change_role(&app, session.business, &author.0, user, role).await;
    let changed = changed.map_err(errors::change_user)?;
    Ok(HttpResponse::Ok().json(UserView::of(changed, Some(session.user))))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/users/{id}",
    operation_id = "removeUser",
    tag = "Team",
    summary = "Remove somebody; their sessions end",
    params(("id" = UserId, Path, description = "The user.")),
    responses((status = 204, description = "They are out.")),
)]
pub(super) async fn remove(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    user: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let user = user_id(&user)?;
    remove_user(&app, session.business, &author.0, user).await.map_err(errors::change_user)?;
    Ok(HttpResponse::NoContent().finish())
}

fn parse(body: &Value) -> Result<Role, ApiError> {
    let field_errors = FieldErrors::default();
    let role = Fields::of_body(body, &field_errors).and_then(|fields| {
        for name in fields.unknown(&["role"]) {
            field_errors.add(&name, "unknown_field", format!("{name} cannot be changed here."));
        }
        fields.required_word::<Role>("role", Role::WORDS)
    });
    match role {
        Some(role) if field_errors.is_empty() => Ok(role),
        _ => Err(ApiError::invalid(field_errors)),
    }
}

fn user_id(text: &str) -> Result<UserId, ApiError> {
    text.parse().map_err(|_| errors::user_not_found())
}
