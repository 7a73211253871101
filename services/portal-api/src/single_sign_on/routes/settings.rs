//! `/v1/portal/single-sign-on`: an owner sets up the identity provider of the business.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use chrono::{DateTime, Utc};
use identity::single_sign_on::GroupRoles;
use outbound::{TargetRefused, parse_url};
use serde::Serialize;
use serde_json::Value;
use url::Url;
use web::{ApiError, Fields, JsonBody, TextRule, read_object};

use crate::account::commands::OwnAccount;
use crate::account::routes::second_factor::require_proved_email;
use crate::domain::{Role, Session};
use crate::http::audited::UserAuthor;
use crate::http::errors;
use crate::http::openapi::sso_bodies;
use crate::single_sign_on;
use crate::single_sign_on::commands::configure_sso::{self, SsoInput};
use crate::single_sign_on::domain::{BusinessSso, CompanyDomain, SsoAccess};
use crate::state::State;

/// In the table of groups.
const GROUPS_MAX: usize = 100;
const URL_TEXT: TextRule = TextRule::line(2_048);
const CLIENT_TEXT: TextRule = TextRule::line(256);
const SECRET_TEXT: TextRule = TextRule::line(1_024);
const SCOPES_TEXT: TextRule = TextRule::line(256);
const CLAIM_TEXT: TextRule = TextRule::line(100);
const GROUP_TEXT: TextRule = TextRule::line(256);
const DEFAULT_SCOPES: &str = "email profile";
const DEFAULT_CLAIM: &str = "groups";
const ROLES_BY_DEFAULT: &str = "developer, finance, support or viewer";
const DOMAINS_MAX: usize = 20;
const FIELDS: [&str; 9] = [
    "issuer",
    "clientId",
    "clientSecret",
    "scopes",
    "groupsClaim",
    "groupRoles",
    "defaultRole",
    "allowedDomains",
    "required",
];

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SingleSignOnSettingsView {
    /// Whether this installation offers single sign-on to businesses.
    available: bool,
    /// The page where people log in.
    log_in_url: String,
    /// To register at the provider: where it sends browsers back to.
    redirect_url: String,
    /// Null if nothing is set up.
    provider: Option<SsoProviderView>,
}

/// Without the client secret, which is never shown.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct SsoProviderView {
    issuer: String,
    client_id: String,
    scopes: String,
    groups_claim: String,
    /// Of several groups of a person, the first in this list counts.
    group_roles: Vec<GroupRoleView>,
    /// The role of people in none of these groups. Null: they cannot log in.
    default_role: Option<Role>,
    /// People get `defaultRole` with a verified e-mail address of one of these domains, or if their `hd` is one. If none is
    /// listed, they must be in a group.
    allowed_domains: Vec<String>,
    /// Everybody whom the provider knows would get `defaultRole`, so that nobody can join: list the allowed domains.
    open_to_anyone: bool,
    /// Whether only owners may log in with a password.
    required: bool,
    updated_at: DateTime<Utc>,
}

#[derive(Serialize, utoipa::ToSchema)]
struct GroupRoleView {
    group: String,
    role: Role,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct SsoTestView {
    /// Whether the metadata of the provider can be read and used.
    ok: bool,
    /// What is wrong.
    problem: Option<String>,
    /// Which of `auth_time` and `email_verified` the metadata does not list. The provider can be used without them.
    missing_claims: Vec<&'static str>,
}

fn view(state: &State, session: &Session, sso: Option<BusinessSso>) -> SingleSignOnSettingsView {
    let provider = sso.map(|sso| SsoProviderView {
        issuer: sso.provider.issuer,
        client_id: sso.provider.client_id,
        scopes: sso.provider.scopes,
        groups_claim: sso.provider.groups_claim,
        group_roles: sso
            .access
            .roles
            .iter()
            .map(|(group, role)| GroupRoleView { group: group.to_owned(), role })
            .collect(),
        default_role: sso.access.default_role,
        open_to_anyone: sso.access.is_open(),
        allowed_domains: sso.access.allowed_domains.into_iter().map(CompanyDomain::into_string).collect(),
        required: sso.access.required,
        updated_at: sso.updated_at,
    });
    SingleSignOnSettingsView {
        available: state.business_sso.is_available(),
        log_in_url: state.business_sso.log_in_url(session.business),
        redirect_url: state.business_sso.redirect_url(session.business),
        provider,
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/single-sign-on",
    operation_id = "readSingleSignOn",
    tag = "Team",
    summary = "Read how single sign-on of the business is set up",
    responses((status = 200, description = "What is set up, without the client secret.", body = SingleSignOnSettingsView)),
)]
pub(crate) async fn read(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let sso = single_sign_on::queries::business_sso::find(&state, session.business).await?;
    Ok(HttpResponse::Ok().json(view(&state, &session, sso)))
}

#[utoipa::path(
    put,
    path = "/v1/portal/single-sign-on",
    operation_id = "putSingleSignOn",
    tag = "Team",
    summary = "Set up single sign-on of the business with an OpenID Connect provider",
    request_body = sso_bodies::PutSingleSignOn,
    responses((status = 200, description = "What is set up. The provider is not called: test it.", body = SingleSignOnSettingsView)),
)]
pub(crate) async fn put(
    state: Data<State>,
    session: ReqData<Session>,
    own: OwnAccount,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    // Its sessions would outlive the reset that gives the owner of the address the account.
    require_proved_email(&own)?;
    let input = parse(&state, &body.0)?;
    let put = configure_sso::put(&state, session.business, own.author(), input).await;
    let sso = put.map_err(errors::configure_sso)?;
    Ok(HttpResponse::Ok().json(view(&state, &session, Some(sso))))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/single-sign-on",
    operation_id = "removeSingleSignOn",
    tag = "Team",
    summary = "Turn single sign-on of the business off, and end the sessions that the provider has opened",
    responses((status = 204, description = "Single sign-on is off.")),
)]
pub(crate) async fn remove(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
) -> Result<HttpResponse, ApiError> {
    configure_sso::remove(&state, session.business, &author.0).await.map_err(errors::configure_sso)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    post,
    path = "/v1/portal/single-sign-on/test",
    operation_id = "testSingleSignOn",
    tag = "Team",
    summary = "Read the metadata of the provider, and say what is wrong",
    responses((status = 200, description = "The result. It is kept for ten seconds.", body = SsoTestView)),
)]
pub(crate) async fn test(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let tested = configure_sso::test(&state, session.business).await.map_err(errors::configure_sso)?;
    Ok(HttpResponse::Ok().json(match tested {
        Ok(missing_claims) => SsoTestView { ok: true, problem: None, missing_claims },
        Err(error) => SsoTestView { ok: false, problem: Some(error.to_string()), missing_claims: Vec::new() },
    }))
}

