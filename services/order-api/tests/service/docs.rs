//! The public documentation of the API.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use demo::clients::Api;
use order_api::routes::Packages;
use reqwest::Method;

use crate::harness::OrderApi;

#[tokio::test(flavor = "multi_thread")]
async fn anyone_can_read_the_guides() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let api = Api::new(format!("http://{}", service.public))?;
    let get = async |path: &str| api.send(api.request(Method::GET, path)).await;
    for (path, part) in [
        ("/docs", "href=\"/docs/webhooks\""),
        // It serves no packages.
        ("/docs/first-order", "Ask your operator for waybill-client-"),
        ("/docs/first-order", "npm install ./waybill-client-"),
        ("/docs/never-twice", "id=\"without-a-package\""),
        ("/docs/webhook-reference", "id=\"verifying\""),
        ("/docs/downloads", "Ask your operator"),
    ] {
        let page = get(path).await?;
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'") && page.text.contains(part), "{path}: {policy}");
    }
    let missing = get("/docs/webhooks.md").await?;
    assert_eq!((missing.status.as_u16(), missing.code()), (404, "not_found"));
    Ok(())
}

/// The package for Node.js that the guides install.
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
    let guide = get("/docs/first-order").await?.text;
    let [command, medusa] = [GUIDES_PACKAGE, MEDUSA_PACKAGE]
        .map(|name| format!("npm install http://orders.test/docs/downloads/{name}"));
    for text in [&page.text, &get("/docs/medusa").await?.text] {
        assert!(text.contains(&format!("{command}\n{medusa}")), "{text}");
    }
    assert!(guide.contains(&command) && !guide.contains(&format!("Ask your operator for {GUIDES_PACKAGE}")));
    // They are not in the folder.
    assert!(guide.contains(".crate, and save it in this folder.\ntar xzf waybill-client-"));
    let wheel = concat!("waybill-", env!("CARGO_PKG_VERSION"), "-py3");
    assert!(guide.contains(&format!("Ask your operator for {wheel}")));
    assert!(!guide.contains(&format!("orders.test/docs/downloads/{wheel}")));
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
