//! An HTTP client that keeps its cookies, as a browser does.

use std::net::SocketAddr;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

use crate::documented::check_success;

#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    headers: HeaderMap,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// The fields that are named in `errors[]`, sorted.
    pub(crate) fn invalid_fields(&self) -> Vec<&str> {
        let errors = self.body["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut fields: Vec<_> = errors.iter().map(|error| error["field"].as_str().unwrap()).collect();
        fields.sort_unstable();
        fields
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { http: test_kit::client(), base: format!("http://{address}"), headers: HeaderMap::new() }
    }

    #[must_use]
    pub(crate) fn with_bearer(self, token: &str) -> Self {
        self.with_header("authorization", &format!("Bearer {token}"))
    }

    #[must_use]
    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        self.headers.insert(name, HeaderValue::from_str(value).unwrap());
        self
    }

    /// The same session at another instance.
    #[must_use]
    pub(crate) fn at(mut self, address: SocketAddr) -> Self {
        self.base = format!("http://{address}");
        self
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).json(&body)).await
    }

    pub(crate) async fn put(&mut self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }

    pub(crate) async fn patch(&mut self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(&body)).await
    }

    pub(crate) async fn delete(&mut self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// A call by its method's name; with an empty object as its body where it writes.
    pub(crate) async fn call(&mut self, method: &str, path: &str) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.request(method.clone(), path);
        let request = if method == Method::GET { request } else { request.json(&serde_json::json!({})) };
        self.send(request).await
    }

    /// A `POST` without a body and without a type.
    pub(crate) async fn press(&mut self, path: &str) -> Answer {
        self.send(self.request(Method::POST, path)).await
    }

    pub(crate) async fn raw(&mut self, method: Method, path: &str, content_type: &str, body: &str) -> Answer {
        let request = self.request(method, path).header("content-type", content_type);
        self.send(request.body(body.to_owned())).await
    }

    /// An answer without an end.
    pub(crate) async fn open(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    /// A kept cookie, as `name=value`.
    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        let kept = self.headers.get("cookie")?.to_str().unwrap();
        let found = kept.split("; ").find(|one| one.split_once('=').is_some_and(|(other, _)| other == name));
        found.map(str::to_owned)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).headers(self.headers.clone())
    }

    /// One cookie, as `name=value`, in the place of an earlier one of its name.
    fn keep(&mut self, cookie: &str) {
        let name = cookie.split_once('=').unwrap().0;
        let kept =
            self.headers.get("cookie").map(|kept| kept.to_str().unwrap().to_owned()).unwrap_or_default();
        let others =
            kept.split("; ").filter(|one| one.split_once('=').is_some_and(|(other, _)| other != name));
        let all: Vec<_> = others.chain([cookie]).collect();
        self.headers.insert("cookie", HeaderValue::from_str(&all.join("; ")).unwrap());
    }

    async fn send(&mut self, request: RequestBuilder) -> Answer {
        let (http, request) = request.build_split();
        let request = request.unwrap();
        let method = request.method().clone();
        let response = http.execute(request).await.unwrap();
        if response.status().is_success() {
            check_success(&method, response.url(), response.status().as_u16());
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        for cookie in headers.get_all("set-cookie") {
            self.keep(cookie.to_str().unwrap().split(';').next().unwrap());
        }
        let bytes = response.bytes().await.unwrap();
        let body = if bytes.is_empty() { Value::Null } else { body_of(&bytes) };
        Answer { status, headers, body }
    }
}

/// A file becomes a text.
fn body_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes)))
}
