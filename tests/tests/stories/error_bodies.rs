//! The error bodies of order-api, in snapshots next to this file. Those of a business's own errors with an order (422,
//! 402, 403, two of the 409) are in `idempotency.rs`, those of the limits (429) in order-api's own tests.
//!
//! A change here affects every integrator. `INSTA_UPDATE=always cargo test -p waybill-tests --test stories
//! error_bodies` updates the snapshots.

use std::fmt::Write as _;

use anyhow::Context;
use demo::clients::{Api, Integration, Reply};
use demo::eventually;
use local_stack::{Service, Stack};
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use waybill_tests::{Business, PATIENCE, smallest_order, text};

/// Headers that belong to an error.
const RECORDED_HEADERS: [&str; 6] =
    ["allow", "www-authenticate", "retry-after", "accept-encoding", "ratelimit-policy", "content-type"];

/// The responses, one after the other.
#[derive(Default)]
struct Recorded(String);

impl Recorded {
    fn add(&mut self, case: &str, reply: &Reply) -> anyhow::Result<()> {
        let mut body = reply.body.clone();
        assert!(body["message"].is_string(), "{case}: {}", reply.text);
        assert_eq!(reply.header("Request-Id"), body["requestId"].as_str(), "{case}: {}", reply.text);
        body["requestId"] = json!("req_…");
        // Only with the built documentation.
        if let Some(docs) = body.as_object_mut().and_then(|fields| fields.remove("docs")) {
            let page = format!("/docs/errors/{}", body["code"].as_str().unwrap_or_default());
            assert!(docs.as_str().is_some_and(|docs| docs.ends_with(&page)), "{case}: {docs}");
        }
        writeln!(self.0, "### {case}\n{}", reply.status.as_u16())?;
        for name in RECORDED_HEADERS {
            if let Some(value) = reply.header(name).filter(|value| *value != "application/json") {
                // The exact wait depends on milliseconds.
                let value = if name == "retry-after" { "…" } else { value };
                writeln!(self.0, "{name}: {value}")?;
            }
        }
        writeln!(self.0, "{body:#}\n")?;
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn error_bodies_match_the_snapshots() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(1_000_000).await?;
    // order-api waits ten seconds for it. Meanwhile, it answers the others.
    let slow = tokio::spawn(slow_body(stack.order_api_origin(), business.test_key.clone()));
    let mut requests = requests(&stack, &business).await?;
    insta::assert_snapshot!("orders", orders(&business).await?.0);
    insta::assert_snapshot!("fleet_and_tracking", fleet_and_tracking(&stack, &business).await?.0);
    insta::assert_snapshot!("outages", outages(&stack, &business).await?.0);
    requests.add("a body that does not arrive", &slow.await??)?;
    insta::assert_snapshot!("requests", requests.0);
    stack.shut_down().await
}

/// Errors of the request itself, independent of its order.
async fn requests(stack: &Stack, business: &Business) -> anyhow::Result<Recorded> {
    let api = Api::new(stack.order_api())?;
    let mut log = Recorded::default();
    let bare = |method: Method, path: &str| api.request(method, path);
    let with_key = |method: Method, path: &str| api.request(method, path).bearer_auth(&business.test_key);
    let twice = |name: &'static str, one: &str, other: &str| {
        bare(Method::POST, "/integration/orders").header(name, one).header(name, other).json(&json!({}))
    };
    let bearer = format!("Bearer {}", business.test_key);
    for (case, request) in [
        ("no key", bare(Method::GET, "/integration/orders")),
        (
            "a scheme other than Bearer",
            bare(Method::GET, "/integration/orders").header(AUTHORIZATION, "Basic eDp5"),
        ),
        ("an invalid key", bare(Method::GET, "/integration/orders").bearer_auth("nonsense")),
        ("two Authorization headers", twice("Authorization", &bearer, "Bearer other")),
        (
            "a call from a web page",
            with_key(Method::GET, "/integration/orders").header("Origin", "https://shop.example"),
        ),
        ("an unknown path", with_key(Method::GET, "/integration/nothing")),
        ("another method", with_key(Method::DELETE, "/integration/orders")),
        ("OPTIONS", bare(Method::OPTIONS, "/integration/orders/ord_x/cancel")),
        ("no Idempotency-Key", with_key(Method::POST, "/integration/orders").json(&json!({}))),
        ("two Idempotency-Keys", twice("Idempotency-Key", "a", "b").bearer_auth(&business.test_key)),
        (
            "a long Idempotency-Key",
            with_key(Method::POST, "/integration/orders")
                .header("Idempotency-Key", "k".repeat(256))
                .json(&json!({})),
        ),
    ] {
        log.add(case, &api.send(request).await?)?;
    }
    bodies(stack, business, &mut log).await?;
    Ok(log)
}

