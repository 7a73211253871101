//! `GET /docs/…`: the built site. Its build leaves words in place of the values of an installation, which are replaced
//! here. Requests look up the files that were found at start, so that no path can escape the folder.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, LOCATION, VARY};
use actix_web::web::{Bytes, Data, Path as Segment};
use actix_web::{HttpRequest, HttpResponse};
use anyhow::ensure;
use settings::Brand;
use tokio::task::spawn_blocking;
use url::Url;
use web::{ApiError, FolderLimits, content_tag, content_type, files_below};

use super::{Description, KEPT, add_page_headers, tagged};

/// The site has about 1,300 files, 16 MB in all.
const LIMITS: FolderLimits = FolderLimits { what: "the site", files: 10_000, bytes: 64 * 1024 * 1024 };
const FOLDER: &str = "/docs/";
const INDEX: &str = "index.html";
const NOT_FOUND: &str = "404.html";
/// Which files contain words to replace.
const TEXTS: [&str; 6] = ["html", "js", "css", "json", "md", "txt"];
/// The words that `proto-docs/site` leaves: the origins, the colour, and the Test and Live keys of the default brand.
const ORIGIN: &str = "https://api.delivery.example";
const PORTAL: &str = "https://portal.delivery.example/";
const COLOR: &str = "#0d0e0f";
/// Styles are set by attributes too: the colours of code.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Browsers ask each time whether a page is the current one.
const REVALIDATED: &str = "no-cache";

/// The files of the site by their names, such as `first-order.html`.
pub struct Site {
    files: HashMap<String, SiteFile>,
    values: Values,
}

struct SiteFile {
    path: PathBuf,
    /// Since the first request of the file.
    kept: OnceLock<Filled>,
}

/// A file with the values of this installation.
#[derive(Clone)]
struct Filled {
    bytes: Bytes,
    sha256: String,
}

/// Each word of the build with the value of this installation.
type Values = Vec<(&'static str, String)>;

impl Site {
    /// Lists the folder. If that fails, there is no site, because orders matter more.
    pub fn load(folder: &Path, brand: &Brand, public_url: &Url, portal_url: Option<&Url>) -> Option<Self> {
        match Self::list(folder) {
            Ok(files) => Some(Self { files, values: values(brand, public_url, portal_url) }),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::error!(%error, "loading the documentation failed, none is served; check WAYBILL_DOCS__SITE");
                None
            }
        }
    }

    fn list(folder: &Path) -> anyhow::Result<HashMap<String, SiteFile>> {
        let found = files_below(folder, LIMITS)?;
        let file = |(name, path)| (name, SiteFile { path, kept: OnceLock::new() });
        let files: HashMap<_, _> = found.into_iter().map(file).collect();
        ensure!(files.contains_key(INDEX), "the folder of the site contains no {INDEX}");
        tracing::info!(files = files.len(), "found the documentation");
        Ok(files)
    }

    /// The name of the file of an address below [`FOLDER`].
    fn name_of(&self, path: &str) -> Option<String> {
        let names = if path.is_empty() || path.ends_with('/') {
            [format!("{path}{INDEX}"), String::new()]
        } else {
            [path.to_owned(), format!("{path}.html")]
        };
        names.into_iter().find(|name| self.files.contains_key(name))
    }

    fn kept(&self, name: &str) -> Option<&Filled> {
        self.files.get(name)?.kept.get()
    }

    /// Keeps the file, so that it is read, filled and hashed once.
    fn keep(&self, name: &str) -> io::Result<Filled> {
        let file = self.files.get(name).ok_or(io::ErrorKind::NotFound)?;
        let bytes = self.filled(name, &file.path)?;
        let sha256 = content_tag(&bytes);
        Ok(file.kept.get_or_init(|| Filled { bytes: Bytes::from(bytes), sha256 }).clone())
    }

    fn filled(&self, name: &str, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = fs::read(path)?;
        // Compressed files contain none of the words.
        let is_text = name.rsplit('.').next().is_some_and(|end| TEXTS.contains(&end));
        if !is_text {
            return Ok(bytes);
        }
        let mut text = String::from_utf8(bytes).map_err(|error| io::Error::other(error.to_string()))?;
        for (word, value) in &self.values {
            if text.contains(word) {
                text = text.replace(word, value);
            }
        }
        Ok(text.into_bytes())
    }
}

fn values(brand: &Brand, public_url: &Url, portal_url: Option<&Url>) -> Values {
    let origin = public_url.as_str().trim_end_matches('/').to_owned();
    let portal = portal_url.map_or_else(|| format!("{origin}{FOLDER}"), ToString::to_string);
    let key = |mode: &str| format!("sk_{mode}_{}_", brand.key_segment);
    vec![
        ("OPERATORBRAND", plain(&brand.name)),
        ("OPERATORPREFIX", brand.header_prefix.clone()),
        ("operatorprefix", brand.header_prefix.to_lowercase()),
        (ORIGIN, origin),
        (PORTAL, portal),
        (COLOR, brand.accent_color.clone()),
        ("sk_test_waybill_", key("test")),
        ("sk_live_waybill_", key("live")),
    ]
}

/// A name that means the same in HTML, in JSON and in a text of JavaScript, where it ends nothing.
fn plain(name: &str) -> String {
    let plain = |letter| match letter {
        '"' => '”',
        '\'' | '`' => '’',
        '<' | '{' => '(',
        '>' | '}' => ')',
        '\\' => '/',
        '&' => '+',
        letter if letter.is_control() || letter == '$' => ' ',
        letter => letter,
    };
    name.chars().map(plain).collect()
}

