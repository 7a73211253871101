//! `POST /v1/portal/accounts`: a business signs up.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use domain::Email;
use identity::Realm;
use identity::passwords::Password;
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use crate::account::commands::sign_up::{SignUp, sign_up as create_account};
use crate::account::routes::account_fields::{business_name, new_password, reachable_email};
use crate::account::routes::opened::opened;
use crate::account::routes::session_views::SessionView;
use crate::http::audited::{browser, request_id};
use crate::http::caller::address;
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/portal/accounts",
    operation_id = "signUp",
    tag = "Account",
    summary = "Sign up: creates a business, its owner and a session",
    request_body = bodies::SignUp,
    responses((status = 201, description = "The session. A cookie carries it.", body = SessionView)),
)]
pub(crate) async fn sign_up(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business_name, email, password) = parse(&body.0)?;
    let address = address(&state, &request);
    let (browser, request) = (browser(&state, &request, Realm::User), request_id(&request));
    let sign_up = SignUp { business_name, email, password, address, browser, request };
    let session = create_account(&state, sign_up).await.map_err(errors::sign_up)?;
    opened(&state, Realm::User, &mut HttpResponse::Created(), &session).await
}

fn parse(body: &Value) -> Result<(String, Email, Password), ApiError> {
    read_body(body, &["businessName", "email", "password"], |fields| {
        let business_name = business_name(fields);
        let email = reachable_email(fields);
        let password = new_password(fields, "password", email.as_ref());
        Some((business_name?, email?, password?))
    })
}
