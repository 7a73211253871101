//! `/v1/portal/users`: the users of a business, for its owners. The operator has the list too.

use std::str::FromStr;

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, UserId};
use internal_api::Page;
use internal_api::keys::ApiKeyView;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, page_query, read_body};

use crate::account::routes::sessions::RevokedView;
use crate::business::routes::businesses::business_id;
use crate::domain::{Role, Session, User};
use crate::http::audited::UserAuthor;
use crate::http::errors;
use crate::http::openapi::{bodies, params, sso_bodies};
use crate::http::operator_records::Sent;
use crate::http::pagination::PageRequest;
use crate::single_sign_on::commands::link_identity::link_identity;
use crate::state::State;
use crate::team;
use crate::team::commands::change_user::{self, change_role, remove_user};
use crate::team::queries::keys_of_user::working_keys_of_user;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct UserView {
    id: UserId,
    email: String,
    email_verified: bool,
    name: Option<String>,
    role: Role,
    created_at: DateTime<Utc>,
    last_seen_at: Option<DateTime<Utc>>,
    /// Whether two-factor authentication is on.
    second_factor: bool,
    /// False if the user logs in with single sign-on only.
    has_password: bool,
    /// Whether it is the user of this session.
    you: bool,
}

#[derive(Serialize, utoipa::ToSchema)]
struct RemovedUser {
    id: UserId,
    /// The working keys that the user created and may have copied. They keep working: rotate them. Null if they could not be
    /// listed: read `GET /v1/portal/api-keys?createdBy=`.
    keys: Option<Vec<ApiKeyView>>,
}

impl UserView {
    fn of(user: User, current: Option<UserId>) -> Self {
        Self {
            id: user.id,
            email: user.email,
            email_verified: user.email_verified,
            name: user.name,
            role: user.role,
            created_at: user.created_at,
            last_seen_at: user.last_seen_at,
            second_factor: user.has_second_factor,
            has_password: user.has_password,
            you: Some(user.id) == current,
        }
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/users",
    operation_id = "listUsers",
    tag = "Team",
    summary = "List the users of the business, oldest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of users.", body = Page<UserView>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = page_of(&state, session.business, &request).await?;
    Ok(HttpResponse::Ok().json(page.map(|user| UserView::of(user, Some(session.user)))))
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/users",
    operation_id = "listUsersOfBusiness",
    tag = "Operator",
    summary = "List the users of a business, oldest first",
    params(("id" = BusinessId, Path, description = "The business."), params::PageParams),
    responses((status = 200, description = "A page of users.", body = Page<UserView>)),
)]
pub(crate) async fn list_for_operator(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let page = page_of(&state, business, &request).await?;
    Sent::new("users", page.data.iter().map(|user| user.id)).record(&request);
    Ok(HttpResponse::Ok().json(page.map(|user| UserView::of(user, None))))
}

async fn page_of(state: &State, business: BusinessId, request: &HttpRequest) -> Result<Page<User>, ApiError> {
    let page = PageRequest::new(page_query(request)?, "user")?;
    page.page(team::queries::users::list(state, business, page.limit, page.after).await?)
}

#[utoipa::path(
    patch,
    path = "/v1/portal/users/{id}",
    operation_id = "changeRole",
    tag = "Team",
    summary = "Change the role of a user",
    params(("id" = UserId, Path, description = "The user.")),
    request_body = bodies::ChangeRole,
    responses((status = 200, description = "The changed user.", body = UserView)),
)]
pub(crate) async fn change(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    user: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let user = user_id(&user)?;
    let role = only_word(&body.0, "role", Role::WORDS)?;
    let changed = change_role(&state, session.business, &author.0, user, role).await;
    let changed = changed.map_err(errors::change_user)?;
    Ok(HttpResponse::Ok().json(UserView::of(changed, Some(session.user))))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/users/{id}",
    operation_id = "removeUser",
    tag = "Team",
    summary = "Remove a user and end their sessions",
    params(("id" = UserId, Path, description = "The user.")),
    responses((status = 200, description = "The user is removed. The response names the keys to rotate.", body = RemovedUser)),
)]
pub(crate) async fn remove(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    user: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let user = user_id(&user)?;
    remove_user(&state, session.business, &author.0, user).await.map_err(errors::change_user)?;
    // The user is out, whether key-management answers or not.
    let keys = working_keys_of_user(&state, session.business, user).await;
    let keys = keys.inspect_err(|error| {
        tracing::warn!(%error, user_id = %user, "user removed, but their keys could not be listed");
    });
    Ok(HttpResponse::Ok().json(RemovedUser { id: user, keys: keys.ok() }))
}

#[utoipa::path(
    post,
    path = "/v1/portal/users/{id}/link",
    operation_id = "linkUser",
    tag = "Team",
    summary = "Make a user whom single sign-on has created the same as another user, and remove the created one",
    params(("id" = UserId, Path, description = "The user whom single sign-on has created.")),
    request_body = sso_bodies::LinkUser,
    responses((status = 200, description = "The other user, who now logs in with single sign-on too.", body = UserView)),
)]
pub(crate) async fn link(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    user: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let created = user_id(&user)?;
    let other = only_word(&body.0, "userId", "the id of a user")?;
    let linked = link_identity(&state, session.business, &author.0, (created, other)).await;
    let linked = linked.map_err(errors::link_identity)?;
    Ok(HttpResponse::Ok().json(UserView::of(linked, Some(session.user))))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/users/{id}/sessions",
    operation_id = "endSessionsOfUser",
    tag = "Team",
    summary = "End all sessions of a user",
    params(("id" = UserId, Path, description = "The user.")),
    responses((status = 200, description = "How many sessions have ended.", body = RevokedView)),
)]
pub(crate) async fn end_sessions(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    user: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let ended = change_user::end_sessions(&state, session.business, &author.0, user_id(&user)?).await;
    let revoked = ended.map_err(errors::change_user)?;
    Ok(HttpResponse::Ok().json(RevokedView { revoked }))
}

/// The only field of a body.
fn only_word<T: FromStr>(body: &Value, name: &str, allowed: &str) -> Result<T, ApiError> {
    read_body(body, &[name], |fields| fields.required_word(name, allowed))
}

fn user_id(text: &str) -> Result<UserId, ApiError> {
    text.parse().map_err(|_| errors::user_not_found())
}