/// `GET /` and `GET /docs` lead to the site.
pub(in crate::routes) async fn home(description: Data<Description>) -> Result<HttpResponse, ApiError> {
    match &description.site {
        Some(_) => Ok(found_at("")),
        None => Err(ApiError::from_status(StatusCode::NOT_FOUND)),
    }
}

fn found_at(path: &str) -> HttpResponse {
    HttpResponse::Found().insert_header((LOCATION, format!("{FOLDER}{path}"))).finish()
}

pub(in crate::routes) async fn file(
    request: HttpRequest,
    description: Data<Description>,
    path: Segment<String>,
) -> Result<HttpResponse, ApiError> {
    let missing = || ApiError::from_status(StatusCode::NOT_FOUND);
    let site = description.site.as_ref().ok_or_else(missing)?;
    let as_folder = format!("{path}/");
    if !path.is_empty() && site.name_of(&path).is_none() && site.name_of(&as_folder).is_some() {
        return Ok(found_at(&as_folder));
    }
    let (name, status) = match site.name_of(&path) {
        Some(name) => (name, StatusCode::OK),
        None => (site.name_of(NOT_FOUND).ok_or_else(missing)?, StatusCode::NOT_FOUND),
    };
    let packed = Some(format!("{name}.gz")).filter(|packed| site.files.contains_key(packed));
    let has_packed = packed.is_some();
    let packed = packed.filter(|_| accepts_gzip(&request));
    let is_packed = packed.is_some();
    let sent = packed.unwrap_or_else(|| name.clone());
    let Filled { bytes, sha256 } = match site.kept(&sent) {
        Some(kept) => kept.clone(),
        None => keep(description.clone(), sent).await?,
    };
    let mut answer = HttpResponse::build(status);
    let kept = if name.starts_with("assets/") { KEPT } else { REVALIDATED };
    add_page_headers(&mut answer, POLICY, kept);
    if has_packed {
        answer.insert_header((VARY, "accept-encoding"));
    }
    if status == StatusCode::OK && tagged(&mut answer, &request, sha256) {
        return Ok(answer.status(StatusCode::NOT_MODIFIED).finish());
    }
    if is_packed {
        answer.insert_header((CONTENT_ENCODING, "gzip"));
    }
    Ok(answer.content_type(content_type(&name)).body(bytes))
}

/// The file of a first request, on another thread.
async fn keep(description: Data<Description>, name: String) -> Result<Filled, ApiError> {
    let work = move || description.site.as_ref().ok_or(io::ErrorKind::NotFound)?.keep(&name);
    spawn_blocking(work).await.map_err(ApiError::internal)?.map_err(ApiError::internal)
}

/// By name and without a weight of 0, as all browsers do.
fn accepts_gzip(request: &HttpRequest) -> bool {
    let accepted = request.headers().get_all(ACCEPT_ENCODING).filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|one| one.trim() == "gzip")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use settings::Brand;
    use url::Url;

    use super::Site;

    /// Runs `check` with the site of a folder with these files.
    fn with_site(test: &str, brand: &Brand, files: &[(&str, &str)], check: impl Fn(Option<Site>)) {
        let folder = std::env::temp_dir().join(format!("site-{test}-{}", std::process::id()));
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let [own, portal] =
            ["https://api.acme.example", "https://portal.acme.example"].map(|url| Url::parse(url).unwrap());
        check(Site::load(&folder, brand, &own, Some(&portal)));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn pages_name_this_installation() {
        let brand = Brand {
            name: "\"Acme\" </script>${1} & Söhne\\".into(),
            header_prefix: "Acme-Go".into(),
            key_segment: "acme".into(),
            accent_color: "#123456".into(),
        };
        let page = "OPERATORBRAND|OPERATORPREFIX-Timestamp|operatorprefix-timestamp|https://api.delivery.example/v1|\
                    https://portal.delivery.example/|#0d0e0f|sk_test_waybill_|sk_live_waybill_";
        let filled = "”Acme” (/script) (1) + Söhne/|Acme-Go-Timestamp|acme-go-timestamp|https://api.acme.example/v1|\
                      https://portal.acme.example/|#123456|sk_test_acme_|sk_live_acme_";
        with_site("named", &brand, &[("index.html", page), ("font.woff2", page)], |site| {
            let site = site.unwrap();
            assert!(site.kept("index.html").is_none());
            assert_eq!(site.keep("index.html").unwrap().bytes, filled);
            assert_eq!(site.kept("index.html").unwrap().bytes, filled);
            assert_eq!(site.keep("font.woff2").unwrap().bytes, page);
        });
    }

    #[test]
    fn addresses_lead_to_files_of_the_folder_only() {
        let files =
            [("index.html", ""), ("webhooks.html", ""), ("webhooks.md", ""), ("errors/index.html", "")];
        let found = [
            ("", Some("index.html")),
            ("webhooks", Some("webhooks.html")),
            ("webhooks.md", Some("webhooks.md")),
            ("errors/", Some("errors/index.html")),
            ("webhooks/", None),
            ("nothing", None),
            ("../webhooks", None),
            ("/etc/passwd", None),
        ];
        with_site("found", &Brand::default(), &files, |site| {
            let site = site.unwrap();
            for (path, name) in found {
                assert_eq!(site.name_of(path).as_deref(), name, "{path}");
            }
        });
    }

    #[test]
    fn a_folder_without_an_index_is_no_site() {
        with_site("empty", &Brand::default(), &[("notes.txt", "")], |site| assert!(site.is_none()));
    }
}
