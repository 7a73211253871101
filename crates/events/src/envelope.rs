//! The envelope of every message.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, EndpointId, EventId, Mode, OrderId, Paise};
use serde::{Deserialize, Serialize};
use strum::EnumCount;
use utoipa::ToSchema;

use crate::{OrderEvent, Remittance, RoutingKey};

/// One event of an outbox. Redeliveries keep the `id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    pub id: EventId,
    pub business_id: BusinessId,
    pub occurred_at: DateTime<Utc>,
    #[serde(flatten)]
    pub body: Body,
}

impl Envelope {
    /// When Waybill recorded the event. Pages and metrics use this time, because the fleet's clock, which dates
    /// `occurred_at` of an order's event, can be wrong.
    pub fn recorded_at(&self) -> DateTime<Utc> {
        match &self.body {
            Body::Order(event) => event.recorded_at.unwrap_or(self.occurred_at),
            _ => self.occurred_at,
        }
    }
}

/// The content of an event. `type` names its kind on the wire; `payload` carries the rest.
#[derive(Clone, Debug, PartialEq, EnumCount, Serialize, Deserialize)]
#[serde(tag = "type", content = "payload")]
pub enum Body {
    /// A delivery was created or moved. From order-api; becomes webhooks.
    #[serde(rename = "order")]
    Order(Box<OrderEvent>),
    /// A key stopped working. From key-management; other services drop it from their caches.
    #[serde(rename = "api_key.revoked")]
    ApiKeyRevoked(ApiKeyRevoked),
    /// A fact that decides about live orders changed. From portal-api.
    #[serde(rename = "business.changed")]
    BusinessChanged {},
    /// A business's data on the portal's pages changed. From portal-api, for its own instances.
    #[serde(rename = "portal.changed")]
    PortalChanged {},
    /// A business placed its first test order. From order-api; a go-live fact.
    #[serde(rename = "test_order.first")]
    FirstTestOrder {},
    /// A wallet was topped up for the first time. From wallet; a go-live fact.
    #[serde(rename = "wallet.funded")]
    WalletFunded {},
    /// A balance fell below its alert threshold. From wallet; becomes an opt-in webhook.
    #[serde(rename = "wallet.low_balance")]
    WalletLowBalance(WalletLowBalance),
    /// The operator or the payment provider took money back. From wallet; the business gets a mail.
    #[serde(rename = "wallet.money_taken_back")]
    WalletMoneyTakenBack(WalletMoneyTakenBack),
    /// A remittance paid out the cash of an order. From wallet; order-api settles the order.
    #[serde(rename = "wallet.cash_remitted")]
    CashRemitted(CashRemitted),
    /// An attempt began that a business asked for, and that is not free. From order-api; wallet takes the fee.
    #[serde(rename = "order.attempt_begun")]
    AttemptBegun(AttemptBegun),
    /// A webhook endpoint keeps failing and will be disabled. From webhook-dispatcher; the business gets a mail.
    #[serde(rename = "webhook_endpoint.failing")]
    EndpointFailing(EndpointFailing),
    /// A webhook endpoint was disabled. From webhook-dispatcher; the business gets a mail.
    #[serde(rename = "webhook_endpoint.disabled")]
    EndpointDisabled(EndpointDisabled),
    /// The personal data of an order was erased. From order-api; other services erase their copies. Not a webhook.
    #[serde(rename = "order.personal_data_erased")]
    PersonalDataErased(PersonalDataErased),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyRevoked {
    pub key_id: ApiKeyId,
    pub mode: Mode,
}

/// Amounts in paise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletLowBalance {
    pub balance_paise: Paise,
    pub threshold_paise: Paise,
}

/// Amounts in paise. `owedPaise` is what the business owes afterwards, because its balance did not cover the amount.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletMoneyTakenBack {
    pub amount_paise: Paise,
    pub balance_paise: Paise,
    pub owed_paise: Paise,
    /// The operator's reference, or the payment provider's id of the refund or dispute.
    pub reference: String,
    /// Of the order, for the fee of another attempt at its delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_reference: Option<String>,
    /// By a refund or dispute at the payment provider, otherwise by the operator.
    pub by_payment_provider: bool,
}

/// The order of a remittance, and the amount that it was settled with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashRemitted {
    pub order_id: OrderId,
    pub amount_paise: Paise,
    pub remittance: Remittance,
}

/// Another attempt at a delivery. The wallet takes its fee once, however often the attempt begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptBegun {
    pub order_id: OrderId,
    /// The business's id of the order, for the statement.
    pub order_reference: String,
    /// 2 for the attempt after the first failure.
    pub attempt: u32,
    /// As it was announced to the business.
    pub fee_paise: Paise,
}

/// `percent` is the share of the time, 50 or 80 %, after which a failing endpoint is disabled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointFailing {
    pub endpoint_id: EndpointId,
    pub percent: i32,
}

/// `reason` is shown to the endpoint's owners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointDisabled {
    pub endpoint_id: EndpointId,
    pub reason: String,
}

/// The order, and when its personal data was erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonalDataErased {
    pub order_id: OrderId,
    pub erased_at: DateTime<Utc>,
}

impl Envelope {
    /// The routing key of this message.
    pub fn routing_key(&self) -> RoutingKey {
        match &self.body {
            Body::Order(order) => RoutingKey::order(order.mode, order.event),
            Body::ApiKeyRevoked(_) => RoutingKey::plain("api_key.revoked"),
            Body::BusinessChanged {} => RoutingKey::plain("business.changed"),
            Body::PortalChanged {} => RoutingKey::plain("portal.changed"),
            Body::FirstTestOrder {} => RoutingKey::plain("test_order.first"),
            Body::WalletFunded {} => RoutingKey::plain("wallet.funded"),
            Body::WalletLowBalance(_) => RoutingKey::plain("wallet.low_balance"),
            Body::WalletMoneyTakenBack(_) => RoutingKey::plain("wallet.money_taken_back"),
            Body::CashRemitted(_) => RoutingKey::plain("wallet.cash_remitted"),
            Body::AttemptBegun(_) => RoutingKey::plain("order.attempt_begun"),
            Body::EndpointFailing(_) => RoutingKey::plain("webhook_endpoint.failing"),
            Body::EndpointDisabled(_) => RoutingKey::plain("webhook_endpoint.disabled"),
            Body::PersonalDataErased(_) => RoutingKey::plain("order.personal_data_erased"),
        }
    }
}
