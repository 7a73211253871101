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
        ("/docs/first-order", "npm install http://orders.test/docs/downloads/waybill-client-"),
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

/// A folder with two packages, and with files that are none. Each test has its own.
fn packages(test: &str) -> PathBuf {
    let around =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("packages-{test}-{}", std::process::id()));
    // Of an earlier process of the same id.
    let _removed = fs::remove_dir_all(&around);
    let folder = around.join("sdk");
    fs::create_dir_all(folder.join("folder.tgz")).unwrap();
    let (npm, wheel) = ("client-1.0.0.tgz", "client-1.0.0-py3-none-any.whl");
    for name in [npm, wheel, ".hidden.tgz", "notes.txt", "a b.tgz", "../outside.tgz"] {
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
        ("client-1.0.0.tgz", "application/gzip", "npm install"),
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
    assert_eq!(checksums.text.lines().count(), 2);
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
        "client-1.0.0.tgz%00",
        "client-1.0.0.TGZ",
        "client-1.0.0.tgz%2f",
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
async fn without_a_folder_there_are_no_checksums() -> anyhow::Result<()> {
    let service = OrderApi::with(&[("WAYBILL_DOCS__DOWNLOADS", "/nowhere/sdk")]).await;
    let api = Api::new(format!("http://{}", service.public))?;
    for (path, status) in [("/docs/downloads", 200), ("/docs/downloads/SHA256SUMS", 404)] {
        let answer = api.send(api.request(Method::GET, path)).await?;
        assert_eq!(answer.status.as_u16(), status, "{path}");
    }
    Ok(())
}

#[test]
fn a_folder_of_too_many_files_or_bytes_is_refused() {
    let folder = packages("large");
    assert!(Packages::load(&folder).is_ok());
    let large = folder.join("large-1.0.0.tgz");
    fs::File::create(&large).unwrap().set_len(17 * 1024 * 1024).unwrap();
    assert!(Packages::load(&folder).is_err());
    fs::remove_file(large).unwrap();
    for number in 0..100 {
        fs::write(folder.join(format!("{number}.txt")), "").unwrap();
    }
    assert!(Packages::load(&folder).is_err());
}
