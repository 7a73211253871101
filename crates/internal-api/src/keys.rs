//! key-management: API keys.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, Mode};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{CallError, Page, PageQuery, Peer};

/// `POST /internal/api-keys/verify`.
#[derive(Serialize, Deserialize)]
pub struct VerifyKey {
    pub key: String,
}

/// `verdict` is absent for a key that is unknown, revoked or expired; which of these is nobody's business.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyVerdict {
    pub verdict: Option<GoodKey>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GoodKey {
    pub key_id: ApiKeyId,
    pub business_id: BusinessId,
    pub mode: Mode,
    /// When the key stops working by itself (a rotated key in its grace).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

/// A key as it may be listed: never the key itself (`spec.md` §2.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyView {
    pub id: ApiKeyId,
    pub mode: Mode,
    pub name: String,
    pub prefix: String,
    pub last_four: String,
    pub created_at: DateTime<Utc>,
    pub last_used_at: Option<DateTime<Utc>>,
    pub revoked_at: Option<DateTime<Utc>>,
    /// The end of a rotated key's grace.
    pub expires_at: Option<DateTime<Utc>>,
}

/// The one answer that carries the key.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedApiKey {
    #[serde(flatten)]
    pub view: ApiKeyView,
    pub key: String,
}

/// `GET /internal/businesses/{id}/api-keys/summary`: whether a working key of each mode exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKeySummary {
    pub test: bool,
    pub live: bool,
}

/// key-management's internal endpoints.
#[derive(Clone, Debug)]
pub struct KeysClient(pub Peer);

impl KeysClient {
    /// `POST /internal/api-keys/verify`
    pub async fn verify(&self, key: &str) -> Result<KeyVerdict, CallError> {
        self.0.send(Method::POST, &["api-keys", "verify"], &VerifyKey { key: key.to_owned() }).await
    }

    /// `GET /internal/businesses`: those that have a key which was not revoked, in the order of their ids; the page begins
    /// behind an id, whether or not it is there
    pub async fn businesses(&self, page: &PageQuery) -> Result<Page<BusinessId>, CallError> {
        self.0.get_with(&["businesses"], page).await
    }

    /// `POST /internal/businesses/{id}/api-keys` with the caller's `{mode, name}`
    pub async fn create(&self, business: BusinessId, body: &Value) -> Result<CreatedApiKey, CallError> {
        self.0.send(Method::POST, &["businesses", &business.to_string(), "api-keys"], body).await
    }

    /// `GET /internal/businesses/{id}/api-keys`
    pub async fn list(&self, business: BusinessId, page: &PageQuery) -> Result<Page<ApiKeyView>, CallError> {
        self.0.get_with(&["businesses", &business.to_string(), "api-keys"], page).await
    }

    /// `GET /internal/businesses/{id}/api-keys/{key}`, also one that works no longer
    pub async fn read(&self, business: BusinessId, key: &str) -> Result<ApiKeyView, CallError> {
        self.0.get(&["businesses", &business.to_string(), "api-keys", key]).await
    }

    /// `GET /internal/businesses/{id}/api-keys/summary`
    pub async fn summary(&self, business: BusinessId) -> Result<ApiKeySummary, CallError> {
        self.0.get(&["businesses", &business.to_string(), "api-keys", "summary"]).await
    }

    /// `POST /internal/businesses/{id}/api-keys/{key}/revoke`; repeated: the same answer
    pub async fn revoke(&self, business: BusinessId, key: &str) -> Result<ApiKeyView, CallError> {
        let path = ["businesses", &business.to_string(), "api-keys", key, "revoke"];
        self.0.send(Method::POST, &path, &Value::Null).await
    }

    /// `POST /internal/businesses/{id}/api-keys/{key}/rotate` with the caller's `{graceSeconds}`
    pub async fn rotate(
        &self,
        business: BusinessId,
        key: &str,
        body: &Value,
    ) -> Result<CreatedApiKey, CallError> {
        let path = ["businesses", &business.to_string(), "api-keys", key, "rotate"];
        self.0.send(Method::POST, &path, body).await
    }
}
