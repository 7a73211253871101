//! The bodies of the API. A test compares their fields with the OpenAPI document. Texts stay texts where later versions of
//! the service may add values.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{Error, Result};

/// The mode of a key, and of everything that it creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Test,
    Live,
}

impl Mode {
    /// The mode of an API key.
    ///
    /// # Errors
    /// When the text is not `sk_test_…` or `sk_live_…`. The error does not quote it.
    pub fn of_key(api_key: &str) -> Result<Self> {
        let (mode, rest) = match (api_key.strip_prefix("sk_test_"), api_key.strip_prefix("sk_live_")) {
            (Some(rest), _) => (Self::Test, rest),
            (_, Some(rest)) => (Self::Live, rest),
            _ => (Self::Test, ""),
        };
        let is_of_key = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if (8..=200).contains(&rest.len()) && rest.bytes().all(is_of_key) {
            return Ok(mode);
        }
        Err(Error::Argument(
            "api_key (or WAYBILL_API_KEY) must be an API key, sk_test_… or sk_live_…, without white space",
        ))
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Live => "live",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A body of the API: all fields may be missing or null when it is read.
macro_rules! body {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$field_doc])* #[serde(deserialize_with = "null_as_default")] pub $field: $type,)* }
    )*};
}

fn null_as_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A value of another shape, of a later version of the service, counts as absent, so that it stops no reader of events.
fn any_shape<'de, T: Default + DeserializeOwned, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).unwrap_or_default())
}

mod attempts;

pub use attempts::*;

body! {
    /// An order that a customer has confirmed. Amounts are in paise.
    NewOrder {
        /// Your own order id. It never changes and is never reused.
        order_reference: String,
        order_source: Option<String>,
        customer: NewCustomer,
        delivery: NewDelivery,
        /// Your pickup profile if left out.
        pickup: Option<Pickup>,
        package: Option<NewPackage>,
        payment: NewPayment,
        notes: Option<Notes>,
    }
    NewCustomer {
        name: String,
        /// With the country code.
        phone: String,
        email: Option<String>,
    }
    NewDelivery {
        address_line1: String,
        address_line2: Option<String>,
        city: String,
        state: String,
        pincode: String,
        landmark: Option<String>,
        latitude: Option<f64>,
        longitude: Option<f64>,
        full_address: Option<String>,
    }
    NewPackage {
        description: Option<String>,
        items: Option<Vec<Item>>,
        total_items: Option<i64>,
        weight_kg: Option<f64>,
        fragile: Option<bool>,
        special_instructions: Option<String>,
    }
    NewPayment {
        payment_type: PaymentType,
        delivery_fee_paise: i64,
        order_value_paise: Option<i64>,
        /// The exact cash that the driver collects.
        cod_amount_paise: Option<i64>,
        prepaid_amount_paise: Option<i64>,
        currency: Option<String>,
    }
    Pickup {
        business_name: Option<String>,
        contact_name: Option<String>,
        phone: Option<String>,
        address_line1: Option<String>,
        address_line2: Option<String>,
        city: Option<String>,
        state: Option<String>,
        pincode: Option<String>,
        landmark: Option<String>,
        latitude: Option<f64>,
        longitude: Option<f64>,
        full_address: Option<String>,
    }
    Item {
        name: Option<String>,
        quantity: Option<i64>,
        price_paise: Option<i64>,
    }
    Notes {
        customer_note: Option<String>,
        internal_note: Option<String>,
    }
    /// The answer to a created order.
    OrderCreated {
        id: String,
        service_order_id: String,
        order_reference: String,
        tracking_code: String,
        tracking_url: String,
        status: String,
        mode: String,
        created_at: String,
        warnings: Vec<Warning>,
    }
    Order {
        id: String,
        service_order_id: String,
        order_reference: String,
        order_source: String,
        tracking_code: String,
        tracking_url: String,
        status: String,
        cod_status: String,
        mode: String,
        customer: Customer,
        delivery: Address,
        pickup: Option<Pickup>,
        package: Package,
        payment: Payment,
        notes: Notes,
        fee_charged_paise: i64,
        refunded_paise: i64,
        driver: Option<Driver>,
        reason: Option<String>,
        /// Why the delivery failed, as a word of a list that later versions of the service extend.
        reason_code: Option<String>,
        failed_attempts: i64,
        reattempt: Option<Reattempt>,
        reattempt_possible: bool,
        /// Of another attempt that is asked for now.
        reattempt_fee_paise: i64,
        /// Of the attempts that began.
        reattempt_fees_paise: i64,
        return_requested_at: Option<String>,
        return_requested_by: Option<String>,
        corrections: Vec<Correction>,
        cod_collected_paise: Option<i64>,
        cod_handed_over_paise: Option<i64>,
        cod_settled_paise: Option<i64>,
        cod_discrepancy_paise: Option<i64>,
        cod_difference_paise: Option<i64>,
        created_at: String,
        updated_at: String,
        personal_data_erased_at: Option<String>,
    }
    /// Its fields are `None` after an erasure of personal data.
    Customer {
        name: Option<String>,
        phone: Option<String>,
        email: Option<String>,
    }
    Address {
        address_line1: Option<String>,
        address_line2: Option<String>,
        city: Option<String>,
        state: Option<String>,
        pincode: Option<String>,
        landmark: Option<String>,
        latitude: Option<f64>,
        longitude: Option<f64>,
        full_address: Option<String>,
    }
    Package {
        description: Option<String>,
        items: Vec<Item>,
        total_items: Option<i64>,
        weight_kg: Option<f64>,
        fragile: bool,
        special_instructions: Option<String>,
    }
    Payment {
        payment_type: String,
        order_value_paise: Option<i64>,
        delivery_fee_paise: i64,
        cod_amount_paise: i64,
        prepaid_amount_paise: i64,
        currency: String,
    }
    Driver {
        name: String,
        phone: Option<String>,
        vehicle: Option<String>,
    }
    /// A correction of the phone or the address.
    Correction {
        corrected_at: String,
        key_id: Option<String>,
        /// The names of what changed.
        fields: Vec<String>,
    }
    Warning {
        field: String,
        code: String,
        message: String,
    }
    FieldError {
        field: String,
        code: String,
        message: String,
    }
    /// The delivery that has the reference (409 `order_reference_exists`) or the key (422 `idempotency_key_reused`).
    ExistingOrder {
        id: String,
        service_order_id: String,
        order_reference: String,
        tracking_code: String,
        tracking_url: String,
        status: String,
    }
}

