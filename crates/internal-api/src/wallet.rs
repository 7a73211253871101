//! Endpoints of wallet: debits for order-api; balance, statement, top-ups and credits for portal-api. Amounts in paise.

use chrono::{DateTime, NaiveDate, Utc};
use domain::{BusinessId, OrderId, Paise, TopUpId, TransferId};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::{CallError, ErasureProgress, Page, PageQuery, Peer};

/// `PUT /internal/debits/{order}/{attempt}` and `POST …/void`. The amount of a debit never changes; another amount for
/// the same debit gets 409 `debit_mismatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DebitRequest {
    pub business_id: BusinessId,
    pub amount_paise: Paise,
}

/// The outcome of a debit. It is final: a repeated request gets the same outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DebitAnswer {
    pub outcome: DebitOutcome,
    /// The balance right after the debit was posted, or when it was rejected.
    pub balance_paise: Paise,
    /// Of a rejected debit: what the business owes now. A top-up pays it first.
    #[serde(default)]
    pub owed_paise: Paise,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DebitOutcome {
    /// The wallet paid the fee.
    Posted,
    /// The balance was too low; the wallet paid nothing.
    Rejected,
    /// Voided before it was posted; it can never be posted.
    Voided,
}

/// `GET /internal/wallets/{business}`. A business without top-ups has an empty wallet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletView {
    pub balance_paise: Paise,
    /// What the business owes after a correction or a refund at the payment provider that its balance did not cover.
    /// Deposits and refunds pay it first.
    pub owed_paise: Paise,
    pub currency: String,
    /// The first top-up or credit. The wallet counts as funded from then on (SPECIFICATION §12).
    pub funded_at: Option<DateTime<Utc>>,
    /// Below this amount, the wallet's status is low.
    pub low_balance_threshold_paise: Paise,
}

/// One line of the statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    /// The position in the wallet, from 1 without a gap; of a debt, its `transferId`. Also the cursor of the list.
    pub id: String,
    pub transfer_id: TransferId,
    /// `delivery_fee`, `refund`, `top_up`, `operator_credit`, `operator_debit`, `top_up_reversal` or
    /// `receivable_payment`; of a debt, `operator_debit_shortfall` or `top_up_reversal_shortfall`.
    pub kind: String,
    /// Negative when money leaves the wallet. Zero for a debt, which moves nothing in the wallet.
    pub amount_paise: Paise,
    /// How much more the business owes. Negative when it pays what it owes.
    #[serde(default)]
    #[schema(required)]
    pub owed_paise: Paise,
    pub balance_after_paise: Paise,
    pub order_id: Option<OrderId>,
    /// The business's reference of that order. portal-api adds it, because wallet does not know it.
    #[serde(default)]
    pub order_reference: Option<String>,
    /// The operator's reference of a credit or debit, the id of a top-up, or the payment provider's id of its reversal.
    pub reference: Option<String>,
    /// The transfer that this one takes back.
    #[serde(default)]
    pub reverses: Option<TransferId>,
    /// Why the operator debited.
    pub reason: Option<String>,
    /// Of a debit that takes back a credit, top-up or refund: which one.
    pub takes_back: Option<TakesBackView>,
    /// Of a credit, top-up or refund: what was not taken back.
    pub left_paise: Option<Paise>,
    pub created_at: DateTime<Utc>,
}

/// The credit, top-up or refund that a debit takes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakesBackView {
    /// `operator_credit`, `top_up` or `refund`.
    pub kind: String,
    /// Of a refund.
    pub order_id: Option<OrderId>,
    pub reference: Option<String>,
    pub created_at: DateTime<Utc>,
}

/// The filters of a statement. `limit` and `starting_after` work as in every list; times are in RFC 3339.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntriesQuery {
    pub limit: Option<usize>,
    pub starting_after: Option<String>,
    pub kind: Option<String>,
    /// Inclusive.
    pub since: Option<String>,
    /// Exclusive.
    pub until: Option<String>,
    pub order_id: Option<OrderId>,
}

/// `GET /internal/wallets/{business}/entries/totals`. Absent: the last 30 days.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementPeriod {
    /// Inclusive.
    pub since: Option<String>,
    /// Exclusive.
    pub until: Option<String>,
    /// Only what moved of this kind.
    pub kind: Option<String>,
}

