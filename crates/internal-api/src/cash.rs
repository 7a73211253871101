//! Endpoints of wallet for portal-api: the cash collected by deliveries. Amounts in paise.

use chrono::{DateTime, NaiveDate, Utc};
use domain::{BusinessId, OrderId, Paise, RemittanceId};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wallet::WalletClient;
use crate::{CallError, Page, PageQuery};

/// The cash of one delivered order. Each time is when order-api recorded the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashView {
    pub order_id: OrderId,
    pub business_id: BusinessId,
    pub order_reference: String,
    /// `pending` (delivered, not yet reported as collected), `collected`, `handed_over` or `settled`.
    pub status: String,
    /// The cash to collect, from the order.
    pub expected_paise: Option<Paise>,
    pub delivered_at: Option<DateTime<Utc>>,
    /// The amount that the fleet reported at each step; absent before the step.
    pub collected_paise: Option<Paise>,
    pub collected_at: Option<DateTime<Utc>>,
    pub handed_over_paise: Option<Paise>,
    pub handed_over_at: Option<DateTime<Utc>>,
    pub settled_paise: Option<Paise>,
    pub settled_at: Option<DateTime<Utc>>,
    /// When the business started to wait for the cash.
    pub due_since: DateTime<Utc>,
    /// Whether amounts differ, and the operator has not closed it: that of a step from the expected one or from the previous step,
    /// or a settlement that the fleet reported from the bank transfer.
    pub discrepant: bool,
    /// The latest amount that differs from the expected one, minus the expected one: negative when cash is missing.
    /// Also after the operator closed the discrepancy. Null once the whole amount is settled.
    #[serde(default)]
    #[schema(required)]
    pub difference_paise: Option<Paise>,
    /// `open`, `assigned` (somebody of the operator clears it) or `closed`; null while amounts agree.
    #[serde(default)]
    #[schema(required)]
    pub difference_state: Option<String>,
    /// The last day on which the operator promises to settle the cash.
    #[serde(default)]
    #[schema(required)]
    pub promised_on: Option<NaiveDate>,
    /// The bank transfer that settled it, if the operator recorded one.
    #[serde(default)]
    #[schema(required)]
    pub remittance: Option<CashRemittance>,
    /// What the fleet reported as settled, if the bank transfer paid another amount, which `settledPaise` is.
    #[serde(default)]
    #[schema(required)]
    pub reported_settled_paise: Option<Paise>,
    /// Who of the operator clears a discrepancy. For the operator.
    #[serde(default)]
    #[schema(required)]
    pub difference: Option<CashDifferenceView>,
}

/// The bank transfer that settled an order's cash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashRemittance {
    pub id: RemittanceId,
    pub bank_reference: String,
    pub paid_on: NaiveDate,
}

/// Who clears a discrepancy, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashDifferenceView {
    /// The fleet reported a settlement of this amount after a remittance had settled the order with another one.
    pub reported_paise: Option<Paise>,
    /// A person of the staff.
    pub owner: Option<String>,
    pub note: Option<String>,
    /// Why nothing is left to do. Open without it.
    pub resolution: Option<String>,
}

/// `PUT /internal/wallets/{business}/cash/{order}/difference`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignDifference {
    pub owner: Option<String>,
    pub note: Option<String>,
    pub resolution: Option<String>,
    /// Whether a closed difference may become open.
    #[serde(default)]
    pub reopen: bool,
}

/// The cash of the orders that were delivered in one month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashMonthView {
    /// In India: `2026-01`.
    pub month: String,
    pub orders: i64,
    /// Collected. Before the collection is reported: to collect.
    pub owed_paise: Paise,
    pub settled_paise: Paise,
    /// Owed and not settled, without closed discrepancies of settled orders.
    pub outstanding_paise: Paise,
    /// Of the owed cash: to collect from delivered orders of which nobody reported cash.
    #[serde(default)]
    #[schema(required)]
    pub unreported_paise: Paise,
    /// Settled orders that no bank transfer of the operator names, so that the settled cash is more than the transfers.
    #[serde(default)]
    #[schema(required)]
    pub settled_without_transfer_orders: i64,
    #[serde(default)]
    #[schema(required)]
    pub settled_without_transfer_paise: Paise,
}

