//! `/v1/portal/second-factor/passkeys` and `/v1/operator/second-factor/passkeys`: a person manages the passkeys of their account.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{Data, Path};
use chrono::{DateTime, Utc};
use domain::PasskeyId;
use identity::passkeys::{Attestation, CeremonyPurpose, PASSKEYS_MAX, Passkey};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use crate::account;
use crate::account::commands::OwnAccount;
use crate::account::commands::manage_passkeys::{self, Addition};
use crate::account::routes::account_fields::{credential, listed_name};
use crate::account::routes::second_factor::require_proved_email;
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::state::State;

const NAME_MAX: usize = 60;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct PasskeysView {
    /// The most that an account may have.
    max: i64,
    data: Vec<PasskeyView>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct PasskeyView {
    id: PasskeyId,
    name: String,
    created_at: DateTime<Utc>,
    last_used_at: Option<DateTime<Utc>>,
}

/// For the browser's `navigator.credentials`.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct PasskeyOptionsView {
    /// `PublicKeyCredentialCreationOptionsJSON`, or `PublicKeyCredentialRequestOptionsJSON`, of WebAuthn.
    #[schema(value_type = HashMap<String, Value>)]
    options: Value,
}

impl PasskeyOptionsView {
    pub(crate) fn respond(options: Value) -> HttpResponse {
        HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(Self { options })
    }
}

impl From<Passkey> for PasskeyView {
    fn from(passkey: Passkey) -> Self {
        let Passkey { id, name, created_at, last_used_at } = passkey;
        Self { id, name, created_at, last_used_at }
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/second-factor/passkeys",
    operation_id = "listPasskeys",
    tag = "Account",
    summary = "The passkeys of the account, the oldest first",
    responses((status = 200, description = "The passkeys.", body = PasskeysView)),
)]
pub(crate) async fn list(state: Data<State>, own: OwnAccount) -> Result<HttpResponse, ApiError> {
    let passkeys = account::queries::passkeys::list(&state, own.holder.account).await?;
    let data = passkeys.into_iter().map(PasskeyView::from).collect();
    Ok(HttpResponse::Ok().json(PasskeysView { max: PASSKEYS_MAX, data }))
}

#[utoipa::path(
    post,
    path = "/v1/portal/second-factor/passkeys/options",
    operation_id = "startPasskey",
    tag = "Account",
    summary = "Begin to add a passkey to an account with an authenticator app",
    responses((status = 200, description = "A challenge. It is valid for five minutes, and once.", body = PasskeyOptionsView)),
)]
pub(crate) async fn start(state: Data<State>, own: OwnAccount) -> Result<HttpResponse, ApiError> {
    require_proved_email(&own)?;
    let options = manage_passkeys::start(&state, &own.holder, own.ceremony(CeremonyPurpose::Add)).await;
    Ok(PasskeyOptionsView::respond(options.map_err(errors::factor)?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/second-factor/passkeys",
    operation_id = "addPasskey",
    tag = "Account",
    summary = "Add a passkey",
    request_body = bodies::AddPasskey,
    responses((status = 201, description = "The passkey.", body = PasskeyView)),
)]
pub(crate) async fn add(
    state: Data<State>,
    own: OwnAccount,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    require_proved_email(&own)?;
    let (addition, key) = (parse(&body.0)?, own.ceremony(CeremonyPurpose::Add));
    let added = manage_passkeys::add(&state, &own.holder, &addition, key, own.author()).await;
    Ok(HttpResponse::Created().json(PasskeyView::from(added.map_err(errors::factor)?)))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/second-factor/passkeys/{id}",
    operation_id = "removePasskey",
    tag = "Account",
    summary = "Remove a passkey",
    params(("id" = PasskeyId, Path, description = "The passkey.")),
    responses((status = 204, description = "The passkey is removed.")),
)]
pub(crate) async fn remove(
    state: Data<State>,
    own: OwnAccount,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = id.parse().map_err(|_| errors::passkey_not_found())?;
    let removed = manage_passkeys::remove(&state, &own.holder, id, own.author()).await;
    removed.map_err(errors::factor)?;
    Ok(HttpResponse::NoContent().finish())
}

fn parse(body: &Value) -> Result<Addition, ApiError> {
    read_body(body, &["name", "passkey"], |fields| {
        let name = listed_name(fields, "name", NAME_MAX);
        let attestation = credential(fields, "passkey", Attestation::parse);
        Some(Addition { name: name?, attestation: attestation? })
    })
}
