//! The edge and the layers behind it, over real connections.

mod probes;

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use actix_web::middleware::from_fn;
use actix_web::web::{ServiceConfig, get, post, resource, scope};
use actix_web::{HttpResponse, web as actix};
use domain::{Clock, Entropy};
use futures_util::poll;
use serde_json::Value;
use settings::{Callers, Internal, Secret};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{LocalSet, spawn_local};
use tokio_util::sync::CancellationToken;
use web::{ApiError, BodyDeadline, JsonBody, RequestEdge, ServeOptions, listen, require_internal_token};

fn routes(config: &mut ServiceConfig) {
    config
        .app_data(actix::Data::new(Internal { token: Secret::new("the-token"), ..Internal::default() }))
        .service(
            resource("/echo")
                .route(post().to(|body: JsonBody| async move { HttpResponse::Ok().json(body.0) })),
        )
        .service(
            resource("/hurried")
                .app_data(BodyDeadline(Duration::from_millis(300)))
                .route(post().to(|body: JsonBody| async move { HttpResponse::Ok().json(body.0) })),
        )
        .service(resource("/fail").route(get().to(|| async {
            Err::<HttpResponse, _>(
                ApiError::not_found("thing_not_found", "thing").with("hint", "look elsewhere"),
            )
        })))
        .service(
            resource("/both")
                .route(get().to(|| async { HttpResponse::Ok().json([1, 2, 3]) }))
                .route(post().to(|body: JsonBody| async move { HttpResponse::Ok().json(body.0) })),
        )
        .service(resource("/kept").route(get().to(|| async {
            HttpResponse::Ok().insert_header(("cache-control", "public, max-age=300")).finish()
        })))
        .service(resource("/stream").route(get().to(|| async {
            HttpResponse::Ok()
                .streaming(futures_util::stream::pending::<Result<actix::Bytes, std::io::Error>>())
        })))
        .service(
            scope("/internal")
                .wrap(from_fn(require_internal_token))
                .service(resource("/x").route(get().to(|| async { HttpResponse::Ok().finish() }))),
        );
}

/// Serves the routes during a test, which may stop them.
async fn serving(
    options: ServeOptions,
    routes: impl Fn(&mut ServiceConfig) + Send + 'static,
    test: impl AsyncFnOnce(SocketAddr, CancellationToken),
) -> std::io::Result<()> {
    let error_docs = Some("https://api.example/docs/errors/".into());
    let edge = RequestEdge { clock: Clock::system(), entropy: Entropy::seeded(1), error_docs };
    let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0)), options, edge, routes)?;
    let (address, stop) = (listener.address, CancellationToken::new());
    LocalSet::new()
        .run_until(async {
            let server = spawn_local(listener.serve(stop.clone()));
            test(address, stop.clone()).await;
            stop.cancel();
            server.await?
        })
        .await
}

/// Sends raw bytes and reads the response: status line, headers, and the body as JSON.
async fn exchange(address: SocketAddr, request: &str) -> std::io::Result<(String, Value)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    Ok((head.to_lowercase(), serde_json::from_str(body).unwrap_or_default()))
}

