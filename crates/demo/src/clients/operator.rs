//! The operator's client, with the operator token.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Api, Reply};

#[derive(Clone, Debug)]
pub struct Operator {
    api: Api,
    token: String,
}

impl Operator {
    /// # Errors
    /// When no HTTP client can be built.
    pub fn new(portal_origin: &str, token: impl Into<String>) -> anyhow::Result<Self> {
        Ok(Self { api: Api::new(portal_origin)?, token: token.into() })
    }

    /// Any operator call.
    ///
    /// # Errors
    /// Without a response.
    pub async fn call(&self, method: Method, path: &str, body: &Value) -> anyhow::Result<Reply> {
        let path = format!("/v1/operator{path}");
        self.api.send(self.api.request(method, &path).bearer_auth(&self.token).json(body)).await
    }

    /// Approves a business: status, subscription and live access.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn activate(&self, business: &str) -> anyhow::Result<Value> {
        let all = json!({ "status": "active", "subscription": "active", "liveAccess": "active" });
        self.call(Method::PATCH, &format!("/businesses/{business}"), &all).await?.expect(200)
    }
}
