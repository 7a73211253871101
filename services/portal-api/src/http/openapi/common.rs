//! The common parts of all operations: authentication and errors.

use actix_web::http::Method;
use anyhow::Context as _;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response, ResponseBuilder, SecurityRequirement};
use utoipa::{PartialSchema, ToSchema};

use crate::domain::{OperatorPermission, Role};
use crate::http::call::{Call, Who};

const ERROR: &str = "Error";
const SESSION: &str = "session";
const OPERATOR: &str = "operatorToken";
const CONSOLE: &str = "operatorSession";

/// The body of every error response.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what `web::ApiError` writes")]
struct Error {
    /// A message for people.
    message: String,
    /// A stable code for programs.
    code: String,
    request_id: String,
    /// All errors of the request.
    errors: Option<Vec<FieldError>>,
    /// The open go-live items.
    missing: Option<Vec<String>>,
    /// The least of the roles owner, developer and viewer that may call it.
    required_role: Option<Role>,
    /// The roles that may call it.
    allowed_roles: Option<Vec<Role>>,
    /// The page of the log-in with single sign-on.
    log_in_url: Option<String>,
    /// The operator's permission for the call.
    required_permission: Option<OperatorPermission>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `web::FieldError` writes")]
#[schema(as = Fault)]
struct FieldError {
    /// The field's path in the body, or the parameter's name.
    field: String,
    code: String,
    message: String,
}

/// Adds the description of errors and of authentication.
pub(crate) fn add_components(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    let mut schemas = vec![(ERROR.to_owned(), Error::schema())];
    Error::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.responses.insert(ERROR.to_owned(), RefOr::T(error()));
    let cookie = "The session cookie. With TLS its name is `__Host-portal_session`.";
    let cookie =
        SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description("portal_session", cookie)));
    let token =
        HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("A token of the operator."));
    components.add_security_scheme(SESSION, cookie);
    let console = "The cookie of a console session. With TLS its name is `__Host-operator_session`.";
    let console =
        SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description("operator_session", console)));
    components.add_security_scheme(CONSOLE, console);
    components.add_security_scheme(OPERATOR, SecurityScheme::Http(token.build()));
}

/// What a document says about a call.
pub(crate) fn operation<'a>(call: &Call, document: &'a mut OpenApi) -> Option<&'a mut Operation> {
    let item = document.paths.paths.get_mut(call.path)?;
    match call.method {
        Method::GET => item.get.as_mut(),
        Method::POST => item.post.as_mut(),
        Method::PUT => item.put.as_mut(),
        Method::PATCH => item.patch.as_mut(),
        Method::DELETE => item.delete.as_mut(),
        _ => None,
    }
}

/// Adds to the description of a handler what its row says.
///
/// # Errors
/// When the handler describes another call.
pub(crate) fn complete(call: &Call, description: &mut OpenApi) -> anyhow::Result<()> {
    let operation = operation(call, description).with_context(|| {
        format!("the handler of {} {} describes another method or path", call.method, call.path)
    })?;
    operation.responses.responses.insert("default".to_owned(), RefOr::Ref(Ref::from_response_name(ERROR)));
    let schemes: &[&str] = match call.who {
        Who::Anybody(_) => &[],
        Who::User(_) => &[SESSION],
        Who::Person | Who::Console | Who::Operator(_) => &[OPERATOR, CONSOLE],
    };
    let any_of = schemes.iter().map(|scheme| SecurityRequirement::new::<_, [&str; 0], _>(*scheme, []));
    operation.security = Some(any_of.collect());
    Ok(())
}

fn error() -> Response {
    let body = Content::new(Some(Ref::from_schema_name(ERROR)));
    let description =
        "The error. 400 lists all errors of the request; 401 requires a log-in; 503 may be retried.";
    ResponseBuilder::new().description(description).content("application/json", body).build()
}
