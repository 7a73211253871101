//! key-management: API keys.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, IpAllowList, KeyRestrictions, KeyScope, Mode, UserId};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{CallError, ErasureProgress, Page, PageQuery, Peer};

/// `POST /internal/api-keys/verify`.
#[derive(Serialize, Deserialize)]
pub struct VerifyKey {
    pub key: String,
}

/// The result of a verification. `key` is absent for an unknown, revoked or expired key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeyVerification {
    #[serde(rename = "verdict")]
    pub key: Option<AuthenticatedKey>,
    /// Whether the key worked until it expired.
    #[serde(default)]
    pub expired: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatedKey {
    pub key_id: ApiKeyId,
    pub business_id: BusinessId,
    pub mode: Mode,
    /// The end of the key, or of the grace period of a rotated key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "KeyRestrictions::are_none")]
    pub restrictions: KeyRestrictions,
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
    /// The end of the key, or of the grace period of a rotated key.
    pub expires_at: Option<DateTime<Utc>>,
    /// The key that it replaced by a rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ApiKeyId>,
    /// Whether the key was rotated and still works. Left out by the previous release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_grace_period: Option<bool>,
    /// The user who created it, or rotated its predecessor. Left out if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<UserId>,
    /// What the key may do. Left out if it may do everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<KeyScope>>,
    /// The networks from which the key may be used. Left out if it may be used from everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub ip_allow_list: Option<IpAllowList>,
}

/// The only response that contains the key itself.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedApiKey {
    #[serde(flatten)]
    pub view: ApiKeyView,
    pub key: String,
}

/// A revoked key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevokedApiKey {
    #[serde(flatten)]
    pub view: ApiKeyView,
    /// Its predecessors that were still in their grace period, newest first.
    #[serde(default)]
    pub also_revoked: Vec<ApiKeyView>,
}

/// `GET /internal/businesses/{id}/api-keys/summary`: whether the business has a working key of each mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKeySummary {
    pub test: bool,
    pub live: bool,
}

/// The author of a new key. It is not part of the body, which comes from the caller.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Author {
    created_by: Option<UserId>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeysOfCreator<'a> {
    #[serde(flatten)]
    page: &'a PageQuery,
    created_by: UserId,
}

/// key-management's internal endpoints.
#[derive(Clone, Debug)]
pub struct KeysClient(pub Peer);

impl KeysClient {
    /// `POST /internal/api-keys/verify`
    pub async fn verify(&self, key: &str) -> Result<KeyVerification, CallError> {
        let body = VerifyKey { key: key.to_owned() };
        self.0.send(Method::POST, &["api-keys", "verify"], &body).await
    }

    /// `GET /internal/businesses`: businesses with a key that is not revoked, sorted by id. The page starts after an
    /// id, which need not exist
    pub async fn businesses(&self, page: &PageQuery) -> Result<Page<BusinessId>, CallError> {
        self.0.get_with(&["businesses"], page).await
    }

    /// `POST /internal/businesses/{id}/api-keys?createdBy=` with the caller's body
    pub async fn create(
        &self,
        business: BusinessId,
        created_by: Option<UserId>,
        body: &Value,
    ) -> Result<CreatedApiKey, CallError> {
        let path = ["businesses", &business.to_string(), "api-keys"];
        self.0.send_with(Method::POST, &path, &Author { created_by }, body).await
    }

    /// `GET /internal/businesses/{id}/api-keys`
    pub async fn list(&self, business: BusinessId, page: &PageQuery) -> Result<Page<ApiKeyView>, CallError> {
        self.0.get_with(&["businesses", &business.to_string(), "api-keys"], page).await
    }

    /// `GET /internal/businesses/{id}/api-keys?createdBy=`: the keys of a creator
    pub async fn list_of(
        &self,
        business: BusinessId,
        created_by: UserId,
        page: &PageQuery,
    ) -> Result<Page<ApiKeyView>, CallError> {
        let query = KeysOfCreator { page, created_by };
        self.0.get_with(&["businesses", &business.to_string(), "api-keys"], &query).await
    }

    /// `GET /internal/businesses/{id}/api-keys/{key}`, including revoked and expired keys
    pub async fn read(&self, business: BusinessId, key: &str) -> Result<ApiKeyView, CallError> {
        self.0.get(&["businesses", &business.to_string(), "api-keys", key]).await
    }

    /// `GET /internal/businesses/{id}/api-keys/summary`
    pub async fn summary(&self, business: BusinessId) -> Result<ApiKeySummary, CallError> {
        self.0.get(&["businesses", &business.to_string(), "api-keys", "summary"]).await
    }

    /// `POST /internal/businesses/{id}/api-keys/{key}/revoke` with the caller's optional `{keepPredecessor?}`; a repeated call
    /// returns the same response
    pub async fn revoke(
        &self,
        business: BusinessId,
        key: &str,
        body: &Value,
    ) -> Result<RevokedApiKey, CallError> {
        let path = ["businesses", &business.to_string(), "api-keys", key, "revoke"];
        self.0.send(Method::POST, &path, body).await
    }

    /// `POST /internal/businesses/{id}/api-keys/{key}/rotate?createdBy=` with the caller's body. Without `created_by`, the successor
    /// keeps the creator of the old key
    pub async fn rotate(
        &self,
        business: BusinessId,
        key: &str,
        created_by: Option<UserId>,
        body: &Value,
    ) -> Result<CreatedApiKey, CallError> {
        let path = ["businesses", &business.to_string(), "api-keys", key, "rotate"];
        self.0.send_with(Method::POST, &path, &Author { created_by }, body).await
    }

    /// `POST /internal/businesses/{id}/erasure`: erases names and networks of the keys of a closed business
    pub async fn erase_business(&self, business: BusinessId) -> Result<ErasureProgress, CallError> {
        self.0.send(Method::POST, &["businesses", &business.to_string(), "erasure"], &Value::Null).await
    }
}
