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

/// The result of a verification. `key` is absent for an unknown, revoked or expired key; the caller learns no more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyVerification {
    #[serde(rename = "verdict")]
    pub key: Option<AuthenticatedKey>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatedKey {
    pub key_id: ApiKeyId,
    pub business_id: BusinessId,
    pub mode: Mode,
    /// When the key expires: a rotated key in its grace period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

/// An API key in a list, without its secret (SPECIFICATION §2.4).
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
    /// The end of a rotated key's grace period.
    pub expires_at: Option<DateTime<Utc>>,
}

/// The only response that contains the key itself.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedApiKey {
    #[serde(flatten)]
    pub view: ApiKeyView,
    pub key: String,
}

/// `GET /internal/businesses/{id}/api-keys/summary`: whether the business has a working key of each mode.
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
    pub async fn verify(&self, key: &str) -> Result<KeyVerification, CallError> {
        self.0.send(Method::POST, &["api-keys", "verify"], &VerifyKey { key: key.to_owned() }).await
    }

    /// `GET /internal/businesses`: businesses with a key that is not revoked, sorted by id. The page starts after an
    /// id, which need not exist
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

    /// `GET /internal/businesses/{id}/api-keys/{key}`, including revoked and expired keys
    pub async fn read(&self, business: BusinessId, key: &str) -> Result<ApiKeyView, CallError> {
        self.0.get(&["businesses", &business.to_string(), "api-keys", key]).await
    }

    /// `GET /internal/businesses/{id}/api-keys/summary`
    pub async fn summary(&self, business: BusinessId) -> Result<ApiKeySummary, CallError> {
        self.0.get(&["businesses", &business.to_string(), "api-keys", "summary"]).await
    }

    /// `POST /internal/businesses/{id}/api-keys/{key}/revoke`; a repeated call returns the same response
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
