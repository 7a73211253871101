//! `GET /docs/downloads` and the files below it: the packages for integrators. They are loaded into memory at start.
//! Requests look up the loaded files only, so that no path can escape the folder.

use std::fs;
use std::path::Path as Folder;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, ETAG, X_CONTENT_TYPE_OPTIONS};
use actix_web::web::{Bytes, Data, Path};
use anyhow::{Context, ensure};
use askama::Template;
use sha2::{Digest, Sha256};
use url::Url;
use web::ApiError;

use super::page::{STYLE, initial};
use super::{Description, KEPT, guides, html};

/// A few packages of some dozen KiB. Much more means that the setting names a wrong folder.
const FILES_MAX: usize = 100;
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The checksums of all packages, in the format of `sha256sum --check`.
const CHECKSUMS: &str = "SHA256SUMS";

/// The packages by name.
#[derive(Default)]
pub struct Packages(Vec<Package>);

struct Package {
    name: String,
    kind: &'static Kind,
    bytes: Bytes,
    sha256: String,
}

/// A kind of package, by the end of its file's name.
struct Kind {
    suffix: &'static str,
    content_type: &'static str,
    /// The command that installs it from its URL, if its package manager can.
    install: Option<&'static str>,
}

const KINDS: [Kind; 3] = [
    Kind { suffix: ".tgz", content_type: "application/gzip", install: Some("npm install") },
    Kind { suffix: ".whl", content_type: "application/zip", install: Some("pip install") },
    Kind { suffix: ".crate", content_type: "application/gzip", install: None },
];

impl Packages {
    /// Loads the folder. Ignores symbolic links, folders, and files of other kinds.
    ///
    /// # Errors
    /// When a file cannot be read, or the folder is too large.
    pub fn load(folder: &Folder) -> anyhow::Result<Self> {
        if !folder.is_dir() {
            tracing::warn!("no packages are served: WAYBILL_DOCS__DOWNLOADS is not a folder");
            return Ok(Self::default());
        }
        let mut packages = Vec::new();
        let mut total_bytes = 0;
        for (seen, entry) in
            fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?.enumerate()
        {
            ensure!(seen < FILES_MAX, "the folder of the packages contains more than {FILES_MAX} files");
            let entry = entry?;
            let name = entry.file_name().into_string().unwrap_or_default();
            let Some(kind) = kind(&name).filter(|_| entry.file_type().is_ok_and(|file| file.is_file()))
            else {
                continue;
            };
            total_bytes += entry.metadata()?.len();
            ensure!(
                total_bytes <= BYTES_MAX,
                "the folder of the packages contains more than {BYTES_MAX} bytes"
            );
            let bytes =
                fs::read(entry.path()).with_context(|| format!("reading {}", entry.path().display()))?;
            let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            packages.push(Package { name, kind, bytes: Bytes::from(bytes), sha256 });
        }
        packages.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self(packages))
    }

    fn checksums(&self) -> String {
        self.0.iter().map(|package| format!("{}  {}\n", package.sha256, package.name)).collect()
    }
}

/// Of a name that needs no escaping in a URL, a header or a shell.
fn kind(name: &str) -> Option<&'static Kind> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    if name.starts_with(['.', '-']) || !name.chars().all(is_plain) {
        return None;
    }
    KINDS.iter().find(|kind| name.ends_with(kind.suffix))
}

#[derive(Template)]
#[template(path = "downloads.html")]
struct Page<'a> {
    brand: &'a str,
    initial: String,
    style: &'static str,
    portal: Option<&'a str>,
    guides: Vec<(&'static str, &'static str)>,
    packages: Vec<Row<'a>>,
}

struct Row<'a> {
    name: &'a str,
    command: Option<String>,
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
        initial: initial(brand),
        style: STYLE,
        portal: portal.map(Url::as_str),
        guides: guides::list(),
        packages: packages.0.iter().map(|package| row(base, package)).collect(),
    };
    page.render()
}

fn row<'a>(base: &str, package: &'a Package) -> Row<'a> {
    let Package { name, kind, bytes, sha256 } = package;
    let command = kind.install.map(|install| format!("{install} {base}/docs/downloads/{name}"));
    Row { name, command, kib: bytes.len().div_ceil(1024), sha256 }
}

pub(in crate::routes) async fn list(description: Data<Description>) -> Result<HttpResponse, ApiError> {
    let rendered = description.rendered()?;
    Ok(html(rendered, &rendered.downloads))
}

pub(in crate::routes) async fn file(
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
    Ok(answer
        .content_type(package.kind.content_type)
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", package.name)))
        .insert_header((ETAG, format!("\"{}\"", package.sha256)))
        .body(package.bytes.clone()))
}
