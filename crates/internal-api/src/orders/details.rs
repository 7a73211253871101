//! What the details of an order look like (`spec.md` §2.1), for descriptions of the API: they are kept and passed on as
//! JSON, and nothing here reads them.

use domain::{Paise, PaymentType};
use utoipa::ToSchema;

/// Who receives the parcel.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Customer {
    /// Null once erased, as all that tells of people.
    pub name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
}

/// Where it goes.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct DeliveryAddress {
    pub address_line1: Option<String>,
    pub address_line2: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    /// Left when all else is erased: six digits, the area.
    pub pincode: Option<String>,
    pub landmark: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub full_address: Option<String>,
}

/// Where it is fetched.
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

/// What is in it.
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

/// How it is paid.
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

/// Who brings it, as far as the fleet said.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct DriverView {
    pub name: Option<String>,
    pub phone: Option<String>,
    pub vehicle: Option<String>,
}