/// The cash that a business is still owed, and its position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashTotals {
    /// The sum of the next three: collected or due, minus settled.
    pub outstanding_paise: Paise,
    /// Delivered and not yet reported as collected.
    pub pending_paise: Paise,
    /// Collected and not yet handed over.
    pub with_drivers_paise: Paise,
    /// Of it: what orders lacked when they were handed over. The rest is of the orders with status `collected`.
    #[serde(default)]
    #[schema(required)]
    pub handed_over_short_paise: Paise,
    /// Handed over and not yet settled, including the rest of partial settlements. Negative when more was settled.
    pub with_operator_paise: Paise,
    /// Settled in the last 30 days.
    pub settled_recently_paise: Paise,
    /// Orders with a discrepancy that is not closed, including settled orders.
    pub discrepancies: i64,
    /// Orders that are not settled although their promised day is over.
    #[serde(default)]
    #[schema(required)]
    pub late_orders: i64,
    #[serde(default)]
    #[schema(required)]
    pub late_paise: Paise,
    /// The outstanding cash by age.
    pub ages: Vec<CashAge>,
}

/// The outstanding cash of one age group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashAge {
    /// `0-1`, `1-3`, `3-7` or `7+` days.
    pub days: String,
    pub orders: i64,
    pub amount_paise: Paise,
}

/// `GET /internal/wallets/{business}/cash`: the totals, and a page of orders, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashOverview {
    pub totals: CashTotals,
    pub data: Vec<CashView>,
    pub has_more: bool,
}

/// The filters of the orders. `limit` and `starting_after` (an order id) work as in every list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CashQuery {
    pub limit: Option<usize>,
    pub starting_after: Option<String>,
    pub status: Option<String>,
    pub discrepant: Option<String>,
    /// Absent as `late`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// The cash of one order. Absent as `late`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_id: Option<String>,
    /// Absent for a wallet of an older release, which refuses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<String>,
    /// Due since this time or later. Absent as `late`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_from: Option<String>,
    /// Due since an earlier time. Absent as `late`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_until: Option<String>,
    /// `false`: the totals are zero, which saves their queries. Absent as `late`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<String>,
}

/// A business with outstanding cash, for the operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BusinessCash {
    /// Also the cursor of the list.
    pub business_id: BusinessId,
    #[serde(flatten)]
    pub totals: CashTotals,
}

impl WalletClient {
    /// `GET /internal/wallets/{business}/cash`
    pub async fn cash(&self, business: BusinessId, query: &CashQuery) -> Result<CashOverview, CallError> {
        self.0.get_with(&["wallets", &business.to_string(), "cash"], query).await
    }

    /// `GET /internal/wallets/{business}/cash/months`, newest first
    pub async fn cash_months(&self, business: BusinessId) -> Result<Vec<CashMonthView>, CallError> {
        self.0.get(&["wallets", &business.to_string(), "cash", "months"]).await
    }

    /// `PUT /internal/wallets/{business}/cash/{order}/difference`
    pub async fn assign_cash_difference(
        &self,
        business: BusinessId,
        order: &str,
        request: &AssignDifference,
    ) -> Result<(), CallError> {
        let path = ["wallets", &business.to_string(), "cash", order, "difference"];
        self.0.send(Method::PUT, &path, request).await
    }

    /// `GET /internal/cash`: all businesses with outstanding cash, sorted by id
    pub async fn cash_of_all(&self, page: &PageQuery) -> Result<Page<BusinessCash>, CallError> {
        self.0.get_with(&["cash"], page).await
    }

    /// `GET /internal/cash/discrepancies`: the open discrepancies of all businesses, newest order first
    pub async fn cash_discrepancies(&self, page: &PageQuery) -> Result<Page<CashView>, CallError> {
        self.0.get_with(&["cash", "discrepancies"], page).await
    }
}
