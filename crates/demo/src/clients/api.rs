//! An HTTP client for JSON APIs.

use std::time::Duration;

use anyhow::{Context, ensure};
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::Value;

/// An HTTP API at a base address.
#[derive(Clone, Debug)]
pub struct Api {
    base: String,
    http: reqwest::Client,
}

/// An API's response.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The raw body.
    pub text: String,
    /// The body as JSON; null when it is not JSON.
    pub body: Value,
}

impl Api {
    /// # Errors
    /// When no HTTP client can be built.
    pub fn new(base: impl Into<String>) -> anyhow::Result<Self> {
        // Another part of the process may have installed a provider, which is fine.
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(20))
            .connect_timeout(Duration::from_secs(2))
            .no_proxy()
            .build()?;
        Ok(Self { base: base.into(), http })
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    /// Builds a request without sending it.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    /// Sends the request and reads the whole response, whatever its status.
    ///
    /// # Errors
    /// Without a response.
    pub async fn send(&self, request: RequestBuilder) -> anyhow::Result<Reply> {
        let response = request.send().await.context("no response")?;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or_default();
        Ok(Reply { status, headers, text, body })
    }
}

impl Reply {
    /// The body of a response with the expected status.
    ///
    /// # Errors
    /// When the status differs; the error shows the response.
    pub fn expect(self, status: u16) -> anyhow::Result<Value> {
        ensure!(self.status.as_u16() == status, "expected {status}, got {}: {}", self.status, self.text);
        Ok(self.body)
    }

    /// The `code` of an error body.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}
