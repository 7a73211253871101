//! `/v1/operator/tokens`: administrators manage the operator's tokens.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::OperatorTokenId;
use internal_api::Page;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, page_query, read_body};

use crate::console;
use crate::console::commands::operator_token;
use crate::console::domain::{OperatorSecret, OperatorToken, TokenGrace};
use crate::console::routes::staff::NAME;
use crate::domain::{OperatorActor, OperatorRole};
use crate::http::audited::OperatorAuthor;
use crate::http::errors;
use crate::http::openapi::{bodies, params};
use crate::http::pagination::PageRequest;
use crate::state::State;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct OperatorTokenView {
    id: OperatorTokenId,
    name: String,
    role: OperatorRole,
    created_at: DateTime<Utc>,
    last_used_at: Option<DateTime<Utc>>,
    /// Until when the secret before the latest rotation works.
    previous_until: Option<DateTime<Utc>>,
    disabled_at: Option<DateTime<Utc>>,
}

/// A token with its secret.
#[derive(Serialize, utoipa::ToSchema)]
struct OperatorTokenSecretView {
    #[serde(flatten)]
    view: OperatorTokenView,
    /// The secret, which is shown only once.
    token: String,
}

/// A page of named tokens, and the installation token.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct OperatorTokensView {
    data: Vec<OperatorTokenView>,
    has_more: bool,
    configuration: ConfiguredTokenView,
}

/// The token of the setting `WAYBILL_OPERATOR__TOKEN`. It changes with the setting only.
#[derive(Serialize, utoipa::ToSchema)]
struct ConfiguredTokenView {
    name: String,
    role: OperatorRole,
}

impl From<OperatorToken> for OperatorTokenView {
    fn from(token: OperatorToken) -> Self {
        Self {
            id: token.id,
            name: token.name,
            role: token.role,
            created_at: token.created_at,
            last_used_at: token.last_used_at,
            previous_until: token.previous_until,
            disabled_at: token.disabled_at,
        }
    }
}

#[utoipa::path(
    get,
    path = "/v1/operator/tokens",
    operation_id = "listOperatorTokens",
    tag = "Operator",
    summary = "List the operator's tokens, newest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of tokens, without their secrets.", body = OperatorTokensView)),
)]
pub(crate) async fn list(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::new(page_query(&request)?, "token")?;
    let rows = console::queries::operator_tokens::list(&state, page.limit, page.after).await?;
    let Page { data, has_more } = page.page(rows)?.map(OperatorTokenView::from);
    let name = OperatorActor::Configuration.name().to_owned();
    let configuration = ConfiguredTokenView { name, role: OperatorRole::Administrator };
    Ok(HttpResponse::Ok().json(OperatorTokensView { data, has_more, configuration }))
}

#[utoipa::path(
    post,
    path = "/v1/operator/tokens",
    operation_id = "createOperatorToken",
    tag = "Operator",
    summary = "Create a token",
    request_body = bodies::CreateOperatorToken,
    responses((status = 201, description = "The token with its secret, which is shown only once.", body = OperatorTokenSecretView)),
)]
pub(crate) async fn create(
    state: Data<State>,
    author: OperatorAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (name, role) = parse_new(&body.0)?;
    let created = operator_token::create(&state, &author.0, name, role).await.map_err(errors::token)?;
    Ok(HttpResponse::Created().json(secret_view(created)))
}

#[utoipa::path(
    post,
    path = "/v1/operator/tokens/{id}/rotate",
    operation_id = "rotateOperatorToken",
    tag = "Operator",
    summary = "Replace the secret of a token. The old secret keeps working for a grace period",
    params(("id" = OperatorTokenId, Path, description = "The token.")),
    request_body = bodies::RotateOperatorToken,
    responses((status = 200, description = "The token with its new secret, which is shown only once.", body = OperatorTokenSecretView)),
)]
pub(crate) async fn rotate(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (id, grace) = (token_id(&id)?, parse_grace(&body.0)?);
    let rotated = operator_token::rotate(&state, &author.0, id, grace).await.map_err(errors::token)?;
    Ok(HttpResponse::Ok().json(secret_view(rotated)))
}

#[utoipa::path(
    post,
    path = "/v1/operator/tokens/{id}/disable",
    operation_id = "disableOperatorToken",
    tag = "Operator",
    summary = "Disable a token at once and forever",
    params(("id" = OperatorTokenId, Path, description = "The token.")),
    responses((status = 204, description = "The token is disabled.")),
)]
pub(crate) async fn disable(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    operator_token::disable(&state, &author.0, token_id(&id)?).await.map_err(errors::token)?;
    Ok(HttpResponse::NoContent().finish())
}

fn secret_view((token, secret): (OperatorToken, OperatorSecret)) -> OperatorTokenSecretView {
    OperatorTokenSecretView { view: token.into(), token: secret.expose().to_owned() }
}

fn parse_new(body: &Value) -> Result<(String, OperatorRole), ApiError> {
    read_body(body, &["name", "role"], |fields| {
        let name = fields.required_text("name", NAME);
        let role = fields.required_word::<OperatorRole>("role", OperatorRole::WORDS);
        let name = name?;
        if is_reserved(&name) {
            fields.reject(
                "name",
                "invalid_value",
                "name is the name of another kind of access, or contains @. Choose another one.",
            );
        }
        Some((name, role?))
    })
}

/// The log must not show a named token as the token of the settings, or as a person.
fn is_reserved(name: &str) -> bool {
    let others = [OperatorActor::Configuration, OperatorActor::Command, OperatorActor::Unknown];
    name.contains('@') || others.iter().any(|other| other.name() == name.to_lowercase())
}

fn parse_grace(body: &Value) -> Result<TokenGrace, ApiError> {
    read_body(body, &["graceSeconds"], |fields| {
        let seconds = fields.required_integer("graceSeconds", 0, TokenGrace::SECONDS_MAX)?;
        let grace = TokenGrace::from_seconds(seconds);
        if grace.is_none() {
            let message = format!("graceSeconds must be {}.", TokenGrace::WORDS);
            fields.reject("graceSeconds", "invalid_value", message);
        }
        grace
    })
}

fn token_id(text: &str) -> Result<OperatorTokenId, ApiError> {
    text.parse().map_err(|_| errors::token_not_found())
}