/// The balances of the wallet before and after a period, and what moved in between: in all, or of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatementTotalsView {
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    pub opening_paise: Paise,
    pub in_paise: Paise,
    /// Negative.
    pub out_paise: Paise,
    /// How much more the business owes. Negative when it paid more than it came to owe.
    pub owed_paise: Paise,
    /// The opening balance with all that moved in and out, of every kind.
    pub closing_paise: Paise,
    /// The entries of the wallet, without debts; of a kind of debt, the debts.
    pub entries: i64,
}

/// The cost of fees per day in a time zone, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpendView {
    pub time_zone: String,
    /// Every day of the period, including days without payments.
    pub days: Vec<SpendDay>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpendDay {
    pub date: NaiveDate,
    /// Of delivery fees.
    pub fees_paise: Paise,
    /// Of fees of further attempts that began on this day, with what is owed of them.
    #[serde(default)]
    #[schema(required)]
    pub attempt_fees_paise: Paise,
    /// Fees refunded on this day, whenever they were paid.
    pub refunds_paise: Paise,
    /// The number of orders paid on this day.
    pub orders: i64,
}

/// A top-up through the payment provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopUpView {
    pub id: TopUpId,
    pub amount_paise: Paise,
    /// `pending` until the provider confirms, then `succeeded`; the sandbox succeeds at once. `failed` after a week
    /// without a payment; a later payment still makes it `succeeded`.
    pub status: String,
    pub provider: String,
    /// The wallet's current balance.
    pub balance_paise: Paise,
    pub created_at: DateTime<Utc>,
    /// The data for the provider's payment page, while the top-up is `pending`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutView>,
}

/// The data for the payment provider's page, which the portal opens in the browser. It contains no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckoutView {
    /// The operator's public key at the provider.
    pub key_id: String,
    /// The provider's id of the payment.
    pub order_id: String,
    pub amount_paise: Paise,
    pub currency: String,
}

/// The exact bytes that a payment provider posted, because the signature covers them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentNotice {
    pub signature: String,
    pub body: String,
}

/// The outcome of a notice: `credited`, `settled_before`, `reversed`, `noted`, `mismatch` or `ignored`. The provider need not
/// resend it in any case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeAnswer {
    pub outcome: String,
}

/// A credit by the operator. A repeated request with the same reference and amount credits nothing and returns the credit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreditView {
    pub transfer_id: TransferId,
    pub amount_paise: Paise,
    pub reference: String,
    /// The current balance.
    pub balance_paise: Paise,
    /// What the business still owes.
    pub owed_paise: Paise,
    pub created_at: DateTime<Utc>,
    /// An earlier request with this reference credited the amount, at `createdAt`.
    pub already_credited: bool,
}

/// A debit by the operator. A repeated request with the same reference debits nothing and returns the debit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorDebitView {
    pub transfer_id: TransferId,
    pub amount_paise: Paise,
    pub reference: String,
    /// The credit, top-up or refund that the debit takes back.
    pub reverses: Option<TransferId>,
    /// The current balance.
    pub balance_paise: Paise,
    /// What the business owes, because its balance did not cover the debit.
    pub owed_paise: Paise,
    pub created_at: DateTime<Utc>,
    /// An earlier request with this reference debited the amount, at `createdAt`.
    pub already_debited: bool,
}

/// wallet's internal endpoints.
#[derive(Clone, Debug)]
pub struct WalletClient(pub Peer);

impl WalletClient {
    /// `PUT /internal/debits/{order}/{attempt}`
    pub async fn debit(
        &self,
        order: OrderId,
        attempt: i32,
        request: &DebitRequest,
    ) -> Result<DebitAnswer, CallError> {
        self.0.send(Method::PUT, &["debits", &order.to_string(), &attempt.to_string()], request).await
    }

    /// `POST /internal/debits/{order}/{attempt}/void`: voids the debit, or returns that it was posted
    pub async fn void(
        &self,
        order: OrderId,
        attempt: i32,
        request: &DebitRequest,
    ) -> Result<DebitAnswer, CallError> {
        let path = ["debits", &order.to_string(), &attempt.to_string(), "void"];
        self.0.send(Method::POST, &path, request).await
    }

    /// `GET /internal/businesses`: businesses with a wallet, sorted by id. The page starts after an id, which need not
    /// exist
    pub async fn businesses(&self, page: &PageQuery) -> Result<Page<BusinessId>, CallError> {
        self.0.get_with(&["businesses"], page).await
    }

    /// `GET /internal/wallets/{business}`
    pub async fn wallet(&self, business: BusinessId) -> Result<WalletView, CallError> {
        self.0.get(&["wallets", &business.to_string()]).await
    }