/// Errors of a body, of a list's parameters, and the formats of an error.
async fn bodies(stack: &Stack, business: &Business, log: &mut Recorded) -> anyhow::Result<()> {
    let api = Api::new(stack.order_api())?;
    let bare = |method: Method, path: &str| api.request(method, path);
    let with_key = |method: Method, path: &str| api.request(method, path).bearer_auth(&business.test_key);
    let create = || with_key(Method::POST, "/integration/orders").header("Idempotency-Key", "k");
    let post = || create().header(CONTENT_TYPE, "application/json");
    let body = smallest_order("r").to_string();
    for (case, request) in [
        ("no Content-Type", create().body(body.clone())),
        ("another Content-Type", create().header(CONTENT_TYPE, "text/plain").body(body.clone())),
        (
            "another charset",
            create().header(CONTENT_TYPE, "application/json; charset=latin1").body(body.clone()),
        ),
        ("a compressed body", post().header(CONTENT_ENCODING, "gzip").body(body.clone())),
        ("no body", post()),
        ("an incomplete JSON body", post().body("{\"orderReference\":")),
        ("a field twice", post().body("{\"a\":1,\"a\":2}")),
        ("bytes that are not UTF-8", post().body(vec![b'"', 0xff, b'"'])),
        ("no object", post().body("[]")),
        ("a large body", post().body(format!("\"{}\"", "x".repeat(300 * 1024)))),
        (
            "all errors of a list",
            with_key(
                Method::GET,
                "/integration/orders?limit=0&status=lost&status=x&trackingCode=1&orderReference=&startingAfter=&page=2",
            ),
        ),
        (
            "an unknown cursor",
            with_key(Method::GET, "/integration/orders?startingAfter=ord_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        ("text/html wanted", bare(Method::GET, "/integration/orders").header("Accept", "text/html")),
        (
            "problem details requested",
            bare(Method::GET, "/integration/orders").header("Accept", "application/problem+json"),
        ),
    ] {
        log.add(case, &api.send(request).await?)?;
    }
    let charset =
        api.send(create().header(CONTENT_TYPE, "application/json; charset=utf-8").body(body)).await?;
    assert_eq!(charset.status, 201, "{}", charset.text);
    Ok(())
}

/// Sends less than announced, and waits.
async fn slow_body(origin: String, key: String) -> anyhow::Result<Reply> {
    let mut stream = TcpStream::connect(origin.trim_start_matches("http://")).await?;
    let head = format!(
        "POST /v1/integration/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nIdempotency-Key: slow\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await?;
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await.context("no answer")??;
    let (head, body) = answer.split_once("\r\n\r\n").context("no head")?;
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?;
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| Ok((name.parse()?, value.parse()?)));
    let headers = headers.collect::<anyhow::Result<_>>()?;
    Ok(Reply { status: status.parse()?, headers, text: body.to_owned(), body: serde_json::from_str(body)? })
}

async fn orders(business: &Business) -> anyhow::Result<Recorded> {
    let mut log = Recorded::default();
    let (test, live) = (business.integration(&business.test_key)?, business.live()?);
    let order = text(&test.create("e", &smallest_order("e")).await?.expect(201)?, "id")?;
    let (get, post) = (Method::GET, Method::POST);
    let simulate = |event: &str| json!({ "event": event });
    let unknown = "/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let call = async |log: &mut Recorded,
                      case: &str,
                      key: &Integration,
                      method: &Method,
                      path: &str,
                      body: Option<Value>| {
        log.add(case, &key.call(method.clone(), path, body.as_ref()).await?)
    };
    call(&mut log, "an unknown order", &test, &get, unknown, None).await?;
    call(&mut log, "an order of the other mode", &live, &get, &format!("/{order}"), None).await?;
    call(&mut log, "events of an unknown order", &test, &get, &format!("{unknown}/events"), None).await?;
    call(&mut log, "cancelling an unknown order", &test, &post, &format!("{unknown}/cancel"), None).await?;
    call(
        &mut log,
        "a reason that is not a string",
        &test,
        &post,
        &format!("/{order}/cancel"),
        Some(json!({ "reason": 1 })),
    )
    .await?;
    call(
        &mut log,
        "simulating a live order",
        &live,
        &post,
        &format!("/{order}/simulate"),
        Some(simulate("auto")),
    )
    .await?;
    call(&mut log, "an unknown event", &test, &post, &format!("/{order}/simulate"), Some(simulate("lost")))
        .await?;
    call(
        &mut log,
        "an illegal event",
        &test,
        &post,
        &format!("/{order}/simulate"),
        Some(simulate("order.delivered")),
    )
    .await?;
    for event in ["driver.assigned", "order.picked_up"] {
        test.call(Method::POST, &format!("/{order}/simulate"), Some(&simulate(event))).await?.expect(200)?;
    }
    call(&mut log, "cancelling after the pickup", &test, &post, &format!("/{order}/cancel"), None).await?;
    test.call(Method::POST, &format!("/{order}/simulate"), Some(&simulate("order.failed")))
        .await?
        .expect(200)?;
    call(
        &mut log,
        "simulating a completed order",
        &test,
        &post,
        &format!("/{order}/simulate"),
        Some(simulate("auto")),
    )
    .await?;
    Ok(log)
}

async fn fleet_and_tracking(stack: &Stack, business: &Business) -> anyhow::Result<Recorded> {
    let mut log = Recorded::default();
    let order = text(&business.live()?.create("f", &smallest_order("f")).await?.expect(201)?, "id")?;
    let report = |id: &str, event: &str| json!({ "eventId": id, "event": event, "occurredAt": "2026-01-31T09:30:00Z" });
    let api = Api::new(stack.order_api())?;
    let stranger = api.request(Method::GET, "/fleet/orders").bearer_auth("nonsense");
    log.add("an invalid fleet token", &api.send(stranger).await?)?;
    log.add("an order list with errors", &business.fleet.orders("?updatedAfter=x&limit=101&since=1").await?)?;
    log.add(
        "a report about an unknown order",
        &business.fleet.send("ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", &report("1", "driver.assigned")).await?,
    )?;
    log.add(
        "a report with errors",
        &business.fleet.send(&order, &json!({ "eventId": "a\u{200b}b", "event": "cod.settled" })).await?,
    )?;
    log.add("an illegal report", &business.fleet.send(&order, &report("1", "order.delivered")).await?)?;
    business.fleet.send(&order, &report("1", "driver.assigned")).await?.expect(200)?;
    log.add(
        "an eventId for another report",
        &business.fleet.send(&order, &report("1", "order.picked_up")).await?,
    )?;
    log.add("an unknown tracking code", &api.send(api.request(Method::GET, "/tracking/TEST-1234")).await?)?;
    Ok(log)
}

/// The wallet hangs, then key-management is unreachable.
async fn outages(stack: &Stack, business: &Business) -> anyhow::Result<Recorded> {
    let mut log = Recorded::default();
    let live = business.live()?;
    live.create("warm", &smallest_order("warm")).await?.expect(201)?;
    stack.pause(Service::Wallet)?;
    let first = tokio::spawn({
        let live = live.clone();
        async move { live.create("first", &smallest_order("contended")).await }
    });
    let sql = "SELECT count(*) FROM orders WHERE order_reference = 'contended'";
    eventually("the first order to be stored", PATIENCE, || async {
        Ok((stack.query(Service::OrderApi, sql).await?.trim() == "1").then_some(()))
    })
    .await?;
    log.add(
        "a reference whose payment is in progress",
        &live.create("second", &smallest_order("contended")).await?,
    )?;
    log.add("an Idempotency-Key in use", &live.create("first", &smallest_order("contended")).await?)?;
    log.add("a hanging wallet", &first.await??)?;
    stack.resume(Service::Wallet)?;
    let other =
        business.portal.post("/api-keys", &json!({ "mode": "test", "name": "other" })).await?.expect(201)?;
    stack.stop(Service::KeyManagement).await?;
    let other = business.integration(&text(&other, "key")?)?;
    log.add("a key that cannot be verified", &other.call(Method::GET, "", None).await?)?;
    stack.bring_up(Service::KeyManagement).await?;
    Ok(log)
}
