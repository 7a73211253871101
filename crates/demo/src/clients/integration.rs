//! The integrator's client, with an API key. Unlike the client for integrators, it sends any request.

use reqwest::Method;
use serde_json::Value;

use super::{Api, Reply};

#[derive(Clone, Debug)]
pub struct Integration {
    pub api: Api,
    key: String,
}

impl Integration {
    /// # Errors
    /// When no HTTP client can be built.
    pub fn new(order_api: &str, key: impl Into<String>) -> anyhow::Result<Self> {
        Ok(Self { api: Api::new(order_api)?, key: key.into() })
    }

    /// `POST /integration/orders`
    ///
    /// # Errors
    /// Without a response.
    pub async fn create(&self, idempotency_key: &str, body: &Value) -> anyhow::Result<Reply> {
        let request = self.api.request(Method::POST, "/integration/orders").bearer_auth(&self.key);
        self.api.send(request.header("Idempotency-Key", idempotency_key).json(body)).await
    }

    /// `GET /integration/events`, with this query or the id of an event after a slash
    ///
    /// # Errors
    /// Without a response.
    pub async fn events(&self, rest: &str) -> anyhow::Result<Reply> {
        let request = self.api.request(Method::GET, &format!("/integration/events{rest}"));
        self.api.send(request.bearer_auth(&self.key)).await
    }

    /// Any other call below `/integration/orders`.
    ///
    /// # Errors
    /// Without a response.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Reply> {
        let path = format!("/integration/orders{path}");
        let request = self.api.request(method, &path).bearer_auth(&self.key);
        self.api
            .send(match body {
                Some(body) => request.json(body),
                None => request,
            })
            .await
    }
}