/// The order of a webhook's event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventOrder {
    #[serde(deserialize_with = "any_shape")]
    pub id: String,
    #[serde(deserialize_with = "any_shape")]
    pub service_order_id: String,
    #[serde(deserialize_with = "any_shape")]
    pub order_reference: String,
    #[serde(deserialize_with = "any_shape")]
    pub tracking_code: String,
    #[serde(deserialize_with = "any_shape")]
    pub tracking_url: String,
    #[serde(deserialize_with = "any_shape")]
    pub status: String,
    #[serde(deserialize_with = "any_shape")]
    pub cod_status: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaymentType {
    Cod,
    #[default]
    Prepaid,
}

/// A test order after a simulated move.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedOrder {
    #[serde(flatten)]
    pub order: Order,
    /// The events that are possible next.
    #[serde(default, deserialize_with = "null_as_default")]
    pub legal: Vec<String>,
    /// The running simulation, if there is one.
    pub simulation: Option<Value>,
}

/// One thing that happened to an order; `fields` depend on its `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelineEntry {
    pub id: String,
    /// `status`, `money` or `webhook`.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// What the local order keeps of its delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub id: String,
    pub tracking_code: String,
    pub tracking_url: String,
    pub status: String,
}

impl From<ExistingOrder> for Delivery {
    fn from(order: ExistingOrder) -> Self {
        let ExistingOrder { id, tracking_code, tracking_url, status, .. } = order;
        Self { id, tracking_code, tracking_url, status }
    }
}

impl From<OrderCreated> for Delivery {
    fn from(order: OrderCreated) -> Self {
        let OrderCreated { id, tracking_code, tracking_url, status, .. } = order;
        Self { id, tracking_code, tracking_url, status }
    }
}

