//! The common parts of all operations: authentication and errors.

use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response, ResponseBuilder, SecurityRequirement};
use utoipa::{Modify, PartialSchema, ToSchema};

use crate::domain::{OperatorPermission, Role};

const ERROR: &str = "Error";
const SESSION: &str = "session";
const OPERATOR: &str = "operatorToken";
const CONSOLE: &str = "operatorSession";
/// Calls without authentication.
const OPEN: [&str; 21] = [
    "signUp",
    "logIn",
    "logOut",
    "readConfig",
    "requestPasswordReset",
    "confirmPasswordReset",
    "lookUpPasswordReset",
    "lookUpInvitation",
    "acceptInvitation",
    "logInWithSecondFactor",
    "startLogInWithPasskey",
    "openOperatorSession",
    "openOperatorSessionWithSecondFactor",
    "openOperatorSessionWithPasskey",
    "closeOperatorSession",
    "lookUpStaffLink",
    "useStaffLink",
    "startSso",
    "completeSso",
    "startStaffSso",
    "completeStaffSso",
];

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

pub(super) struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut OpenApi) {
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
        let console = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description(
            "operator_session",
            console,
        )));
        components.add_security_scheme(CONSOLE, console);
        components.add_security_scheme(OPERATOR, SecurityScheme::Http(token.build()));
        for (path, item) in &mut document.paths.paths {
            let operations =
                [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                complete(path, operation);
            }
        }
    }
}

fn complete(path: &str, operation: &mut Operation) {
    operation.responses.responses.insert("default".to_owned(), RefOr::Ref(Ref::from_response_name(ERROR)));
    let open = operation.operation_id.as_deref().is_some_and(|id| OPEN.contains(&id));
    let schemes: &[&str] = match () {
        () if open => &[],
        () if path.starts_with("/v1/operator/") => &[OPERATOR, CONSOLE],
        () if path.starts_with("/v1/portal/") => &[SESSION],
        () => &[],
    };
    let any_of = schemes.iter().map(|scheme| SecurityRequirement::new::<_, [&str; 0], _>(*scheme, []));
    operation.security = Some(any_of.collect());
}

fn error() -> Response {
    let body = Content::new(Some(Ref::from_schema_name(ERROR)));
    let description =
        "The error. 400 lists all errors of the request; 401 requires a log-in; 503 may be retried.";
    ResponseBuilder::new().description(description).content("application/json", body).build()
}
