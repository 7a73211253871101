//! The details of an order, for the descriptions of the APIs. Services store and forward them as JSON and never parse them.

use domain::{Paise, PaymentType};
use utoipa::ToSchema;

/// The person who receives the parcel.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Customer {
    /// The customer's name; null once erased.
    pub name: Option<String>,
    /// With country code, digits only: `+919800000001`; null once erased.
    pub phone: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
}

/// The address that the parcel goes to.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct DeliveryAddress {
    /// House and street.
    pub address_line1: Option<String>,
    /// Floor, flat, company.
    pub address_line2: Option<String>,
    /// City or town.
    pub city: Option<String>,
    /// State or union territory.
    pub state: Option<String>,
    /// Six digits. Kept when everything else is erased.
    pub pincode: Option<String>,
    /// A landmark near the address.
    pub landmark: Option<String>,
    /// In degrees, WGS 84.
    pub latitude: Option<f64>,
    /// In degrees, WGS 84.
    pub longitude: Option<f64>,
    /// The whole address as one text.
    pub full_address: Option<String>,
}

/// The place where the driver picks the parcel up.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PickupPlace {
    /// The name at the door.
    pub business_name: Option<String>,
    /// The person whom the driver asks for.
    pub contact_name: Option<String>,
    /// With country code.
    pub phone: Option<String>,
    /// House and street.
    pub address_line1: Option<String>,
    /// Floor, unit.
    pub address_line2: Option<String>,
    /// City or town.
    pub city: Option<String>,
    /// State or union territory.
    pub state: Option<String>,
    /// Six digits.
    pub pincode: Option<String>,
    /// A landmark near the address.
    pub landmark: Option<String>,
    /// In degrees, WGS 84.
    pub latitude: Option<f64>,
    /// In degrees, WGS 84.
    pub longitude: Option<f64>,
    /// The whole address as one text.
    pub full_address: Option<String>,
}

/// The parcel and its contents.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Package {
    /// A short description.
    pub description: Option<String>,
    /// The contents of the parcel.
    pub items: Vec<Item>,
    /// The number of pieces.
    pub total_items: Option<i64>,
    /// Weight in kilograms.
    pub weight_kg: Option<f64>,
    /// Whether it must be handled with care.
    pub fragile: bool,
    /// For the driver.
    pub special_instructions: Option<String>,
}

/// One line of the order.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Item {
    /// The product.
    pub name: Option<String>,
    /// The number of pieces.
    pub quantity: Option<i64>,
    /// Price of one piece.
    pub price_paise: Option<Paise>,
}

/// The amounts of the order, in paise.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Payment {
    pub payment_type: PaymentType,
    /// Value of the order.
    pub order_value_paise: Option<Paise>,
    /// The delivery fee.
    pub delivery_fee_paise: Paise,
    /// The cash to collect.
    pub cod_amount_paise: Paise,
    /// The amount that the business has already collected.
    pub prepaid_amount_paise: Paise,
    pub currency: Currency,
}

/// Always `INR`.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub enum Currency {
    Inr,
}

/// Notes on the order.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Notes {
    /// From the customer.
    pub customer_note: Option<String>,
    /// From the business.
    pub internal_note: Option<String>,
}

/// The driver, as the fleet introduces them. A simulation makes one up for its event; a test order itself has none.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct DriverView {
    /// Name of the driver.
    pub name: String,
    /// Phone number of the driver; left out when unknown.
    #[schema(nullable = false)]
    pub phone: Option<String>,
    /// The vehicle; left out when unknown.
    #[schema(nullable = false)]
    pub vehicle: Option<String>,
}
