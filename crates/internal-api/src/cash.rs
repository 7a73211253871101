//! wallet: what became of the cash of deliveries, for portal-api. Amounts in paise.

use chrono::{DateTime, Utc};
use domain::{BusinessId, OrderId, Paise};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wallet::WalletClient;
use crate::{CallError, Page, PageQuery};

/// The cash of one order that was delivered against cash. Each time is when the service recorded the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashView {
    pub order_id: OrderId,
    pub business_id: BusinessId,
    pub order_reference: String,
    /// `pending` (delivered, not yet reported as collected), `collected`, `handed_over` or `settled`.
    pub status: String,
    /// What the order says is to be collected.
    pub expected_paise: Option<Paise>,
    pub delivered_at: Option<DateTime<Utc>>,
    /// What the fleet reported at each step, right or wrong; absent before the step.
    pub collected_paise: Option<Paise>,
    pub collected_at: Option<DateTime<Utc>>,
    pub handed_over_paise: Option<Paise>,
    pub handed_over_at: Option<DateTime<Utc>>,
    pub settled_paise: Option<Paise>,
    pub settled_at: Option<DateTime<Utc>>,
    /// Since when the business waits for it, or waited.
    pub due_since: DateTime<Utc>,
    /// Whether any step's amount is unlike what was expected, or unlike the step before.
    pub discrepant: bool,
}

/// What a business is still owed, and where it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashTotals {
    /// What was collected, or is to be, less what was settled: the three below together.
    pub outstanding_paise: Paise,
    /// Delivered, and not yet reported as collected.
    pub pending_paise: Paise,
    /// Collected and not handed over.
    pub with_drivers_paise: Paise,
    /// Handed over and not settled, also of orders that were settled short. Negative where more was settled.
    pub with_operator_paise: Paise,
    /// Settled in the last 30 days.
    pub settled_recently_paise: Paise,
    /// Orders with a discrepancy, settled ones too.
    pub discrepancies: i64,
    /// The outstanding cash by how long the business has been waiting for it.
    pub ages: Vec<CashAge>,
}

/// The outstanding cash of one span of days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashAge {
    /// `0-1`, `1-3`, `3-7` or `7+` days.
    pub days: String,
    pub orders: i64,
    pub amount_paise: Paise,
}

/// `GET /internal/wallets/{business}/cash`: where it stands, and a page of orders, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashOverview {
    pub totals: CashTotals,
    pub data: Vec<CashView>,
    pub has_more: bool,
}

/// Which orders are wanted. `limit` and `starting_after` (the id of an order) as in every list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CashQuery {
    pub limit: Option<usize>,
    pub starting_after: Option<String>,
    pub status: Option<String>,
    pub discrepant: Option<String>,
}

/// One business with outstanding cash, for the operator.
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

    /// `GET /internal/cash`: every business with outstanding cash, by id
    pub async fn cash_of_all(&self, page: &PageQuery) -> Result<Page<BusinessCash>, CallError> {
        self.0.get_with(&["cash"], page).await
    }

    /// `GET /internal/cash/discrepancies`: of every business, newest order first
    pub async fn cash_discrepancies(&self, page: &PageQuery) -> Result<Page<CashView>, CallError> {
        self.0.get_with(&["cash", "discrepancies"], page).await
    }
}
