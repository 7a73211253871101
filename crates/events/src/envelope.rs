//! What every message is wrapped in.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, EndpointId, EventId, Mode, OrderId, Paise};
use serde::{Deserialize, Serialize};
use strum::EnumCount;
use utoipa::ToSchema;

use crate::{OrderEvent, RoutingKey};

/// One event, as it leaves an outbox. `id` stays the same however often it is delivered.
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

/// What happened. `type` names it on the wire, `payload` carries the rest.
#[derive(Clone, Debug, PartialEq, EnumCount, Serialize, Deserialize)]
#[serde(tag = "type", content = "payload")]
pub enum Body {
    /// A delivery was created or moved; from order-api. Becomes webhooks.
    #[serde(rename = "order")]
    Order(Box<OrderEvent>),
    /// A key stopped working; from key-management. Verdicts kept elsewhere are dropped.
    #[serde(rename = "api_key.revoked")]
    ApiKeyRevoked(ApiKeyRevoked),
    /// Something that decides whether a business may order for real changed; from portal-api.
    #[serde(rename = "business.changed")]
    BusinessChanged {},
    /// Something that the portal's pages show of a business changed through portal-api; from portal-api, for its own
    /// instances.
    #[serde(rename = "portal.changed")]
    PortalChanged {},
    /// A business placed a test order for the first time; from order-api. A go-live fact.
    #[serde(rename = "test_order.first")]
    FirstTestOrder {},
    /// A wallet was topped up for the first time; from wallet. A go-live fact.
    #[serde(rename = "wallet.funded")]
    WalletFunded {},
    /// A balance fell below its alert threshold; from wallet. Becomes an opt-in webhook.
    #[serde(rename = "wallet.low_balance")]
    WalletLowBalance(WalletLowBalance),
    /// A webhook endpoint only fails, and part of its time is over; from webhook-dispatcher. Its business is mailed.
    #[serde(rename = "webhook_endpoint.failing")]
    EndpointFailing(EndpointFailing),
    /// A webhook endpoint is not sent to any more; from webhook-dispatcher. Its business is mailed.
    #[serde(rename = "webhook_endpoint.disabled")]
    EndpointDisabled(EndpointDisabled),
    /// What an order held about people was erased; from order-api. Copies of it are erased elsewhere, and nobody is sent it.
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

/// How much of the time has passed that an endpoint may only fail: 50 or 80 %.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointFailing {
    pub endpoint_id: EndpointId,
    pub percent: i32,
}

/// Why, in words that its owners are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointDisabled {
    pub endpoint_id: EndpointId,
    pub reason: String,
}

/// The order, and when what it held about people was erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonalDataErased {
    pub order_id: OrderId,
    pub erased_at: DateTime<Utc>,
}

impl Envelope {
    /// The key this message is published under.
    pub fn routing_key(&self) -> RoutingKey {
        match &self.body {
            Body::Order(order) => RoutingKey::order(order.mode, order.event),
            Body::ApiKeyRevoked(_) => RoutingKey::plain("api_key.revoked"),
            Body::BusinessChanged {} => RoutingKey::plain("business.changed"),
            Body::PortalChanged {} => RoutingKey::plain("portal.changed"),
            Body::FirstTestOrder {} => RoutingKey::plain("test_order.first"),
            Body::WalletFunded {} => RoutingKey::plain("wallet.funded"),
            Body::WalletLowBalance(_) => RoutingKey::plain("wallet.low_balance"),
            Body::EndpointFailing(_) => RoutingKey::plain("webhook_endpoint.failing"),
            Body::EndpointDisabled(_) => RoutingKey::plain("webhook_endpoint.disabled"),
            Body::PersonalDataErased(_) => RoutingKey::plain("order.personal_data_erased"),
        }
    }
}
