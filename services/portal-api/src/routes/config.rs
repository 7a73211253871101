//! `GET /v1/portal/config`: what the pages must know before anybody has logged in. Nothing of it is secret.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Data;
use serde::Serialize;
use settings::Brand;
use url::Url;

use crate::app::App;
use crate::domain::Role;
use crate::region_settings::{Locale, Region};

/// The one currency that there is (SPECIFICATION §2.1).
const CURRENCY: &str = "INR";
/// Kept for a moment only: the brand is configuration, and a change of it should be seen.
const KEEP: &str = "public, max-age=60";

/// The settings that pages show.
#[derive(Clone, Debug)]
pub(crate) struct PortalConfig {
    pub(crate) brand: Brand,
    pub(crate) region: Region,
    /// The integrators' `{base_url}`, ending in `/v1`.
    pub(crate) api_url: Url,
    pub(crate) mail_enabled: bool,
    pub(crate) roles: &'static [Role],
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ConfigView<'a> {
    brand: BrandView<'a>,
    /// The `Service` of `Service-Timestamp` and `Service-Signature`.
    header_prefix: &'a str,
    /// The `waybill` of `sk_test_waybill_…`.
    key_segment: &'a str,
    /// Without a slash at its end.
    api_base_url: &'a str,
    currency: &'static str,
    /// How amounts and dates are written.
    locale: Locale,
    /// The zone that times are shown in, by its IANA name.
    time_zone: &'a str,
    mail: MailView,
    /// The roles that a user of a business can have, the one that may most first.
    roles: &'static [Role],
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
    /// Whether this portal sends mails; without them the operator hands out reset links.
    enabled: bool,
}

#[utoipa::path(
    get,
    path = "/v1/portal/config",
    operation_id = "readConfig",
    tag = "Overview",
    summary = "What the pages must know before anybody has logged in",
    responses((status = 200, description = "The brand, and where integrators call.", body = ConfigView)),
)]
pub(super) async fn config(app: Data<App>) -> HttpResponse {
    let PortalConfig { brand, region, api_url, mail_enabled, roles } = &*app.config;
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, KEEP)).json(ConfigView {
        brand: BrandView { name: &brand.name, accent_color: &brand.accent_color },
        header_prefix: &brand.header_prefix,
        key_segment: &brand.key_segment,
        api_base_url: api_url.as_str().trim_end_matches('/'),
        currency: CURRENCY,
        locale: region.locale,
        time_zone: &region.time_zone,
        mail: MailView { enabled: *mail_enabled },
        roles,
    })
}
