//! `GET /docs/downloads` and the files below it: the packages for integrators. Requests look up the loaded files only,
//! so that no path can escape the folder.

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, X_CONTENT_TYPE_OPTIONS};
use actix_web::web::{Data, Json, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use url::Url;
use web::ApiError;

use super::packages::{Package, Packages};
use super::site::POLICY;
use super::{Description, KEPT, add_page_headers, tagged};

/// The checksums of all packages.
const CHECKSUMS: &str = "SHA256SUMS";

#[derive(Template)]
#[template(path = "downloads.html")]
struct Page<'a> {
    brand: &'a str,
    portal: Option<&'a str>,
    packages: Vec<Row<'a>>,
}

struct Row<'a> {
    name: &'a str,
    commands: Vec<String>,
    kib: usize,
    sha256: &'a str,
}

/// # Errors
/// When the template cannot be filled.
pub(super) fn render(
    brand: &str,
    public_url: &Url,
    portal: Option<&Url>,
    packages: &Packages,
) -> Result<String, askama::Error> {
    let base = public_url.as_str().trim_end_matches('/');
    let page = Page {
        brand,
        portal: portal.map(Url::as_str),
        packages: packages.0.iter().map(|package| row(base, package, packages)).collect(),
    };
    page.render()
}

fn row<'a>(base: &str, package: &'a Package, served: &Packages) -> Row<'a> {
    let Package { name, kind, bytes, sha256 } = package;
    let needed = client_for_medusa(name).filter(|client| served.names().any(|name| name == client));
    let files = needed.as_deref().into_iter().chain([name.as_str()]);
    let of_files = |install| files.map(|file| format!("{install} {base}/docs/downloads/{file}")).collect();
    let commands = kind.install.map(of_files).unwrap_or_default();
    Row { name, commands, kib: bytes.len().div_ceil(1024), sha256 }
}

/// The client that the package for Medusa needs: no registry has it, so it must be installed first.
fn client_for_medusa(name: &str) -> Option<String> {
    name.strip_prefix("waybill-medusa-").map(|version| format!("waybill-client-{version}"))
}

pub(in crate::routes) async fn list(description: Data<Description>) -> Result<HttpResponse, ApiError> {
    let page = description.rendered()?.downloads.clone();
    let mut answer = HttpResponse::Ok();
    add_page_headers(&mut answer, POLICY, KEPT);
    Ok(answer.content_type("text/html; charset=utf-8").body(page))
}

/// `GET /internal/packages`: the names of the packages, for portal-api.
pub(in crate::routes) async fn names(description: Data<Description>) -> Json<Vec<String>> {
    Json(description.packages.names().map(str::to_owned).collect())
}

pub(in crate::routes) async fn file(
    request: HttpRequest,
    description: Data<Description>,
    name: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let Packages(packages) = &description.packages;
    let mut answer = HttpResponse::Ok();
    answer.insert_header((CACHE_CONTROL, KEPT)).insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
    if name.as_str() == CHECKSUMS && !packages.is_empty() {
        return Ok(answer.content_type("text/plain; charset=utf-8").body(description.packages.checksums()));
    }
    let package = packages.iter().find(|package| package.name == *name);
    let package = package.ok_or_else(|| ApiError::from_status(StatusCode::NOT_FOUND))?;
    if tagged(&mut answer, &request, package.sha256.clone()) {
        return Ok(answer.status(StatusCode::NOT_MODIFIED).finish());
    }
    Ok(answer
        .content_type(package.kind.content_type)
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", package.name)))
        .body(package.bytes.clone()))
}
