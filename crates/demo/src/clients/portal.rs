//! A portal user's client, with a session cookie.

use anyhow::Context;
use reqwest::Method;
use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::{Value, json};

use super::{Api, Reply};

#[derive(Clone, Debug)]
pub struct Portal {
    api: Api,
    cookie: String,
    pub business_id: String,
}

impl Portal {
    /// `POST /v1/portal/accounts`
    ///
    /// # Errors
    /// When the account is not created.
    pub async fn sign_up(origin: &str, business: &str, email: &str, password: &str) -> anyhow::Result<Self> {
        let account = json!({ "businessName": business, "email": email, "password": password });
        Self::open(origin, "/v1/portal/accounts", &account, 201).await
    }

    /// `POST /v1/portal/session`
    ///
    /// # Errors
    /// When the log-in is refused.
    pub async fn log_in(origin: &str, email: &str, password: &str) -> anyhow::Result<Self> {
        let login = json!({ "email": email, "password": password });
        Self::open(origin, "/v1/portal/session", &login, 200).await
    }

    async fn open(origin: &str, path: &str, body: &Value, status: u16) -> anyhow::Result<Self> {
        let api = Api::new(origin)?;
        let reply = api.send(api.request(Method::POST, path).json(body)).await?;
        let cookie = reply.header(SET_COOKIE.as_str()).and_then(|cookie| cookie.split(';').next());
        let cookie = cookie.map(str::to_owned);
        let body = reply.expect(status)?;
        Ok(Self {
            api,
            cookie: cookie.context("the response sets no session cookie")?,
            business_id: body["businessId"].as_str().context("no businessId")?.to_owned(),
        })
    }

    /// Any call of the portal's API.
    ///
    /// # Errors
    /// Without a response.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Reply> {
        let request = self.api.request(method, &format!("/v1/portal{path}")).header(COOKIE, &self.cookie);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        self.api.send(request).await
    }

    /// # Errors
    /// Without a response, or when the status is not 200.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.call(Method::GET, path, None).await?.expect(200)
    }

    /// # Errors
    /// Without a response.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Reply> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// As [`Portal::post`], with an idempotency key.
    ///
    /// # Errors
    /// Without a response.
    pub async fn post_once(&self, path: &str, key: &str, body: &Value) -> anyhow::Result<Reply> {
        let request = self.api.request(Method::POST, &format!("/v1/portal{path}"));
        let request = request.header(COOKIE, &self.cookie).header("Idempotency-Key", key);
        self.api.send(request.json(body)).await
    }

    /// # Errors
    /// Without a response, or when the status is not 200.
    pub async fn put(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.call(Method::PUT, path, Some(body)).await?.expect(200)
    }

    /// Opens the stream of new orders.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn orders_stream(&self, mode: &str) -> anyhow::Result<reqwest::Response> {
        let path = format!("/v1/portal/orders/stream?mode={mode}");
        let request = self.api.request(Method::GET, &path).header(COOKIE, &self.cookie);
        Ok(request.send().await?.error_for_status()?)
    }
}
