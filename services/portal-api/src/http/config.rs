//! `GET /v1/portal/config`: the public settings that the pages need before the log-in.

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use actix_web::web::{Data, ServiceConfig, resource};
use serde::Serialize;
use strum::VariantArray;
use web::ApiError;

use crate::domain::{Locale, Part, Role, Site};
use crate::state::State;

/// The only currency (SPECIFICATION §2.1).
const CURRENCY: &str = "INR";
/// Short, so that changed settings take effect soon.
const CACHE_CONTROL: &str = "public, max-age=60";

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ConfigView<'a> {
    brand: BrandView<'a>,
    /// The `Service` of `Service-Timestamp` and `Service-Signature`.
    header_prefix: &'a str,
    /// The `waybill` of `sk_test_waybill_…`.
    key_segment: &'a str,
    /// Without a trailing slash.
    api_base_url: &'a str,
    /// The address of the portal for businesses. Without a trailing slash.
    portal_url: &'a str,
    /// The addresses and networks that webhooks come from. Empty if they are not fixed.
    webhook_addresses: &'a [String],
    /// Whether endpoints may subscribe to `order.reattempt_scheduled` and `order.returning`.
    attempt_events: bool,
    currency: &'static str,
    /// How amounts and dates are written.
    locale: Locale,
    /// The time zone of all times, as an IANA name.
    time_zone: &'a str,
    mail: MailView,
    /// The roles of users.
    roles: &'static [Role],
    /// The parts of the portal at this address: `portal` for businesses, `console` for the operator's staff.
    parts: &'static [Part],
    /// Single sign-on of the staff. `null` if the console at this address has none.
    single_sign_on: Option<SingleSignOnView<'a>>,
}

#[derive(Serialize, utoipa::ToSchema)]
struct SingleSignOnView<'a> {
    /// Of the button.
    label: &'a str,
    /// Whether the staff may also log in with passwords.
    passwords: bool,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct BrandView<'a> {
    name: &'a str,
    /// `#rrggbb`
    accent_color: &'a str,
}

#[derive(Serialize, utoipa::ToSchema)]
struct MailView {
    /// Whether this portal sends mails. If not, the operator passes on reset links.
    enabled: bool,
}

#[utoipa::path(
    get,
    path = "/v1/portal/config",
    operation_id = "readConfig",
    tag = "Overview",
    summary = "Read the public settings of the portal",
    responses((status = 200, description = "The public settings.", body = ConfigView)),
)]
pub(crate) async fn config(state: Data<State>, site: Data<Site>) -> HttpResponse {
    let config = &state.public_config;
    let brand = &config.brand;
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, CACHE_CONTROL)).json(ConfigView {
        brand: BrandView { name: &brand.name, accent_color: &brand.accent_color },
        header_prefix: &brand.header_prefix,
        key_segment: &brand.key_segment,
        api_base_url: config.api_url.as_str().trim_end_matches('/'),
        portal_url: state.links.portal().as_str().trim_end_matches('/'),
        webhook_addresses: &config.webhook_addresses,
        attempt_events: config.attempt_events,
        currency: CURRENCY,
        locale: config.locale,
        time_zone: &config.time_zone,
        mail: MailView { enabled: state.mailbox.is_enabled },
        roles: Role::VARIANTS,
        parts: site.parts,
        single_sign_on: single_sign_on(&state, &site),
    })
}

/// For integrators whose base URL is the portal's.
pub(crate) fn calls_of_the_api(config: &mut ServiceConfig) {
    config.service(resource(["/v1/integration/{call:.*}", "/integration/{call:.*}"]).to(not_the_api));
}

async fn not_the_api(state: Data<State>) -> Result<HttpResponse, ApiError> {
    let base_url = state.public_config.api_url.as_str().trim_end_matches('/').to_owned();
    let message =
        format!("This is the address of the portal. Send calls of the API to its base URL, {base_url}.");
    Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", message))
}

/// Only at the console's own URL, where the provider sends browsers back to.
fn single_sign_on<'a>(state: &'a State, site: &Site) -> Option<SingleSignOnView<'a>> {
    let sso = state.single_sign_on.as_ref()?;
    let is_offered = site.has(Part::Console) && site.origins.is_own(state.links.console());
    is_offered.then(|| SingleSignOnView { label: &sso.label, passwords: sso.allows_passwords })
}
