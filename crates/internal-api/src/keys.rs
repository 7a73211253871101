//! key-management: API keys.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, IpAllowList, KeyRestrictions, KeyScope, Mode, UserId};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{CallError, Page, PageQuery, Peer, Refusal};

/// `POST /internal/api-keys/verify`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyKey {
    pub key: String,
    /// Whether the caller enforces the restrictions of the answer. Otherwise a restricted key is invalid.
    #[serde(default)]
    pub enforces_restrictions: bool,
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

/// `GET /internal/businesses/{id}/api-keys/summary`: whether the business has a working key of each mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKeySummary {
    pub test: bool,
    pub live: bool,
}

/// The fields of a request for a key that the previous release does not know.
const OPTIONS: [&str; 3] = ["expiresAt", "ipAllowList", "scopes"];

/// The previous release ignores options. It lacks this path, so it never issues a key without the wanted options.
const WITH_OPTIONS: &str = "api-keys-with-options";

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
    /// `POST /internal/api-keys/verify`, for callers that enforce restrictions
    pub async fn verify(&self, key: &str) -> Result<KeyVerification, CallError> {
        let body = VerifyKey { key: key.to_owned(), enforces_restrictions: true };
        self.0.send(Method::POST, &["api-keys", "verify"], &body).await
    }

    /// `GET /internal/businesses`: businesses with a key that is not revoked, sorted by id. The page starts after an
    /// id, which need not exist
    pub async fn businesses(&self, page: &PageQuery) -> Result<Page<BusinessId>, CallError> {
        self.0.get_with(&["businesses"], page).await
    }

    /// `POST /internal/businesses/{id}/api-keys?createdBy=` with the caller's `{mode, name}`, or with options
    /// `POST /internal/businesses/{id}/api-keys-with-options?createdBy=`
    ///
    /// # Errors
    /// Also [`CallError::Unavailable`] if the previous release answers and options are wanted.
    pub async fn create(
        &self,
        business: BusinessId,
        created_by: Option<UserId>,
        body: &Value,
    ) -> Result<CreatedApiKey, CallError> {
        let path = ["businesses", &business.to_string(), path_for(body)];
        known(self.0.send_with(Method::POST, &path, &Author { created_by }, body).await)
    }

    /// `GET /internal/businesses/{id}/api-keys`
    pub async fn list(&self, business: BusinessId, page: &PageQuery) -> Result<Page<ApiKeyView>, CallError> {
        self.0.get_with(&["businesses", &business.to_string(), "api-keys"], page).await
    }

    /// `GET /internal/businesses/{id}/api-keys?createdBy=`: the keys of a creator
    ///
    /// # Errors
    /// Also [`CallError::Unavailable`] if the previous release answers, which does not know creators.
    pub async fn list_of(
        &self,
        business: BusinessId,
        created_by: UserId,
        page: &PageQuery,
    ) -> Result<Page<ApiKeyView>, CallError> {
        let query = KeysOfCreator { page, created_by };
        let listed = self.0.get_with(&["businesses", &business.to_string(), "api-keys"], &query).await;
        match listed {
            Err(CallError::Refused { service, refusal }) if refuses_parameter(&refusal, "createdBy") => {
                Err(CallError::Unavailable { service, reason: "it knows no creators of keys yet".to_owned() })
            }
            other => other,
        }
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

    /// `POST /internal/businesses/{id}/api-keys/{key}/rotate?createdBy=` with the caller's `{graceSeconds}`, or with options
    /// `POST /internal/businesses/{id}/api-keys-with-options/{key}/rotate?createdBy=`. The previous release keeps the creator of the
    /// old key
    ///
    /// # Errors
    /// As [`KeysClient::create`].
    pub async fn rotate(
        &self,
        business: BusinessId,
        key: &str,
        created_by: Option<UserId>,
        body: &Value,
    ) -> Result<CreatedApiKey, CallError> {
        let path = ["businesses", &business.to_string(), path_for(body), key, "rotate"];
        known(self.0.send_with(Method::POST, &path, &Author { created_by }, body).await)
    }
}

fn path_for(body: &Value) -> &'static str {
    let is_given = |name: &&str| body.get(name).is_some_and(|value| !value.is_null());
    if OPTIONS.iter().any(is_given) { WITH_OPTIONS } else { "api-keys" }
}

fn refuses_parameter(refusal: &Refusal, name: &str) -> bool {
    let errors = refusal.rest.get("errors").and_then(Value::as_array);
    errors.is_some_and(|errors| {
        errors.iter().any(|error| error["field"] == name && error["code"] == "unknown_parameter")
    })
}

/// A path that the service does not know exists in the next release.
fn known<A>(answer: Result<A, CallError>) -> Result<A, CallError> {
    match answer {
        Err(CallError::Refused { service, refusal }) if refusal.code == "not_found" => {
            Err(CallError::Unavailable { service, reason: "it knows no options of keys yet".to_owned() })
        }
        other => other,
    }
}
