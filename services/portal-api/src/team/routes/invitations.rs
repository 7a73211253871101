//! Invitations: `/v1/portal/invitations` for owners, `…/look-up` and `…/accept` for recipients of a link.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{Email, InvitationId};
use identity::passwords::Password;
use identity::{LinkToken, Realm};
use internal_api::Page;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, TextRule, page_query, read_body};

use crate::account::routes::account_fields::{new_password, reachable_email};
use crate::account::routes::opened::opened;
use crate::account::routes::session_views::SessionView;
use crate::business::domain::BusinessStatus;
use crate::domain::{Invitation, Role, Session};
use crate::http::audited::{UserAuthor, browser, request_id};
use crate::http::errors;
use crate::http::openapi::{bodies, params};
use crate::http::pagination::PageRequest;
use crate::state::State;
use crate::team;
use crate::team::commands::accept_invitation::{AcceptInvitation, accept_invitation};
use crate::team::commands::invite;

/// Longer than any token.
pub(crate) const TOKEN: TextRule = TextRule::code(200);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct InvitationView {
    id: InvitationId,
    email: String,
    role: Role,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    /// The e-mail address of the inviter.
    invited_by: String,
    /// The link. Present only in the response that creates the invitation, and only if no mails are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl InvitationView {
    fn of(invitation: Invitation, url: Option<String>) -> Self {
        Self {
            id: invitation.id,
            email: invitation.email.as_str().to_owned(),
            role: invitation.role,
            created_at: invitation.created_at,
            expires_at: invitation.expires_at,
            invited_by: invitation.invited_by_email,
            url,
        }
    }
}

/// The invitation as its recipient sees it before accepting.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundView<'a> {
    business_name: &'a str,
    email: &'a str,
    role: Role,
    expires_at: DateTime<Utc>,
    /// Whether the address has an account, which joins with `POST /v1/portal/memberships`. Otherwise accepting creates one.
    has_account: bool,
}

#[utoipa::path(
    get,
    path = "/v1/portal/invitations",
    operation_id = "listInvitations",
    tag = "Team",
    summary = "List open invitations, newest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of invitations.", body = Page<InvitationView>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::new(page_query(&request)?, "invitation")?;
    let rows = team::queries::invitations::list(&state, session.business, page.limit, page.after).await?;
    let view = |invitation| InvitationView::of(invitation, None);
    Ok(HttpResponse::Ok().json(page.page(rows)?.map(view)))
}

/// The only response that contains the link: for inviters who must pass it on themselves.
#[utoipa::path(
    post,
    path = "/v1/portal/invitations",
    operation_id = "invite",
    tag = "Team",
    summary = "Invite somebody with a link. Replaces an older invitation to the same address",
    description = "403 `business_not_active` while the business is not active.",
    request_body = bodies::Invite,
    responses((status = 201, description = "The invitation. Without mails, with its link, which is shown only once.", body = InvitationView)),
)]
pub(crate) async fn create(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (email, role) = parse_invitation(&body.0)?;
    let invited = invite::invite(&state, &session, &author.0, email, role).await;
    let (invitation, token) = invited.map_err(errors::invite)?;
    let url = token.map(|token| state.links.invitation(&token));
    Ok(HttpResponse::Created().json(InvitationView::of(invitation, url)))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/invitations/{id}",
    operation_id = "withdrawInvitation",
    tag = "Team",
    summary = "Withdraw an invitation",
    params(("id" = InvitationId, Path, description = "The invitation.")),
    responses((status = 204, description = "The link no longer works.")),
)]
pub(crate) async fn withdraw(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    invitation: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let not_found = || ApiError::not_found("invitation_not_found", "invitation");
    let invitation = invitation.parse().map_err(|_| not_found())?;
    let withdrawn = invite::withdraw(&state, session.business, &author.0, invitation).await;
    if withdrawn? { Ok(HttpResponse::NoContent().finish()) } else { Err(not_found()) }
}

#[utoipa::path(
    post,
    path = "/v1/portal/invitations/look-up",
    operation_id = "lookUpInvitation",
    tag = "Account",
    summary = "Look up the invitation of a link",
    description = "403 `business_not_active` while the business is not active: neither before the operator approves it nor while it is suspended.",
    request_body = bodies::LinkToken,
    responses((status = 200, description = "The invitation.", body = FoundView)),
)]
pub(crate) async fn look_up(state: Data<State>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let token = parse_token(&body.0)?.ok_or_else(errors::invitation_invalid)?;
    let found = team::queries::invitations::find(&state, &token).await?;
    let found = found.ok_or_else(errors::invitation_invalid)?;
    if found.business_status != BusinessStatus::Active {
        return Err(errors::invitation_of_inactive());
    }
    Ok(HttpResponse::Ok().json(FoundView {
        business_name: &found.business_name,
        email: found.invitation.email.as_str(),
        role: found.invitation.role,
        expires_at: found.invitation.expires_at,
        has_account: found.has_account,
    }))
}

#[utoipa::path(
    post,
    path = "/v1/portal/invitations/accept",
    operation_id = "acceptInvitation",
    tag = "Account",
    summary = "Accept an invitation without an account: creates the account and a session",
    description = "403 `business_not_active` while the business is not active: neither before the operator approves it nor while it is suspended. 409 `email_taken` if the address has an account: join with it.",
    request_body = bodies::TokenAndPassword,
    responses((status = 201, description = "The session. A cookie carries it.", body = SessionView)),
)]
pub(crate) async fn accept(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (token, password) = parse_token_and_password(&body.0)?;
    let token = token.ok_or_else(errors::invitation_invalid)?;
    let (browser, request) = (browser(&state, &request, Realm::User), request_id(&request));
    let accepted = AcceptInvitation { token, password, browser, request };
    let session = accept_invitation(&state, accepted).await.map_err(errors::accept_invitation)?;
    opened(&state, Realm::User, &mut HttpResponse::Created(), &session).await
}

fn parse_invitation(body: &Value) -> Result<(Email, Role), ApiError> {
    read_body(body, &["email", "role"], |fields| {
        let (email, role) = (reachable_email(fields), fields.required_word::<Role>("role", Role::WORDS));
        Some((email?, role?))
    })
}

/// `None` for a malformed token.
pub(crate) fn parse_token(body: &Value) -> Result<Option<LinkToken>, ApiError> {
    let token = read_body(body, &["token"], |fields| fields.required_text("token", TOKEN))?;
    Ok(LinkToken::parse(&token))
}

/// The body of calls that set a password with a link.
pub(crate) fn parse_token_and_password(body: &Value) -> Result<(Option<LinkToken>, Password), ApiError> {
    read_body(body, &["token", "password"], |fields| {
        let token = fields.required_text("token", TOKEN);
        let password = new_password(fields, "password", None);
        Some((LinkToken::parse(&token?), password?))
    })
}