/// An event as webhooks and the feed report it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEvent {
    /// The same for every delivery of the event.
    pub id: String,
    /// The kind. Ignore kinds that you do not know, and answer them with 200.
    pub event: String,
    #[serde(default, deserialize_with = "any_shape")]
    pub mode: String,
    /// Counts the events of one order from 1.
    #[serde(default, deserialize_with = "any_shape")]
    pub sequence: Option<i64>,
    #[serde(default, deserialize_with = "any_shape")]
    pub occurred_at: String,
    /// The order after the event; `None` for an event without an order.
    #[serde(default, deserialize_with = "any_shape")]
    pub order: Option<EventOrder>,
    /// Its fields depend on the kind.
    #[serde(default)]
    pub data: Value,
    #[serde(default, deserialize_with = "any_shape")]
    pub personal_data_erased_at: Option<String>,
}

/// A successful answer.
pub(crate) trait Answered: DeserializeOwned {
    /// Whether the service sent it: the answer of a proxy or captive portal lacks fields.
    fn is_complete(&self) -> bool {
        true
    }
}

impl Answered for WebhookEvent {}

impl Answered for OrderCreated {
    fn is_complete(&self) -> bool {
        all_given([&self.id, &self.tracking_code, &self.tracking_url, &self.status])
    }
}

impl Answered for Order {
    fn is_complete(&self) -> bool {
        all_given([&self.id, &self.tracking_code, &self.tracking_url, &self.status])
    }
}

impl ExistingOrder {
    pub(crate) fn is_complete(&self) -> bool {
        all_given([&self.id, &self.tracking_code, &self.tracking_url, &self.status])
    }
}

impl Answered for SimulatedOrder {
    fn is_complete(&self) -> bool {
        self.order.is_complete()
    }
}

fn all_given(fields: [&String; 4]) -> bool {
    fields.iter().all(|field| !field.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_and_absent_fields_are_empty() {
        let fields =
            ["id", "mode", "customer", "package", "payment", "notes", "feeChargedPaise", "createdAt"];
        let nulls: Map<String, Value> = fields.iter().map(|name| ((*name).into(), Value::Null)).collect();
        assert_eq!(serde_json::from_value::<Order>(nulls.into()).unwrap(), Order::default());
        let nested = json!({"id": "ord_1", "package": {"items": null, "fragile": null}, "payment": {"currency": null}});
        let order: Order = serde_json::from_value(nested).unwrap();
        assert_eq!(order, Order { id: "ord_1".into(), ..Order::default() });
        let moved: SimulatedOrder = serde_json::from_value(json!({"id": "ord_1", "legal": null})).unwrap();
        assert!(moved.legal.is_empty());
        let created: OrderCreated = serde_json::from_value(json!({"id": "ord_1", "warnings": null})).unwrap();
        assert!(created.warnings.is_empty() && !created.is_complete());
    }

    #[test]
    fn an_event_of_another_shape_keeps_what_can_be_read() {
        let odd = json!({
            "id": "evt_1", "event": "order.created", "mode": "live", "sequence": "one", "occurredAt": 5,
            "order": {"id": "ord_1", "status": "created", "codStatus": {"later": true}, "trackingUrl": null},
            "data": [], "personalDataErasedAt": 1,
        });
        let event: WebhookEvent = serde_json::from_value(odd).unwrap();
        let order = EventOrder { id: "ord_1".into(), status: "created".into(), ..EventOrder::default() };
        assert_eq!((event.mode.as_str(), event.sequence, event.order), ("live", None, Some(order)));
        let odd = json!({"id": "evt_1", "event": "order.created", "order": "ord_1", "mode": null});
        let event: WebhookEvent = serde_json::from_value(odd).unwrap();
        assert_eq!((event.mode.as_str(), event.order), ("", None));
        for none in
            [json!({"id": "evt_1"}), json!({"event": "x"}), json!({"id": 1, "event": "x"}), json!("evt_1")]
        {
            assert!(serde_json::from_value::<WebhookEvent>(none).is_err());
        }
    }
}
