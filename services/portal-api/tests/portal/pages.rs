//! The built pages, their headers, and the public settings.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use reqwest::Response;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::portal::Portal;

pub(crate) const INDEX: &str = "<!doctype html><title>the pages</title>";

/// A folder of built pages, next to an unrelated file. Each test has its own.
pub(crate) fn built(test: &str) -> PathBuf {
    let around = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pages-{test}-{}", std::process::id()));
    // Of an earlier process of the same id.
    let _removed = fs::remove_dir_all(&around);
    let folder = around.join("dist");
    fs::create_dir_all(folder.join("assets/fonts")).unwrap();
    let files = [
        ("index.html", INDEX),
        ("index.html.br", "index as br"),
        ("favicon.svg", "<svg/>"),
        ("assets/main-1a2b.js", "console.log(1)"),
        ("assets/main-1a2b.js.br", "script as br"),
        ("assets/main-1a2b.js.gz", "script as gzip"),
        ("assets/fonts/inter-3c4d.woff2", "font"),
        (".env", "secret"),
        ("../outside.txt", "secret"),
    ];
    for (name, content) in files {
        fs::write(folder.join(name), content).unwrap();
    }
    std::os::unix::fs::symlink("../outside.txt", folder.join("link.txt")).unwrap();
    folder
}

async fn portal(test: &str) -> Portal {
    Portal::with(&[("WAYBILL_PAGES__FOLDER", built(test).to_str().unwrap())]).await
}

async fn get(portal: &Portal, path: &str, headers: &[(&str, &str)]) -> Response {
    let client =
        headers.iter().fold(portal.stranger(), |client, (name, value)| client.with_header(name, value));
    client.open(path).await
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
}

