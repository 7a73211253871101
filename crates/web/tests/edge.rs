//! The edge and what sits behind it, over real connections.

use actix_web::middleware::from_fn;
use actix_web::web::{ServiceConfig, get, post, resource, scope};
use actix_web::{HttpResponse, web as actix};
use domain::{Clock, Entropy};
use serde_json::Value;
use settings::{Internal, Secret};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use web::{ApiError, JsonBody, RequestEdge, ServeOptions, listen, require_internal_token};

fn routes(config: &mut ServiceConfig) {
    config
        .app_data(actix::Data::new(Internal { token: Secret::new("the-token") }))
        .service(
            resource("/echo")
                .route(post().to(|body: JsonBody| async move { HttpResponse::Ok().json(body.0) })),
        )
        .service(resource("/fail").route(get().to(|| async {
            Err::<HttpResponse, _>(
                ApiError::not_found("thing_not_found", "thing").with("hint", "look elsewhere"),
            )
        })))
        .service(
            scope("/internal")
                .wrap(from_fn(require_internal_token))
                .service(resource("/x").route(get().to(|| async { HttpResponse::Ok().finish() }))),
        );
}

/// Sends raw bytes and reads the answer: status line and headers, and the body as JSON.
async fn exchange(address: std::net::SocketAddr, request: &str) -> std::io::Result<(String, Value)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    Ok((head.to_lowercase(), serde_json::from_str(body).unwrap_or_default()))
}

#[tokio::test]
async fn every_answer_has_a_request_id_and_every_error_a_body() {
    let edge = RequestEdge { clock: Clock::system(), entropy: Entropy::seeded(1) };
    let listener = listen("127.0.0.1:0".parse().unwrap(), ServeOptions::INTERNAL, edge, routes).unwrap();
    let (address, handle) = (listener.address, listener.handle);
    let serving = tokio::spawn(listener.server);
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
    ] {
        let (head, body) = exchange(address, &request).await.unwrap();
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{request}\n{head}");
        assert!(head.contains("\r\nrequest-id: req_"), "{head}");
        assert_eq!(body["code"].as_str(), code, "{request}\n{body}");
        assert_eq!(body["message"].is_string() && body["requestId"].is_string(), code.is_some(), "{body}");
    }
    let problem = format!("GET /fail HTTP/1.1\r\n{end}Accept: application/problem+json\r\n\r\n");
    let (head, body) = exchange(address, &problem).await.unwrap();
    assert!(head.contains("content-type: application/problem+json"), "{head}");
    assert_eq!((&body["status"], &body["hint"]), (&Value::from(404), &Value::from("look elsewhere")));
    handle.stop(true).await;
    serving.await.unwrap().unwrap();
}
