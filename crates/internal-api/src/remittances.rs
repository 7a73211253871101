//! Endpoints of wallet for portal-api: remittances, which pay out the cash of many orders. Amounts in paise.

use chrono::{DateTime, NaiveDate, Utc};
use domain::{BusinessId, OrderId, Paise, RemittanceId};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wallet::WalletClient;
use crate::{CallError, Page, PageQuery};

/// An order that a remittance is to settle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemittanceLine {
    /// Its id, or the business's reference.
    pub order: String,
    /// Absent: what was handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_paise: Option<Paise>,
    /// Required with another amount than was handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `POST /internal/wallets/{business}/remittances`. A repeated request with the same bank reference and content returns the
/// remittance; another content gets 409 `bank_reference_reused`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemittanceRequest {
    pub bank_reference: String,
    pub paid_on: NaiveDate,
    pub created_by: String,
    pub orders: Vec<RemittanceLine>,
}

/// `POST /internal/wallets/{business}/remittances/check`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemittanceCheckRequest {
    pub orders: Vec<RemittanceLine>,
}

/// A bank transfer of the operator that paid out the cash of many orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemittanceView {
    pub id: RemittanceId,
    /// The bank's reference of the transfer.
    pub bank_reference: String,
    /// The day of the transfer.
    pub paid_on: NaiveDate,
    /// The number of its orders.
    pub orders: i64,
    pub total_paise: Paise,
    /// The person of the staff who recorded it. For the operator.
    pub created_by: Option<String>,
    pub created_at: DateTime<Utc>,
}

/// An order of a remittance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemittedOrderView {
    pub order_id: OrderId,
    pub order_reference: String,
    pub handed_over_paise: Paise,
    /// What was paid out.
    pub amount_paise: Paise,
    /// Why it differs from what was handed over.
    pub note: Option<String>,
}

/// A remittance with all of its orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemittanceDetails {
    #[serde(flatten)]
    pub remittance: RemittanceView,
    /// An earlier request recorded it.
    pub already_recorded: bool,
    pub lines: Vec<RemittedOrderView>,
}

/// What a remittance of these orders would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemittanceCheck {
    /// Of the orders that can be settled.
    pub total_paise: Paise,
    pub orders: Vec<RemittedOrderView>,
    /// Any of them refuses the whole remittance.
    pub refused: Vec<RefusedOrder>,
}

/// An order that cannot be settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusedOrder {
    /// Its place in the request, from 0. portal-api replaces it by the line of the file, from 1.
    pub position: usize,
    /// `unknown_order`, `repeated`, `not_handed_over`, `already_settled`, `nothing_handed_over`, `amount_too_high` or `note_required`.
    pub code: String,
    pub message: String,
}

impl WalletClient {
    /// `POST /internal/wallets/{business}/remittances`
    pub async fn remit(
        &self,
        business: BusinessId,
        request: &RemittanceRequest,
    ) -> Result<RemittanceDetails, CallError> {
        self.0.send(Method::POST, &["wallets", &business.to_string(), "remittances"], request).await
    }

    /// `POST /internal/wallets/{business}/remittances/check`: changes nothing
    pub async fn check_remittance(
        &self,
        business: BusinessId,
        request: &RemittanceCheckRequest,
    ) -> Result<RemittanceCheck, CallError> {
        let path = ["wallets", &business.to_string(), "remittances", "check"];
        self.0.send(Method::POST, &path, request).await
    }

    /// `GET /internal/wallets/{business}/remittances`, newest first
    pub async fn remittances(
        &self,
        business: BusinessId,
        page: &PageQuery,
    ) -> Result<Page<RemittanceView>, CallError> {
        self.0.get_with(&["wallets", &business.to_string(), "remittances"], page).await
    }

    /// `GET /internal/wallets/{business}/remittances/{id}`
    pub async fn remittance(&self, business: BusinessId, id: &str) -> Result<RemittanceDetails, CallError> {
        self.0.get(&["wallets", &business.to_string(), "remittances", id]).await
    }
}
