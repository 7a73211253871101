//! `/v1/portal/second-factor` and `/v1/operator/second-factor`: a person manages the second factor of their account. Also: owners, the
//! support and administrators reset that of somebody who has lost it.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, ReqData};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use domain::{BusinessId, StaffId, UserId};
use identity::second_factors::{FactorCode, FactorSecret, RecoveryCode};
use qrcode::QrCode;
use qrcode::render::svg;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, TextRule, read_body};

use crate::account;
use crate::account::commands::{OwnAccount, enrol_factor, reset_factor};
use crate::business::routes::businesses::business_id;
use crate::domain::Session;
use crate::http::audited::{OperatorAuthor, UserAuthor};
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::state::State;

/// In pixels, at least. Pages scale it.
const QR_SIZE: u32 = 240;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct FactorView {
    /// Whether this installation offers two-factor authentication.
    available: bool,
    /// Whether the role requires it.
    required: bool,
    enrolled: bool,
    confirmed_at: Option<DateTime<Utc>>,
    recovery_codes_left: i64,
    /// The number of passkeys of the account.
    passkeys: i64,
    /// The origin whose pages can use passkeys. `null` if this installation offers none.
    passkey_origin: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct EnrolmentView {
    /// Base32, to type into the app.
    secret: String,
    /// The `otpauth:` URL of the QR code.
    url: String,
    /// An SVG image as a `data:` URL.
    qr_code: String,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct RecoveryCodesView {
    recovery_codes: Vec<String>,
}

impl From<Vec<RecoveryCode>> for RecoveryCodesView {
    fn from(codes: Vec<RecoveryCode>) -> Self {
        Self { recovery_codes: codes.iter().map(RecoveryCode::expose).collect() }
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/second-factor",
    operation_id = "readSecondFactor",
    tag = "Account",
    summary = "Whether the account has a second factor",
    responses((status = 200, description = "The second factor.", body = FactorView)),
)]
pub(crate) async fn read(state: Data<State>, own: OwnAccount) -> Result<HttpResponse, ApiError> {
    let account = own.holder.account;
    let status = account::queries::second_factors::status(&state, account).await?;
    Ok(HttpResponse::Ok().json(FactorView {
        passkeys: account::queries::passkeys::count(&state, account).await?,
        passkey_origin: state.factors.passkeys.origin(account).map(str::to_owned),
        available: state.factors.are_available(),
        required: own.requires_factor,
        enrolled: status.confirmed_at.is_some(),
        confirmed_at: status.confirmed_at,
        recovery_codes_left: status.recovery_codes_left,
    }))
}

#[utoipa::path(
    post,
    path = "/v1/portal/second-factor",
    operation_id = "startSecondFactor",
    tag = "Account",
    summary = "Start to set up an authenticator app",
    responses((status = 201, description = "The secret, which is shown only once.", body = EnrolmentView)),
)]
pub(crate) async fn start(state: Data<State>, own: OwnAccount) -> Result<HttpResponse, ApiError> {
    require_proved_email(&own)?;
    if !state.factors.are_available() {
        return Err(errors::second_factor_unavailable());
    }
    let secret = enrol_factor::start(&state, &own.holder).await.map_err(errors::factor)?;
    let brand = &state.public_config.brand.name;
    let url = secret.url(brand, &own.holder.email);
    let url = url.ok_or_else(|| ApiError::internal("the URL of a second factor cannot be written"))?;
    let secret = FactorSecret::expose(&secret);
    Ok(HttpResponse::Created().json(EnrolmentView { qr_code: qr_code(&url)?, secret, url }))
}

/// A second factor of an address that is not verified would lock out the owner of the address.
///
/// # Errors
/// 403 until the address is verified, where mails are sent.
pub(crate) fn require_proved_email(own: &OwnAccount) -> Result<(), ApiError> {
    own.has_proved_email.then_some(()).ok_or_else(errors::email_not_verified)
}

fn qr_code(url: &str) -> Result<String, ApiError> {
    let code = QrCode::new(url).map_err(ApiError::internal)?;
    let image = code.render::<svg::Color<'_>>().min_dimensions(QR_SIZE, QR_SIZE).build();
    Ok(format!("data:image/svg+xml;base64,{}", STANDARD.encode(image)))
}

