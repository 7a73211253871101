//! The public documentation of the API.

use demo::clients::Api;
use reqwest::Method;

use crate::harness::OrderApi;

#[tokio::test(flavor = "multi_thread")]
async fn anyone_can_read_the_guides() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let api = Api::new(format!("http://{}", service.public))?;
    let get = async |path: &str| api.send(api.request(Method::GET, path)).await;
    for (path, part) in [
        ("/docs", "href=\"/docs/webhooks\""),
        ("/docs/quick-start", "href=\"/docs/go-live\""),
        ("/docs/go-live", "id=\"retries-and-idempotency\""),
        ("/docs/webhooks", "id=\"verifying\""),
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
