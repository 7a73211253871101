//! The integration API refuses browsers (SPECIFICATION §1.7).

use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};

use test_kit::smallest_order;

use crate::harness::OrderApi;

#[tokio::test(flavor = "multi_thread")]
async fn browsers_are_refused() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let api = business.integration("")?.api;
    let send = |method: Method, path: &str, headers: &[(&'static str, &'static str)]| {
        let body = smallest_order("from-a-page");
        let mut request = api.request(method, path).bearer_auth(&business.test_key).json(&body);
        for (name, value) in headers {
            request = request.header(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        api.send(request.header("Idempotency-Key", "from-a-page"))
    };
    let from_page =
        [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors"), ("origin", "https://shop.example")];
    let preflight = [("origin", "https://shop.example"), ("access-control-request-method", "POST")];
    for (method, path, headers) in [
        (Method::POST, "/integration/orders", &from_page[..]),
        (Method::POST, "/integration/orders", &from_page[..1]),
        (Method::POST, "/integration/orders", &from_page[2..]),
        (Method::GET, "/integration/orders", &from_page[..]),
        (Method::GET, "/integration/orders/ord_nothing", &[("sec-fetch-mode", "navigate")]),
        (Method::OPTIONS, "/integration/orders", &preflight),
        (Method::OPTIONS, "/integration/orders/ord_nothing/cancel", &preflight),
        (Method::GET, "/integration/nothing", &from_page[..]),
    ] {
        let refused = send(method.clone(), path, headers).await?;
        assert_eq!(
            (refused.status.as_u16(), refused.code()),
            (403, "backend_only"),
            "{method} {path} {headers:?}"
        );
        assert!(refused.body["message"].as_str().is_some_and(|message| message.contains("backend")));
        let cors = refused.headers.keys().find(|name| name.as_str().starts_with("access-control-"));
        assert_eq!(cors, None);
    }
    assert_eq!(service.count("orders").await, 0);

    // The headers that `fetch` of Node.js sends by default.
    let node = [("sec-fetch-mode", "cors"), ("accept-language", "*"), ("user-agent", "node")];
    let placed = send(Method::POST, "/integration/orders", &node).await?;
    assert_eq!(placed.status, 201, "{}", placed.text);
    Ok(())
}