fn parse(state: &State, body: &Value) -> Result<SsoInput, ApiError> {
    read_object(body, |fields| {
        // A misspelt field would open or close the business to people.
        for name in fields.unknown(&FIELDS) {
            fields.reject(&name, "unknown_field", format!("{name} is no field of this request."));
        }
        let issuer = issuer(state, fields);
        let client_id = fields.required_text("clientId", CLIENT_TEXT);
        let client_secret = fields.optional_text("clientSecret", SECRET_TEXT);
        let scopes = fields.optional_text("scopes", SCOPES_TEXT);
        let groups_claim = fields.optional_text("groupsClaim", CLAIM_TEXT);
        let access = access(fields);
        Some(SsoInput {
            issuer: issuer?,
            client_id: client_id?,
            client_secret,
            scopes: scopes.unwrap_or_else(|| DEFAULT_SCOPES.to_owned()),
            groups_claim: groups_claim.unwrap_or_else(|| DEFAULT_CLAIM.to_owned()),
            access: access?,
        })
    })
}

/// Exactly as the provider's metadata names it.
fn issuer(state: &State, fields: &Fields<'_>) -> Option<String> {
    let text = fields.required_text("issuer", URL_TEXT)?;
    let refuse = |code, message: String| {
        fields.reject("issuer", code, message);
        None
    };
    let url: Url = match parse_url(&text) {
        Ok(url) => url,
        Err(error) => return refuse("invalid_format", error.message("issuer")),
    };
    if url.query().is_some() {
        return refuse("invalid_value", "issuer must not contain a query (?…).".to_owned());
    }
    match state.business_sso.vet_url(&url) {
        Ok(()) => Some(text),
        Err(TargetRefused::PlainHttp) => {
            refuse("invalid_value", "issuer must begin with https://.".to_owned())
        }
        Err(TargetRefused::NotPublic { host }) => {
            refuse("invalid_value", format!("issuer must have a public address; {host} has none."))
        }
    }
}

fn access(fields: &Fields<'_>) -> Option<SsoAccess> {
    let roles = group_roles(fields);
    let default_role = fields.optional_word::<Role>("defaultRole", ROLES_BY_DEFAULT);
    if default_role == Some(Role::Owner) {
        // Otherwise everybody at the provider would own the business.
        let message = format!("defaultRole must be one of {ROLES_BY_DEFAULT}: map a group to owner instead.");
        fields.reject("defaultRole", "invalid_value", message);
    }
    let roles = roles?;
    if roles.is_empty() && default_role.is_none() && fields.value("defaultRole").is_none() {
        let message = "Nobody could log in: give a group a role, or set defaultRole.";
        fields.reject("groupRoles", "required", message);
    }
    let allowed_domains = match fields.value("allowedDomains") {
        Some(_) => fields.optional_words("allowedDomains", DOMAINS_MAX, CompanyDomain::WORDS)?,
        None => Vec::new(),
    };
    let access = SsoAccess {
        roles,
        default_role,
        allowed_domains,
        required: fields.optional_boolean("required").unwrap_or(false),
    };
    let lists_domains =
        fields.value("allowedDomains").and_then(Value::as_array).is_some_and(|given| !given.is_empty());
    if access.is_open() && !lists_domains {
        let message = "Everybody whom the provider knows could log in: list the domains of your company, or give a group a role.";
        fields.reject("allowedDomains", "required", message);
    }
    Some(access)
}

/// `None` if an error was reported.
fn group_roles(fields: &Fields<'_>) -> Option<GroupRoles<Role>> {
    if fields.value("groupRoles").is_none() {
        return Some(GroupRoles::default());
    }
    let pairs = fields.optional_objects("groupRoles", GROUPS_MAX)?;
    let read: Vec<Option<(String, Role)>> = pairs
        .iter()
        .map(|pair| {
            let group = pair.required_text("group", GROUP_TEXT);
            let role = pair.required_word::<Role>("role", Role::WORDS);
            Some((group?, role?))
        })
        .collect();
    let read: Vec<(String, Role)> = read.into_iter().collect::<Option<_>>()?;
    let mut seen = std::collections::BTreeSet::new();
    for (pair, (group, _)) in pairs.iter().zip(&read) {
        if !seen.insert(group) {
            pair.reject("group", "duplicate", "This group has a role already.");
        }
    }
    Some(read.into_iter().collect())
}