    /// `GET /internal/wallets/{business}/entries`, newest first
    pub async fn entries(
        &self,
        business: BusinessId,
        query: &EntriesQuery,
    ) -> Result<Page<EntryView>, CallError> {
        self.0.get_with(&["wallets", &business.to_string(), "entries"], query).await
    }

    /// `GET /internal/wallets/{business}/entries/totals`
    pub async fn statement_totals(
        &self,
        business: BusinessId,
        period: &StatementPeriod,
    ) -> Result<StatementTotalsView, CallError> {
        self.0.get_with(&["wallets", &business.to_string(), "entries", "totals"], period).await
    }

    /// `GET /internal/wallets/{business}/spend` with the caller's query string unchanged: wallet validates all of it
    pub async fn spend(&self, business: BusinessId, query: &str) -> Result<SpendView, CallError> {
        self.0.get_with_raw_query(&["wallets", &business.to_string(), "spend"], query).await
    }

    /// `PUT /internal/wallets/{business}/threshold` with the caller's `{thresholdPaise}`
    pub async fn set_threshold(&self, business: BusinessId, body: &Value) -> Result<WalletView, CallError> {
        self.0.send(Method::PUT, &["wallets", &business.to_string(), "threshold"], body).await
    }

    /// `GET /internal/wallets/{business}/orders/{order}/entries`, oldest first: the order's fees, what
    /// is owed of them, and its refund
    pub async fn entries_of_order(
        &self,
        business: BusinessId,
        order: OrderId,
    ) -> Result<Vec<EntryView>, CallError> {
        self.0.get(&["wallets", &business.to_string(), "orders", &order.to_string(), "entries"]).await
    }

    /// `POST /internal/wallets/{business}/top-ups` with the caller's `{amountPaise}`. The same `idempotency_key` and
    /// amount return the same top-up with its current status.
    pub async fn top_up(
        &self,
        business: BusinessId,
        idempotency_key: Option<&str>,
        body: &Value,
    ) -> Result<TopUpView, CallError> {
        let path = ["wallets", &business.to_string(), "top-ups"];
        self.0.send_keyed(Method::POST, &path, idempotency_key, body).await
    }

    /// `GET /internal/wallets/{business}/top-ups`: top-ups whose payment is pending, oldest first
    pub async fn pending_top_ups(&self, business: BusinessId) -> Result<Page<TopUpView>, CallError> {
        self.0.get(&["wallets", &business.to_string(), "top-ups"]).await
    }

    /// `GET /internal/wallets/{business}/top-ups/{id}`
    pub async fn find_top_up(&self, business: BusinessId, id: TopUpId) -> Result<TopUpView, CallError> {
        self.0.get(&["wallets", &business.to_string(), "top-ups", &id.to_string()]).await
    }

    /// `POST /internal/payments/{provider}/notices`
    pub async fn payment_notice(
        &self,
        provider: &str,
        notice: &PaymentNotice,
    ) -> Result<NoticeAnswer, CallError> {
        self.0.send(Method::POST, &["payments", provider, "notices"], notice).await
    }

    /// `POST /internal/wallets/{business}/credits` with the operator's `{amountPaise, reference}`
    pub async fn credit(&self, business: BusinessId, body: &Value) -> Result<CreditView, CallError> {
        self.0.send(Method::POST, &["wallets", &business.to_string(), "credits"], body).await
    }

    /// `POST /internal/wallets/{business}/debits/check` with the body of the debit: refuses what the debit would refuse
    pub async fn check_debit_by_operator(&self, business: BusinessId, body: &Value) -> Result<(), CallError> {
        self.0.send(Method::POST, &["wallets", &business.to_string(), "debits", "check"], body).await
    }

    /// `POST /internal/wallets/{business}/debits` with `{amountPaise, reference, reason, reverses}`
    pub async fn debit_by_operator(
        &self,
        business: BusinessId,
        body: &Value,
    ) -> Result<OperatorDebitView, CallError> {
        self.0.send(Method::POST, &["wallets", &business.to_string(), "debits"], body).await
    }

    /// `POST /internal/wallets/{business}/erasure`: erases what the staff wrote about differences of cash of a closed
    /// business. The ledger stays
    pub async fn erase_business(&self, business: BusinessId) -> Result<ErasureProgress, CallError> {
        self.0.send(Method::POST, &["wallets", &business.to_string(), "erasure"], &Value::Null).await
    }
}
