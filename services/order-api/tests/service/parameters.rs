//! Unknown query parameters, and API keys outside of the `Authorization` header.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use test_kit::smallest_order;

use crate::harness::{OrderApi, text};

/// Each operation of the OpenAPI document.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_parameter_is_refused() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let order = business.test()?.create("first", &smallest_order("first")).await?.expect(201)?;
    let api = business.integration("")?.api;
    let origin = format!("http://{}", service.public);
    let document: Value =
        serde_json::from_str(include_str!("../../../../proto-docs/openapi/order-api.json"))?;
    let paths = document["paths"].as_object().cloned().unwrap_or_default();
    let mut called = 0;
    for (path, methods) in &paths {
        let path = path.replace("{id}", &text(&order, "id"));
        let path = path.replace("{trackingCode}", &text(&order, "trackingCode"));
        let token = match path.starts_with("/v1/fleet") {
            true => service.settings.fleet.token.expose(),
            false => business.test_key.as_str(),
        };
        for method in [Method::GET, Method::POST] {
            if methods.get(method.as_str().to_lowercase()).is_none() {
                continue;
            }
            let api = demo::clients::Api::new(origin.clone())?;
            let request = api.request(method.clone(), &format!("{path}?dryRun=true")).bearer_auth(token);
            let request = request.header("Idempotency-Key", "second").json(&smallest_order("second"));
            let answer = api.send(request).await?;
            if path.starts_with("/track/") {
                assert_eq!(answer.status, 200, "a page ignores what it does not know");
                continue;
            }
            assert_eq!((answer.status.as_u16(), answer.code()), (400, "invalid_request"), "{method} {path}");
            let error = &answer.body["errors"][0];
            assert_eq!((&error["field"], &error["code"]), (&json!("dryRun"), &json!("unknown_parameter")));
            called += 1;
        }
    }
    assert!(called >= 9, "{called} calls");
    assert_eq!(service.count("orders WHERE order_reference = 'second'").await, 0);
    // With a valid key in the header, a key in the query is an unknown parameter.
    let request = api.request(Method::GET, &format!("/integration/orders/{}?api_key=x", text(&order, "id")));
    assert_eq!(api.send(request.bearer_auth(&business.test_key)).await?.status, 400);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_corrects_an_address() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let api = demo::clients::Api::new(format!("http://{}", service.public))?;
    let orders = "The base URL ends with /v1, so the address is /v1/integration/orders.";
    let own = "orders?orderReference=A%2F1";
    for (method, path, code, hint) in [
        (Method::POST, "/v1/integration/orders/", "not_found", "at the end: /v1/integration/orders."),
        (Method::POST, "/integration/orders", "not_found", orders),
        (Method::POST, "/v1/v1/integration/orders", "not_found", orders),
        (Method::POST, "/v1//integration/orders/", "not_found", orders),
        (Method::GET, "/v1/integration/nothing", "not_found", "There is nothing at this address."),
        (Method::GET, "/v1/integration/orders/A%2F1", "order_not_found", own),
        (Method::GET, "/v1/integration/orders/A%2F1/events", "order_not_found", own),
        (Method::POST, "/v1/integration/orders/A%2F1/cancel", "order_not_found", own),
        (Method::GET, "/v1/integration/orders/ord_…", "order_not_found", "Use the id of the response"),
        (
            Method::POST,
            "/v1/integration/orders/ord_…/simulate",
            "order_not_found",
            "Use the id of the response",
        ),
    ] {
        let request = api.request(method, path).bearer_auth(&business.test_key);
        let missing = api.send(request.json(&json!({ "event": "auto" }))).await?;
        assert_eq!((missing.status.as_u16(), missing.code()), (404, code), "{path}");
        let message = text(&missing.body, "message");
        assert!(message.contains(hint), "{path}: {message}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_says_where_a_misplaced_key_belongs() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let (api, key) = (business.integration("")?.api, business.test_key.as_str());
    let call = |path: &str| api.request(Method::GET, path);
    let orders = "/integration/orders";
    let in_query = |name: &str| call(&format!("{orders}?{name}={key}"));
    let authorized = |value: String| call(orders).header("Authorization", value);
    let cases: [(RequestBuilder, &str); 14] = [
        (in_query("api_key"), "not in the query"),
        (in_query("anything"), "not in the query"),
        (call(&format!("{orders}?apiKey=x")), "not in the query"),
        (call(&format!("{orders}?api_key=x")).bearer_auth("nonsense"), "not in the query"),
        (call(orders).header("X-Api-Key", key), "not in X-Api-Key"),
        (authorized(key.to_owned()), "Write Bearer and a space"),
        (authorized("Bearer ".to_owned()), "no key after Bearer"),
        (authorized(format!("Bearer Bearer {key}")), "Write Bearer once"),
        (authorized(format!("Bearer \"{key}\"")), "without quotes"),
        (authorized("Bearer $WAYBILL_KEY".to_owned()), "without quotes"),
        (call(orders).basic_auth(key, Some("")), "not sent as Basic"),
        (
            authorized("Bearer sk_test_waybill_REPLACE_WITH_YOUR_KEY".to_owned()),
            "the placeholder of an example",
        ),
        (authorized("Bearer sk_test_…".to_owned()), "the placeholder of an example"),
        (call(orders), "Send your API key"),
    ];
    for (request, message) in cases {
        let refused = api.send(request).await?;
        assert_eq!((refused.status.as_u16(), refused.code()), (401, "missing_api_key"), "{message}");
        let named = text(&refused.body, "message");
        assert!(named.contains(message) && named.contains("Authorization: Bearer <API_KEY>"), "{named}");
        assert!(!refused.text.contains(key), "the key is repeated");
    }
    Ok(())
}