#[utoipa::path(
    post,
    path = "/v1/portal/second-factor/confirm",
    operation_id = "confirmSecondFactor",
    tag = "Account",
    summary = "Turn on two-factor authentication with the first code of the app",
    request_body = bodies::AppCode,
    responses((status = 200, description = "The recovery codes, which are shown only once.", body = RecoveryCodesView)),
)]
pub(crate) async fn confirm(
    state: Data<State>,
    own: OwnAccount,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    require_proved_email(&own)?;
    let code = parse_app_code(&body.0)?;
    let confirmed = enrol_factor::confirm(&state, &own.holder, &code, &own.caller, own.author()).await;
    Ok(HttpResponse::Ok().json(RecoveryCodesView::from(confirmed.map_err(errors::factor)?)))
}

#[utoipa::path(
    post,
    path = "/v1/portal/second-factor/recovery-codes",
    operation_id = "replaceRecoveryCodes",
    tag = "Account",
    summary = "Replace all recovery codes",
    responses((status = 200, description = "The recovery codes, which are shown only once.", body = RecoveryCodesView)),
)]
pub(crate) async fn replace_recovery_codes(
    state: Data<State>,
    own: OwnAccount,
) -> Result<HttpResponse, ApiError> {
    let replaced = enrol_factor::replace_recovery_codes(&state, &own.holder, own.author()).await;
    Ok(HttpResponse::Ok().json(RecoveryCodesView::from(replaced.map_err(errors::factor)?)))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/second-factor",
    operation_id = "removeSecondFactor",
    tag = "Account",
    summary = "Turn off two-factor authentication",
    responses((status = 204, description = "The second factor is removed.")),
)]
pub(crate) async fn remove(state: Data<State>, own: OwnAccount) -> Result<HttpResponse, ApiError> {
    enrol_factor::remove(&state, &own.holder, own.author()).await.map_err(errors::factor)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    delete,
    path = "/v1/portal/users/{id}/second-factor",
    operation_id = "resetSecondFactor",
    tag = "Team",
    summary = "Remove the second factor of a user who has lost it, and end their sessions",
    params(("id" = UserId, Path, description = "The user.")),
    responses((status = 204, description = "The second factor is removed.")),
)]
pub(crate) async fn reset_by_owner(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    user: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let user = user.parse().map_err(|_| errors::user_not_found())?;
    let reset = reset_factor::of_user(&state, session.business, &author.0, user).await;
    reset.map_err(|error| errors::reset_factor(error, errors::user_not_found))?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    delete,
    path = "/v1/operator/staff/{id}/second-factor",
    operation_id = "resetStaffSecondFactor",
    tag = "Operator",
    summary = "Remove the second factor of a person who has lost it, and end their sessions",
    params(("id" = StaffId, Path, description = "The person.")),
    responses((status = 204, description = "The second factor is removed.")),
)]
pub(crate) async fn reset_staff(
    state: Data<State>,
    author: OperatorAuthor,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = id.parse().map_err(|_| errors::staff_not_found())?;
    let reset = reset_factor::of_staff(&state, &author.0, id).await;
    reset.map_err(|error| errors::reset_factor(error, errors::staff_not_found))?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    delete,
    path = "/v1/operator/businesses/{id}/users/{user}/second-factor",
    operation_id = "resetSecondFactorOfUser",
    tag = "Operator",
    summary = "Remove the second factor of a user who has lost it, and end their sessions",
    params(
        ("id" = BusinessId, Path, description = "The business."),
        ("user" = UserId, Path, description = "The user."),
    ),
    responses((status = 204, description = "The second factor is removed.")),
)]
pub(crate) async fn reset_by_support(
    state: Data<State>,
    author: OperatorAuthor,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, user) = path.into_inner();
    let business = business_id(&state, &business).await?;
    let user = user.parse().map_err(|_| errors::user_not_found())?;
    let reset = reset_factor::of_user(&state, business, &author.0, user).await;
    reset.map_err(|error| errors::reset_factor(error, errors::user_not_found))?;
    Ok(HttpResponse::NoContent().finish())
}

/// Only a code of the app confirms it: there are no recovery codes yet.
fn parse_app_code(body: &Value) -> Result<String, ApiError> {
    read_body(body, &["code"], |fields| {
        let text = fields.required_text("code", TextRule::line(64))?;
        match FactorCode::parse(&text) {
            Some(FactorCode::App(code)) => Some(code),
            _ => {
                fields.reject("code", "invalid_format", "code must be the six digits that your app shows.");
                None
            }
        }
    })
}
