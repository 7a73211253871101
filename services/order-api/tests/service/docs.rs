//! The public documentation of the API.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use demo::clients::Api;
use order_api::routes::Packages;
use reqwest::Method;

use crate::harness::OrderApi;

/// A built site in a folder of the test.
fn built_site(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("site-{test}-{}", std::process::id()));
    // Of an earlier process of the same id.
    let _removed = fs::remove_dir_all(&folder);
    for inner in ["assets", "errors"] {
        fs::create_dir_all(folder.join(inner)).unwrap();
    }
    for (name, text) in [
        ("index.html", "<h1>OPERATORBRAND API</h1>"),
        ("first-order.html", "<pre>curl https://api.delivery.example/v1/integration/orders</pre>"),
        ("first-order.md", "OPERATORPREFIX-Signature"),
        ("404.html", "<h1>No such page</h1>"),
        ("errors/index.html", "<h1>Errors</h1>"),
        ("assets/app.js", "const plain = 1;"),
        ("assets/app.js.gz", "packed"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    symlink("/etc/hostname", folder.join("link.txt")).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn anyone_can_read_the_site() -> anyhow::Result<()> {
    let folder = built_site("read");
    let service = OrderApi::with(&[("WAYBILL_DOCS__SITE", folder.to_str().unwrap())]).await;
    let api = Api::new(format!("http://{}", service.public))?;
    let get = async |path: &str| api.send(api.request(Method::GET, path)).await;
    for (path, content_type, part) in [
        ("/docs/", "text/html; charset=utf-8", "<h1>Waybill API</h1>"),
        ("/docs/first-order", "text/html; charset=utf-8", "curl http://orders.test/v1/integration/orders"),
        ("/docs/first-order.md", "text/markdown; charset=utf-8", "Service-Signature"),
        ("/docs/assets/app.js", "text/javascript; charset=utf-8", "const plain = 1;"),
        ("/docs/downloads", "text/html; charset=utf-8", "Ask your operator"),
        ("/docs/?from=mail", "text/html; charset=utf-8", "Waybill"),
    ] {
        let page = get(path).await?;
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.header("content-type"), Some(content_type), "{path}");
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{policy}");
        assert!(page.text.contains(part), "{path}: {}", page.text);
    }
    for path in ["/docs/nothing", "/docs/link.txt", "/docs/..%2f..%2fetc%2fpasswd", "/docs/first-order/"] {
        let missing = get(path).await?;
        assert_eq!(missing.status, 404, "{path}");
        assert!(missing.text.contains("No such page"), "{path}: {}", missing.text);
    }
    let refused = get("/v1/integration/orders").await?;
    assert_eq!(refused.body["docs"], "http://orders.test/docs/errors/missing_api_key");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_page_is_not_sent_again_and_a_packed_file_is_sent_on_request() -> anyhow::Result<()> {
    let folder = built_site("known");
    let service = OrderApi::with(&[("WAYBILL_DOCS__SITE", folder.to_str().unwrap())]).await;
    let api = Api::new(format!("http://{}", service.public))?;
    let get = |path: &str| api.request(Method::GET, path);
    let tag = api.send(get("/docs/first-order")).await?.header("etag").unwrap().to_owned();
    let again = api.send(get("/docs/first-order").header("if-none-match", &tag)).await?;
    assert_eq!((again.status.as_u16(), again.text.as_str()), (304, ""));
    // A file is read once.
    fs::write(folder.join("first-order.html"), "changed").unwrap();
    assert_eq!(api.send(get("/docs/first-order")).await?.header("etag"), Some(tag.as_str()));
    let script = api.send(get("/docs/assets/app.js").header("accept-encoding", "br, gzip")).await?;
    assert_eq!(script.header("vary"), Some("accept-encoding"));
    assert_eq!((script.header("content-encoding"), script.text.as_str()), (Some("gzip"), "packed"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_and_addresses_without_a_slash_lead_to_pages() -> anyhow::Result<()> {
    let folder = built_site("home");
    let service = OrderApi::with(&[("WAYBILL_DOCS__SITE", folder.to_str().unwrap())]).await;
    let api = Api::new(format!("http://{}", service.public))?;
    let home = "<h1>Waybill API</h1>";
    for (path, shown) in [("/", home), ("/docs", home), ("/docs/errors", "<h1>Errors</h1>")] {
        // The client follows the redirect.
        let answer = api.send(api.request(Method::GET, path)).await?;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, shown), "{path}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_site_the_service_serves_the_rest() -> anyhow::Result<()> {
    let service = OrderApi::with(&[("WAYBILL_DOCS__SITE", "/nowhere/site")]).await;
    let api = Api::new(format!("http://{}", service.public))?;
    let get = async |path: &str| api.send(api.request(Method::GET, path)).await;
    for path in ["/", "/docs", "/docs/", "/docs/webhooks"] {
        let missing = get(path).await?;
        assert_eq!((missing.status.as_u16(), missing.code()), (404, "not_found"), "{path}");
        assert_eq!(missing.body["docs"], serde_json::Value::Null);
    }
    assert_eq!(get("/docs/downloads").await?.status, 200);
    Ok(())
}

/// The package for Node.js.
const GUIDES_PACKAGE: &str = concat!("waybill-client-", env!("CARGO_PKG_VERSION"), ".tgz");

/// Its commands install the one above first.
const MEDUSA_PACKAGE: &str = concat!("waybill-medusa-", env!("CARGO_PKG_VERSION"), ".tgz");

/// A folder with three packages, and with files that are none. Each test has its own.
fn packages(test: &str) -> PathBuf {
    let around =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("packages-{test}-{}", std::process::id()));
    // Of an earlier process of the same id.
    let _removed = fs::remove_dir_all(&around);
    let folder = around.join("sdk");
    fs::create_dir_all(folder.join("folder.tgz")).unwrap();
    let (npm, wheel) = (GUIDES_PACKAGE, "client-1.0.0-py3-none-any.whl");
    for name in [npm, MEDUSA_PACKAGE, wheel, ".hidden.tgz", "notes.txt", "a b.tgz", "../outside.tgz"] {
        fs::write(folder.join(name), name).unwrap();
    }
    symlink("../outside.tgz", folder.join("link.tgz")).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_are_served_with_their_checksums() -> anyhow::Result<()> {
    let folder = packages("served");
    let service = OrderApi::with(&[("WAYBILL_DOCS__DOWNLOADS", folder.to_str().unwrap())]).await;
    let api = Api::new(format!("http://{}", service.public))?;
    let get = async |path: &str| api.send(api.request(Method::GET, path)).await;
    let checksums = get("/docs/downloads/SHA256SUMS").await?;
    assert_eq!(checksums.header("content-type"), Some("text/plain; charset=utf-8"));
    let page = get("/docs/downloads").await?;
    for (name, content_type, command) in [
        ("client-1.0.0-py3-none-any.whl", "application/zip", "pip install"),
        (GUIDES_PACKAGE, "application/gzip", "npm install"),
        (MEDUSA_PACKAGE, "application/gzip", "npm install"),
    ] {
        let file = get(&format!("/docs/downloads/{name}")).await?;
        assert_eq!((file.status.as_u16(), file.text.as_str()), (200, name));
        assert_eq!(file.header("content-type"), Some(content_type));
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(file.header("content-disposition"), Some(disposition.as_str()));
        let sum = file.header("etag").unwrap_or_default().trim_matches('"');
        assert!(checksums.text.contains(&format!("{sum}  {name}\n")), "{}", checksums.text);
        assert!(page.text.contains(&format!("{command} http://orders.test/docs/downloads/{name}")));
        assert!(page.text.contains(sum));
    }
    assert_eq!(checksums.text.lines().count(), 3);
    let [command, medusa] = [GUIDES_PACKAGE, MEDUSA_PACKAGE]
        .map(|name| format!("npm install http://orders.test/docs/downloads/{name}"));
    assert!(page.text.contains(&format!("{command}\n{medusa}")), "{}", page.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_package_is_not_sent_again() -> anyhow::Result<()> {
    let folder = packages("known");
    let service = OrderApi::with(&[("WAYBILL_DOCS__DOWNLOADS", folder.to_str().unwrap())]).await;
    let api = Api::new(format!("http://{}", service.public))?;
    let path = format!("/docs/downloads/{GUIDES_PACKAGE}");
    let tag = api.send(api.request(Method::GET, &path)).await?.header("etag").unwrap().to_owned();
    for (known, status) in [
        (tag.clone(), 304),
        (format!("\"other\", W/{tag}"), 304),
        ("*".to_owned(), 304),
        ("\"other\"".to_owned(), 200),
        (tag.trim_matches('"').to_owned(), 200),
    ] {
        let answer = api.send(api.request(Method::GET, &path).header("if-none-match", &known)).await?;
        assert_eq!(answer.status.as_u16(), status, "{known}");
        assert_eq!(answer.header("etag"), Some(tag.as_str()));
        assert_eq!(answer.text.is_empty(), status == 304);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_portal_learns_the_names_of_the_packages() -> anyhow::Result<()> {
    let folder = packages("named");
    let service = OrderApi::with(&[("WAYBILL_DOCS__DOWNLOADS", folder.to_str().unwrap())]).await;
    let api = Api::new(format!("http://{}", service.internal))?;
    let call = || api.request(Method::GET, "/internal/packages");
    let answer = api.send(call().bearer_auth(service.settings.internal.token.expose())).await?;
    assert_eq!(
        answer.text,
        format!("[\"client-1.0.0-py3-none-any.whl\",\"{GUIDES_PACKAGE}\",\"{MEDUSA_PACKAGE}\"]")
    );
    assert_eq!(api.send(call()).await?.status, 401);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_else_is_served() -> anyhow::Result<()> {
    let folder = packages("refused");
    let service = OrderApi::with(&[("WAYBILL_DOCS__DOWNLOADS", folder.to_str().unwrap())]).await;
    let api = Api::new(format!("http://{}", service.public))?;
    let names = [
        ".hidden.tgz",
        "notes.txt",
        "a%20b.tgz",
        "link.tgz",
        "folder.tgz",
        "outside.tgz",
        "..%2foutside.tgz",
        "%2e%2e%2foutside.tgz",
        "..%5coutside.tgz",
        "client-1.0.0-py3-none-any.whl%00",
        "client-1.0.0-py3-none-any.WHL",
        "client-1.0.0-py3-none-any.whl%2f",
        "sha256sums",
        "%ff",
    ];
    for name in names {
        let answer = api.send(api.request(Method::GET, &format!("/docs/downloads/{name}"))).await?;
        assert_eq!((answer.status.as_u16(), answer.code()), (404, "not_found"), "{name}: {}", answer.text);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_read_does_not_stop_the_service() -> anyhow::Result<()> {
    let service = OrderApi::with(&[("WAYBILL_DOCS__DOWNLOADS", "/nowhere/sdk")]).await;
    let api = Api::new(format!("http://{}", service.public))?;
    for (path, status) in [("/docs/downloads", 200), ("/docs/downloads/SHA256SUMS", 404)] {
        let answer = api.send(api.request(Method::GET, path)).await?;
        assert_eq!(answer.status.as_u16(), status, "{path}");
    }
    Ok(())
}

#[test]
fn of_a_folder_of_too_many_files_or_bytes_nothing_is_served() {
    let folder = packages("large");
    assert_eq!(Packages::load(&folder).names().count(), 3);
    let large = folder.join("large-1.0.0.tgz");
    fs::File::create(&large).unwrap().set_len(17 * 1024 * 1024).unwrap();
    assert_eq!(Packages::load(&folder).names().count(), 0);
    fs::remove_file(large).unwrap();
    for number in 0..100 {
        fs::write(folder.join(format!("{number}.txt")), "").unwrap();
    }
    assert_eq!(Packages::load(&folder).names().count(), 0);
}