/// As it is written, which no HTTP client lets pass.
pub(crate) async fn get_as_written(address: SocketAddr, path: &str) -> String {
    let mut line = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    line.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    line.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn every_page_is_drawn_by_the_index_and_files_are_themselves() {
    let portal = portal("files").await;
    for path in ["/", "/orders", "/orders/ord_1?mode=test", "/operator/businesses", "/index.html"] {
        let page = get(&portal, path, &[]).await;
        assert_eq!(page.status(), 200, "{path}");
        assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
        assert_eq!(header(&page, "cache-control"), "no-cache");
        assert_eq!(page.text().await.unwrap(), INDEX);
    }
    let script = get(&portal, "/assets/main-1a2b.js", &[]).await;
    assert_eq!(header(&script, "content-type"), "text/javascript; charset=utf-8");
    assert_eq!(header(&script, "cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(script.text().await.unwrap(), "console.log(1)");
    let font = get(&portal, "/assets/fonts/inter-3c4d.woff2", &[]).await;
    assert_eq!((font.status().as_u16(), header(&font, "content-type")), (200, "font/woff2"));
    assert_eq!(header(&get(&portal, "/favicon.svg", &[]).await, "cache-control"), "no-cache");
    for path in ["/assets/main-0000.js", "/robots.txt", "/.env", "/link.txt", "/main.js.map"] {
        let none = get(&portal, path, &[]).await;
        assert_eq!(none.status(), 404, "{path}");
        assert_eq!(none.json::<serde_json::Value>().await.unwrap()["code"], "not_found");
    }
}

#[tokio::test]
async fn calls_of_the_api_learn_its_base_url() {
    let portal = portal("base-url").await;
    let mut client = portal.stranger();
    let answers = [
        client.get("/integration/orders").await,
        client.post("/integration/orders", json!({})).await,
        client.post("/v1/integration/orders?x=1", json!({})).await,
    ];
    for answer in answers {
        assert_eq!((answer.status, answer.code()), (404, "not_found"));
        let message = answer.body["message"].as_str().unwrap_or_default();
        assert!(message.contains("to its base URL, http"), "{message}");
    }
}

#[tokio::test]
async fn compressed_files_are_served_to_browsers_that_accept_them() {
    let portal = portal("compressed").await;
    for (accepted, encoding, content) in [
        ("gzip, deflate, br", "br", "script as br"),
        ("gzip", "gzip", "script as gzip"),
        ("br;q=0, gzip;q=0.5", "gzip", "script as gzip"),
        ("identity", "", "console.log(1)"),
        ("brotli", "", "console.log(1)"),
    ] {
        let script = get(&portal, "/assets/main-1a2b.js", &[("accept-encoding", accepted)]).await;
        assert_eq!(header(&script, "content-encoding"), encoding, "{accepted}");
        assert_eq!(header(&script, "vary"), "accept-encoding");
        assert_eq!(header(&script, "content-type"), "text/javascript; charset=utf-8");
        assert_eq!(script.text().await.unwrap(), content);
    }
    let icon = get(&portal, "/favicon.svg", &[("accept-encoding", "br")]).await;
    assert_eq!(header(&icon, "content-encoding"), "");
    assert_eq!(get(&portal, "/assets/main-1a2b.js.br", &[]).await.status(), 404, "a form, not a file");
}

#[tokio::test]
async fn a_page_that_has_not_changed_is_not_sent_again() {
    let portal = portal("unchanged").await;
    let tag = header(&get(&portal, "/", &[]).await, "etag").to_owned();
    let again = get(&portal, "/orders", &[("if-none-match", &format!("\"x\", {tag}"))]).await;
    assert_eq!((again.status().as_u16(), header(&again, "etag")), (304, tag.as_str()));
    assert!(!header(&again, "content-security-policy").is_empty());
    let compressed = get(&portal, "/", &[("if-none-match", &tag), ("accept-encoding", "br")]).await;
    assert_eq!(
        (compressed.status().as_u16(), compressed.text().await.unwrap().as_str()),
        (200, "index as br")
    );
}

#[tokio::test]
async fn the_content_security_policy_allows_only_own_content() {
    let portal = portal("headers").await;
    for path in ["/", "/assets/main-1a2b.js"] {
        let page = get(&portal, path, &[]).await;
        let policy = header(&page, "content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self';",
            "connect-src 'self';",
            "frame-ancestors 'none'",
            "frame-src 'none'",
        ] {
            assert!(policy.contains(part), "{part}: {policy}");
        }
        assert_eq!(header(&page, "x-content-type-options"), "nosniff");
        assert_eq!(header(&page, "referrer-policy"), "no-referrer");
        // A payment page in its own window reports the result to the portal.
        assert_eq!(header(&page, "cross-origin-opener-policy"), "same-origin-allow-popups");
        assert_eq!(
            header(&page, "strict-transport-security"),
            "",
            "this portal is published over plain HTTP"
        );
    }
    let folder = built("https");
    let secure = Portal::with(&[
        ("WAYBILL_PAGES__FOLDER", folder.to_str().unwrap()),
        ("WAYBILL_PUBLIC__URL", "https://portal.example.com"),
        ("WAYBILL_PAGES__PAYMENT_ORIGINS", "https://pay.example"),
    ])
    .await;
    let page = get(&secure, "/", &[]).await;
    assert_eq!(header(&page, "strict-transport-security"), "max-age=31536000");
    let policy = header(&page, "content-security-policy");
    for part in ["script-src 'self' https://pay.example;", "frame-src https://pay.example;"] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
}

#[tokio::test]
async fn no_path_leaves_the_folder() {
    let portal = portal("inside").await;
    for path in [
        "/../outside.txt",
        "/assets/../../outside.txt",
        "/%2e%2e/outside.txt",
        "/..%2foutside.txt",
        "/assets/%2e%2e/%2e%2e/outside.txt",
        "//outside.txt",
        "/..\\outside.txt",
        "/./.env",
        "/%00/../outside.txt",
        "http://x/../outside.txt",
    ] {
        let answer = get_as_written(portal.public, path).await;
        assert!(!answer.contains("secret"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn calls_are_never_pages() {
    let portal = portal("calls").await;
    for path in ["/v1", "/v1/", "/v1/nothing", "/v1/portal/nothing", "/health/live", "/metrics"] {
        let answer = get(&portal, path, &[]).await;
        assert_eq!(header(&answer, "content-type"), "application/json", "{path}");
        assert!([401, 404].contains(&answer.status().as_u16()), "{path}: {}", answer.status());
    }
    let posted = portal.stranger().post("/orders", json!({})).await;
    assert_eq!((posted.status, posted.code()), (405, "method_not_allowed"));
}

#[tokio::test]
async fn without_pages_this_is_an_api_alone() {
    let empty = built("empty");
    fs::remove_file(empty.join("index.html")).unwrap();
    for portal in [
        Portal::start().await,
        Portal::with(&[("WAYBILL_PAGES__FOLDER", empty.to_str().unwrap())]).await,
        Portal::with(&[("WAYBILL_PAGES__FOLDER", "/nowhere/dist")]).await,
    ] {
        for path in ["/", "/orders", "/assets/main-1a2b.js"] {
            let answer = portal.stranger().get(path).await;
            assert_eq!((answer.status, answer.code()), (404, "not_found"), "{path}");
        }
    }
}

#[tokio::test]
async fn pages_learn_the_brand_and_the_integrators_address_before_a_log_in() {
    let portal = Portal::with(&[
        ("WAYBILL_BRAND__NAME", "Acme Parcels"),
        ("WAYBILL_BRAND__ACCENT_COLOR", "#aa3300"),
        ("WAYBILL_BRAND__KEY_SEGMENT", "acme"),
        ("WAYBILL_PUBLIC__API_URL", "https://api.acme.example/v1/"),
        ("WAYBILL_PUBLIC__WEBHOOK_ADDRESSES", "203.0.113.7, 2001:db8::/64"),
        ("WAYBILL_EVENTS__ATTEMPTS", "true"),
    ])
    .await;
    let config = portal.stranger().get("/v1/portal/config").await;
    assert_eq!(config.status, 200);
    assert_eq!(config.body["brand"], json!({ "name": "Acme Parcels", "accentColor": "#aa3300" }));
    assert_eq!(config.body["headerPrefix"], "Service");
    assert_eq!(config.body["keySegment"], "acme");
    assert_eq!(config.body["apiBaseUrl"], "https://api.acme.example/v1");
    assert_eq!(config.body["portalUrl"], "http://portal.test");
    assert_eq!(config.body["webhookAddresses"], json!(["203.0.113.7", "2001:db8::/64"]));
    assert_eq!(config.body["attemptEvents"], true);
    assert_eq!(config.body["currency"], "INR");
    assert_eq!(config.body["mail"]["enabled"], false);
    assert_eq!(config.body["roles"][0], "owner");
}
