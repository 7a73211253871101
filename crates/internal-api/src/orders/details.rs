//! Schemas of an order's details (SPECIFICATION §2.1), for the API descriptions only: the services store and forward
//! the details as JSON.

use domain::{Paise, PaymentType};
use utoipa::ToSchema;

/// The recipient.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Customer {
    /// Null once the personal data is erased, like every personal field.
    pub name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
}

/// The delivery address.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct DeliveryAddress {
    pub address_line1: Option<String>,
    pub address_line2: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    /// Six digits. Remains when the personal data is erased, because it names only an area.
    pub pincode: Option<String>,
    pub landmark: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub full_address: Option<String>,
}

/// The pickup address.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PickupPlace {
    pub business_name: Option<String>,
    pub contact_name: Option<String>,
    pub phone: Option<String>,
    pub address_line1: Option<String>,
    pub address_line2: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub pincode: Option<String>,
    pub landmark: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub full_address: Option<String>,
}

/// The parcel.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Package {
    pub description: Option<String>,
    pub items: Option<Vec<Item>>,
    pub total_items: Option<i64>,
    pub weight_kg: Option<f64>,
    pub fragile: Option<bool>,
    pub special_instructions: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Item {
    pub name: Option<String>,
    pub quantity: i64,
    pub price_paise: Paise,
}

/// The payment.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Payment {
    pub payment_type: PaymentType,
    pub order_value_paise: Option<Paise>,
    pub delivery_fee_paise: Paise,
    pub cod_amount_paise: Option<Paise>,
    pub prepaid_amount_paise: Option<Paise>,
    pub currency: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Notes {
    pub customer_note: Option<String>,
    pub internal_note: Option<String>,
}

/// The driver, as reported by the fleet.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct DriverView {
    pub name: Option<String>,
    pub phone: Option<String>,
    pub vehicle: Option<String>,
}