#[tokio::test]
async fn named_callers_are_accepted_with_each_of_their_tokens_and_nobody_else() {
    let routes = |config: &mut ServiceConfig| {
        let (orders, portal) = (Secret::new("new-of-orders,old-of-orders"), Secret::new("of-portal"));
        let callers = Callers { order_api: Some(orders), portal_api: Some(portal), wallet: None };
        let internal = Internal { token: Secret::new("the-token"), callers };
        let x = resource("/x").wrap(from_fn(require_internal_token)).to(|| async { "" });
        config.app_data(actix::Data::new(internal)).service(x);
    };
    serving(ServeOptions::INTERNAL, routes, async |address, _| {
        for (token, status) in [
            ("new-of-orders", 200),
            ("old-of-orders", 200),
            ("of-portal", 200),
            ("the-token", 401),
            ("of-wallet", 401),
            ("new-of-orders,old-of-orders", 401),
        ] {
            let request = format!(
                "GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
            );
            let (head, body) = exchange(address, &request).await.unwrap();
            assert!(head.starts_with(&format!("http/1.1 {status}")), "{token}: {head}");
            assert!(status == 200 || body["code"] == "internal_token_invalid", "{token}: {body}");
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn every_response_has_a_request_id_and_every_error_a_body() {
    serving(ServeOptions::INTERNAL, routes, async |address, _| {
    let end = "Host: x\r\nConnection: close\r\n";
    let post = |body: &str| {
        format!(
            "POST /echo HTTP/1.1\r\n{end}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    for (request, status, code) in [
        (post("{\"a\":1}"), 200, None),
        (post("{\"a\":1,\"a\":2}"), 400, Some("malformed_json")),
        (post("{"), 400, Some("malformed_json")),
        // The handler rejects it, because it knows the field.
        (post("{\"a\":1e400}"), 200, None),
        (post("\u{feff}{\"a\":1}"), 200, None),
        // The server stops waiting for an incomplete body and closes its connection.
        (
            post("{}")
                .replace("/echo", "/hurried")
                .replace("Length: 2", "Length: 5000")
                .replace("close", "keep-alive"),
            408,
            Some("request_timeout"),
        ),
        (
            format!("POST /echo HTTP/1.1\r\n{end}Content-Length: 2\r\n\r\n{{}}"),
            415,
            Some("unsupported_media_type"),
        ),
        (format!("GET /echo HTTP/1.1\r\n{end}\r\n"), 405, Some("method_not_allowed")),
        (format!("GET /nowhere HTTP/1.1\r\n{end}\r\n"), 404, Some("not_found")),
        (format!("GET /fail HTTP/1.1\r\n{end}\r\n"), 404, Some("thing_not_found")),
        (format!("GET /internal/x HTTP/1.1\r\n{end}\r\n"), 401, Some("internal_token_invalid")),
        (
            format!("GET /internal/x HTTP/1.1\r\n{end}Authorization: Bearer the-tokem\r\n\r\n"),
            401,
            Some("internal_token_invalid"),
        ),
        (format!("GET /internal/x HTTP/1.1\r\n{end}Authorization: bearer the-token\r\n\r\n"), 200, None),
        (
            format!(
                "GET /internal/x HTTP/1.1\r\n{end}Authorization: bearer the-token\r\nAuthorization: bearer x\r\n\r\n"
            ),
            400,
            Some("duplicate_header"),
        ),
    ] {
        let (head, body) = exchange(address, &request).await.unwrap();
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{request}\n{head}");
        assert!(head.contains("\r\nrequest-id: req_"), "{head}");
        assert_eq!(header(&head, "x-content-type-options"), Some("nosniff"), "{request}");
        assert_eq!(header(&head, "cache-control"), Some("no-store"), "{request}");
        let policy = Some("default-src 'none'; frame-ancestors 'none'");
        assert_eq!(header(&head, "content-security-policy"), policy, "{request}");
        assert_eq!(body["code"].as_str(), code, "{request}\n{body}");
        assert_eq!(body["message"].is_string() && body["requestId"].is_string(), code.is_some(), "{body}");
        let docs = code.map(|code| format!("https://api.example/docs/errors/{code}"));
        assert_eq!(body["docs"].as_str(), docs.as_deref(), "{body}");
    }
    let (head, _) = exchange(address, &format!("GET /kept HTTP/1.1\r\n{end}\r\n")).await.unwrap();
    assert_eq!(header(&head, "cache-control"), Some("public, max-age=300"), "a route's own header is kept");
    let problem = format!("GET /fail HTTP/1.1\r\n{end}Accept: application/problem+json\r\n\r\n");
    let (head, body) = exchange(address, &problem).await.unwrap();
    assert!(head.contains("content-type: application/problem+json"), "{head}");
    assert_eq!((&body["status"], &body["hint"]), (&Value::from(404), &Value::from("look elsewhere")));
    })
    .await
    .unwrap();
}

/// Reports that it is free.
struct Slot(tokio::sync::mpsc::Sender<()>);

impl Drop for Slot {
    fn drop(&mut self) {
        let _gone = self.0.try_send(());
    }
}

/// What a response holds, such as a slot, must not be held by a peer that stops reading.
#[tokio::test]
async fn a_response_that_nobody_reads_ends() {
    let (frees, mut freed) = tokio::sync::mpsc::channel(1);
    let endless = move |config: &mut ServiceConfig| {
        let frees = frees.clone();
        config.service(resource("/endless").route(get().to(move || {
            let slot = Slot(frees.clone());
            let chunks = futures_util::stream::repeat_with(move || {
                let _held = &slot;
                Ok::<_, std::io::Error>(actix::Bytes::from_static(&[b'x'; 16 * 1024]))
            });
            async move { HttpResponse::Ok().streaming(chunks) }
        })));
    };
    let options = ServeOptions { write_patience: Duration::from_millis(200), ..ServeOptions::INTERNAL };
    serving(options, endless, async |address, _| {
        let mut reader = TcpStream::connect(address).await.unwrap();
        reader.write_all(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut read = vec![0; 64 * 1024];
        for _ in 0..200 {
            assert!(reader.read(&mut read).await.unwrap() > 0, "who reads gets everything");
        }
        // From now on nobody reads.
        let freed = tokio::time::timeout(Duration::from_secs(20), freed.recv()).await;
        assert_eq!(freed, Ok(Some(())), "the response goes on");
        drop(reader);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn requests_that_violate_http_get_an_error_body() {
    serving(ServeOptions::INTERNAL, routes, async |address, _| {
        let long = format!("/{}", "a".repeat(70_000));
        let many = (0..200).fold(String::new(), |headers, n| headers + &format!("X-{n}: 1\r\n"));
        for (request, status, code) in [
            ("GET /fail HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n", 400, "malformed_request"),
            ("GET /fail HTTP/1.1\r\nHost: x\r\nX-A: a\u{1}b\r\n\r\n", 400, "malformed_request"),
            ("GET /fail HTTP/1.1\r\nHost: x\r\nX-A: a\rb\r\n\r\n", 400, "malformed_request"),
            ("GET /fail HTTP/1.1\r\nHost: x\r\nX\0A: a\r\n\r\n", 400, "malformed_request"),
            ("GET /fail\0 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "malformed_request"),
            ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400, "malformed_request"),
            ("nonsense\r\n\r\n", 400, "malformed_request"),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400, "malformed_request"),
            (
                "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                400,
                "malformed_request",
            ),
            (&format!("GET /fail HTTP/1.1\r\nHost: x\r\n{many}\r\n"), 431, "headers_too_large"),
            (&format!("GET {long} HTTP/1.1\r\nHost: x\r\n\r\n"), 414, "uri_too_long"),
        ] {
            let (head, body) = exchange(address, request).await.unwrap();
            assert!(head.starts_with(&format!("http/1.1 {status}")), "{request:?}\n{head}");
            assert!(head.contains("\r\nrequest-id: req_"), "{request:?}\n{head}");
            assert!(head.contains("\r\ncontent-type: application/json"), "{request:?}\n{head}");
            assert_eq!(body["code"], code, "{request:?}");
            assert_eq!(body["docs"], format!("https://api.example/docs/errors/{code}"));
            assert!(body["message"].is_string() && body["requestId"].is_string(), "{body}");
        }
        // The same applies after a valid request on the same connection.
        let pipelined = "GET /fail HTTP/1.1\r\nHost: x\r\n\r\nGET /fail HTTP/1.1\r\nX: \0\r\n\r\n";
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(pipelined.as_bytes()).await.unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).await.unwrap();
        let codes = ["thing_not_found", "malformed_request"].map(|code| answers.find(code));
        assert!(codes[0].is_some() && codes[0] < codes[1], "{answers}");
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn idle_connections_do_not_hold_up_a_stop() {
    let options = ServeOptions { drain: Duration::from_secs(60), ..ServeOptions::INTERNAL };
    serving(options, routes, async |address, stop| {
        let mut idle = TcpStream::connect(address).await.unwrap();
        idle.write_all(b"GET /fail HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut start = [0; 16];
        idle.read_exact(&mut start).await.unwrap();
        stop.cancel();
        let closed = tokio::time::timeout(Duration::from_secs(10), idle.read_to_end(&mut Vec::new())).await;
        closed.expect("an idle connection is closed").unwrap();
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_response_that_does_not_end_delays_a_stop_for_a_bounded_time() {
    let options = ServeOptions { drain: Duration::from_millis(200), ..ServeOptions::INTERNAL };
    serving(options, routes, async |address, stop| {
        let mut endless = TcpStream::connect(address).await.unwrap();
        endless.write_all(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        endless.read_exact(&mut [0; 16]).await.unwrap();
        stop.cancel();
        let mut rest = Vec::new();
        endless.read_to_end(&mut rest).await.unwrap();
        assert!(!rest.ends_with(b"0\r\n\r\n"), "the response has no end");
        TcpStream::connect(address).await.expect_err("the address is closed");
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_until_another_ends() {
    let options = ServeOptions { connections_max: 2, ..ServeOptions::INTERNAL };
    serving(options, routes, async |address, _| {
        let ask = async |connection: &mut TcpStream| {
            connection.write_all(b"GET /both HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
            while connection.read(&mut [0; 1024]).await.unwrap() == 1024 {}
        };
        let connect = async || TcpStream::connect(address).await.unwrap();
        let (mut one, mut two, mut third) = (connect().await, connect().await, connect().await);
        let mut third = pin!(ask(&mut third));
        assert!(poll!(&mut third).is_pending());
        for _ in 0..20 {
            ask(&mut one).await;
            ask(&mut two).await;
        }
        assert!(poll!(&mut third).is_pending(), "the third one is served too");
        drop(two);
        third.await;
    })
    .await
    .unwrap();
}

/// The whole response with its raw body.
async fn answer_to(address: SocketAddr, request: &str) -> std::io::Result<(String, String)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    // A response that does not end is a failure too.
    tokio::time::timeout(Duration::from_secs(30), stream.read_to_string(&mut answer)).await??;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    Ok((head.to_lowercase(), body.to_owned()))
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

#[tokio::test]
async fn the_router_lists_methods_and_head_is_a_get_without_a_body() {
    serving(ServeOptions::INTERNAL, routes, async |address, _| {
        let end = "Host: x\r\nConnection: close\r\n\r\n";
        for (method, path, status, allow) in [
            ("DELETE", "/echo", 405, Some("post")),
            ("HEAD", "/echo", 405, Some("post")),
            ("PUT", "/fail", 405, Some("get, head")),
            ("OPTIONS", "/both", 405, Some("get, post, head")),
            ("BREW", "/both", 405, Some("get, post, head")),
            ("HEAD", "/both", 200, None),
            ("HEAD", "/fail", 404, None),
            ("HEAD", "/nowhere", 404, None),
            ("DELETE", "/nowhere", 404, None),
            ("HEAD", "/stream", 200, None),
            ("HEAD", "/internal/x", 401, None),
        ] {
            let (head, body) =
                answer_to(address, &format!("{method} {path} HTTP/1.1\r\n{end}")).await.unwrap();
            assert!(head.starts_with(&format!("http/1.1 {status}")), "{method} {path}\n{head}");
            assert_eq!(header(&head, "allow"), allow, "{method} {path}");
            assert!(header(&head, "request-id").is_some(), "{method} {path}\n{head}");
            assert_eq!(body.is_empty(), method == "HEAD", "{method} {path}\n{body}");
            if status == 405 && method != "HEAD" {
                assert!(body.contains("\"method_not_allowed\""), "{body}");
            }
        }
        let (asked, _) = answer_to(address, &format!("HEAD /both HTTP/1.1\r\n{end}")).await.unwrap();
        let (got, body) = answer_to(address, &format!("GET /both HTTP/1.1\r\n{end}")).await.unwrap();
        assert_eq!(body, "[1,2,3]");
        for name in ["content-length", "content-type"] {
            assert_eq!(header(&asked, name), header(&got, name));
        }
        // The connection stays usable after a HEAD.
        let two = format!("HEAD /both HTTP/1.1\r\nHost: x\r\n\r\nGET /both HTTP/1.1\r\n{end}");
        let (_, rest) = answer_to(address, &two).await.unwrap();
        assert!(rest.to_lowercase().starts_with("http/1.1 200") && rest.ends_with("[1,2,3]"), "{rest}");
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn bodies_must_be_json_in_utf_8_without_content_coding() {
    serving(ServeOptions::INTERNAL, routes, async |address, _| {
    for (headers, status) in [
        ("Content-Type: application/json\r\n", 200),
        ("Content-Type: Application/JSON; Charset=\"UTF-8\"\r\n", 200),
        ("Content-Type: application/json;charset=utf-8\r\n", 200),
        ("Content-Type: application/vnd.shop+json; v=1\r\n", 200),
        ("Content-Type: application/json\r\nContent-Encoding: identity\r\n", 200),
        ("Content-Type: application/json; charset=latin1\r\n", 415),
        ("Content-Type: application/json; charset=utf-8; charset=utf-16\r\n", 415),
        ("Content-Type: application/json\r\nContent-Encoding: gzip\r\n", 415),
        ("Content-Type: application/json\r\nContent-Encoding: identity\r\nContent-Encoding: br\r\n", 415),
        ("Content-Type: text/plain\r\n", 415),
        ("Content-Type: application/jsonp\r\n", 415),
        ("Content-Type: application/x-www-form-urlencoded\r\n", 415),
        ("", 415),
    ] {
        let request = format!(
            "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: 7\r\n\r\n{{\"a\":1}}"
        );
        let (head, body) = answer_to(address, &request).await.unwrap();
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{headers}\n{head}\n{body}");
        assert_eq!(status == 415, body.contains("\"unsupported_media_type\""), "{body}");
        let coding = headers.contains("gzip") || headers.contains("br\r");
        assert_eq!(header(&head, "accept-encoding"), coding.then_some("identity"), "{headers}");
    }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn expect_100_continue_is_answered() {
    serving(ServeOptions::INTERNAL, routes, async |address, _| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = "POST /both HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Content-Length: 7\r\nExpect: 100-continue\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut interim = [0; 25];
        stream.read_exact(&mut interim).await.unwrap();
        assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(b"{\"a\":1}").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("{\"a\":1}"), "{answer}");
    })
    .await
    .unwrap();
}
