//! Calls of the operator's pages about many businesses at once. One kind lists the businesses that need attention, the worst
//! first, at most [`ATTENTION_MAX`]. The other kind reads the activity of the businesses in a list.

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, Paise};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::CallError;
use crate::orders::OrdersClient;
use crate::wallet::WalletClient;
use crate::webhooks::WebhooksClient;

pub const ATTENTION_MAX: i64 = 20;
/// The most open discrepancies that [`WalletAttention`] counts.
pub const DISCREPANCIES_MAX: i64 = 1_000;
/// The most businesses that a call names.
pub const BUSINESSES_MAX: usize = 100;
/// The most closed businesses that [`WalletClient::attention`] names.
pub const CLOSED_MAX: usize = 1_000;
/// The most recent orders that [`BusinessActivity`] counts.
pub const RECENT_MAX: i64 = 5_000;

/// `POST /internal/attention` of wallet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalletAttention {
    pub low_balances: Vec<LowBalance>,
    pub late_cash: Vec<LateCash>,
    /// Orders with an unexpected amount of cash that nobody has closed, up to [`DISCREPANCIES_MAX`]. Release 1.0.0 leaves it out.
    #[serde(default)]
    pub open_discrepancies: Option<i64>,
}

/// A funded wallet below its threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LowBalance {
    pub business_id: BusinessId,
    pub balance_paise: Paise,
    /// What the business owes. Release 1.0.0 leaves it out.
    #[serde(default)]
    pub owed_paise: Paise,
}

/// The cash of a business that is not settled although the promised day is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LateCash {
    pub business_id: BusinessId,
    pub orders: i64,
    pub amount_paise: Paise,
    /// Of the oldest order.
    pub due_since: DateTime<Utc>,
}

/// `GET /internal/failing-endpoints` of webhook-dispatcher: every attempt fails, and the endpoint is not disabled yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailingEndpoint {
    pub business_id: BusinessId,
    pub endpoint_id: EndpointId,
    pub failing_since: DateTime<Utc>,
}

/// `POST /internal/orders/activity` of order-api: the live orders of a business.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BusinessActivity {
    pub business_id: BusinessId,
    /// Orders of the last 30 days; 5000 means 5,000 or more.
    pub recent: i64,
    /// When the latest order was placed.
    pub last_at: Option<DateTime<Utc>>,
}

/// `POST /internal/balances` of wallet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Balance {
    pub business_id: BusinessId,
    pub balance_paise: Paise,
}

impl OrdersClient {
    /// `POST /internal/orders/activity {ids}`: up to [`BUSINESSES_MAX`] businesses
    pub async fn activity_of(&self, ids: &[BusinessId]) -> Result<Vec<BusinessActivity>, CallError> {
        self.0.send(Method::POST, &["orders", "activity"], &json!({ "ids": ids })).await
    }
}

impl WalletClient {
    /// `POST /internal/balances {ids}`: up to [`BUSINESSES_MAX`] businesses; omits businesses without a wallet
    pub async fn balances(&self, ids: &[BusinessId]) -> Result<Vec<Balance>, CallError> {
        self.0.send(Method::POST, &["balances"], &json!({ "ids": ids })).await
    }

    /// `POST /internal/attention {closed}`: the balances of up to [`CLOSED_MAX`] `closed` businesses are not low
    pub async fn attention(&self, closed: &[BusinessId]) -> Result<WalletAttention, CallError> {
        self.0.send(Method::POST, &["attention"], &json!({ "closed": closed })).await
    }
}

impl WebhooksClient {
    /// `GET /internal/failing-endpoints`
    pub async fn failing(&self) -> Result<Vec<FailingEndpoint>, CallError> {
        self.0.get(&["failing-endpoints"]).await
    }
}
