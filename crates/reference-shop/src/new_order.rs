//! The request body of SPECIFICATION §2.1. Amounts are integers in paise. Unavailable fields are sent as `null`.

use domain::PaymentType;
use serde::{Deserialize, Serialize};

/// An order that a customer has confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewOrder {
    /// The shop's own order id. It never changes and is never reused.
    pub order_reference: String,
    pub order_source: String,
    pub customer: Customer,
    pub delivery: DeliveryAddress,
    pub pickup: Pickup,
    pub package: Package,
    pub payment: Payment,
    pub notes: Notes,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Customer {
    pub name: String,
    /// With the country code.
    pub phone: String,
    pub email: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryAddress {
    pub address_line1: String,
    pub address_line2: Option<String>,
    pub city: String,
    pub state: String,
    pub pincode: String,
    pub landmark: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub full_address: String,
}

/// The pickup address of the business.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pickup {
    pub business_name: String,
    pub contact_name: String,
    pub phone: String,
    pub address_line1: String,
    pub address_line2: Option<String>,
    pub city: String,
    pub state: String,
    pub pincode: String,
    pub landmark: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub full_address: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    pub description: String,
    pub items: Vec<Item>,
    pub total_items: u32,
    pub weight_kg: Option<f64>,
    pub fragile: bool,
    pub special_instructions: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub name: String,
    pub quantity: u32,
    pub price_paise: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    pub payment_type: PaymentType,
    pub order_value_paise: i64,
    /// The shop decides the fee and its wallet pays it; greater than 0.
    pub delivery_fee_paise: i64,
    /// The exact cash that the driver collects; 0 for prepaid.
    pub cod_amount_paise: i64,
    /// The amount that the shop has already collected; 0 for cash on delivery.
    pub prepaid_amount_paise: i64,
    /// `INR`.
    pub currency: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notes {
    pub customer_note: Option<String>,
    pub internal_note: Option<String>,
}

const SAMPLE_GOODS_PAISE: i64 = 2 * 45_000 + 34_900;
const SAMPLE_FEE_PAISE: i64 = 4_900;

impl NewOrder {
    /// A sample order of a coffee roaster in Bengaluru, paid in cash at the door: ₹1,249 of goods and a delivery fee of
    /// ₹49, which the total includes.
    pub fn sample(reference: &str) -> Self {
        Self {
            order_reference: reference.to_owned(),
            order_source: "business_website".into(),
            customer: Customer {
                name: "Asha Rao".into(),
                phone: "+919800000001".into(),
                email: Some("asha.rao@example.com".into()),
            },
            delivery: sample_delivery(),
            pickup: sample_pickup(),
            package: sample_package(),
            payment: Payment {
                payment_type: PaymentType::Cod,
                order_value_paise: SAMPLE_GOODS_PAISE,
                delivery_fee_paise: SAMPLE_FEE_PAISE,
                cod_amount_paise: SAMPLE_GOODS_PAISE + SAMPLE_FEE_PAISE,
                prepaid_amount_paise: 0,
                currency: "INR".into(),
            },
            notes: Notes { customer_note: Some("Please ring twice.".into()), internal_note: None },
        }
    }

    /// As [`NewOrder::sample`], paid on the website.
    pub fn sample_prepaid(reference: &str) -> Self {
        let mut order = Self::sample(reference);
        order.payment.payment_type = PaymentType::Prepaid;
        order.payment.prepaid_amount_paise = order.payment.cod_amount_paise;
        order.payment.cod_amount_paise = 0;
        order
    }
}

fn sample_delivery() -> DeliveryAddress {
    DeliveryAddress {
        address_line1: "Flat 402, Lake View Residency".into(),
        address_line2: Some("12th Main Road, Indiranagar".into()),
        city: "Bengaluru".into(),
        state: "Karnataka".into(),
        pincode: "560038".into(),
        landmark: Some("Opposite the metro station".into()),
        latitude: Some(12.9784),
        longitude: Some(77.6408),
        full_address:
            "Flat 402, Lake View Residency, 12th Main Road, Indiranagar, Bengaluru, Karnataka 560038".into(),
    }
}

fn sample_pickup() -> Pickup {
    Pickup {
        business_name: "Malabar Coffee Works".into(),
        contact_name: "Joseph Mathew".into(),
        phone: "+919800000002".into(),
        address_line1: "27, Church Street".into(),
        address_line2: None,
        city: "Bengaluru".into(),
        state: "Karnataka".into(),
        pincode: "560001".into(),
        landmark: None,
        latitude: Some(12.9751),
        longitude: Some(77.6046),
        full_address: "27, Church Street, Bengaluru, Karnataka 560001".into(),
    }
}

fn sample_package() -> Package {
    Package {
        description: "Coffee and a filter".into(),
        items: vec![
            Item { name: "Monsooned Malabar, 500 g".into(), quantity: 2, price_paise: 45_000 },
            Item { name: "South Indian coffee filter".into(), quantity: 1, price_paise: 34_900 },
        ],
        total_items: 3,
        weight_kg: Some(1.4),
        fragile: false,
        special_instructions: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_has_the_shape_of_the_specification() {
        let written = serde_json::to_value(NewOrder::sample("A-1")).unwrap();
        for (part, fields) in [
            ("customer", "email name phone"),
            (
                "delivery",
                "addressLine1 addressLine2 city fullAddress landmark latitude longitude pincode state",
            ),
            (
                "pickup",
                "addressLine1 addressLine2 businessName city contactName fullAddress landmark latitude longitude phone \
                 pincode state",
            ),
            ("package", "description fragile items specialInstructions totalItems weightKg"),
            (
                "payment",
                "codAmountPaise currency deliveryFeePaise orderValuePaise paymentType prepaidAmountPaise",
            ),
            ("notes", "customerNote internalNote"),
        ] {
            let mut names: Vec<_> = written[part].as_object().unwrap().keys().map(String::as_str).collect();
            names.sort_unstable();
            assert_eq!(names.join(" "), fields, "{part}");
        }
        assert_eq!(written["payment"]["paymentType"], "cod");
        assert_eq!(written["package"]["items"][0]["pricePaise"], 45_000);
    }

    #[test]
    fn the_sample_s_amounts_agree() {
        for order in [NewOrder::sample("A-1"), NewOrder::sample_prepaid("A-2")] {
            let goods: i64 =
                order.package.items.iter().map(|item| i64::from(item.quantity) * item.price_paise).sum();
            let payment = &order.payment;
            assert_eq!(goods, payment.order_value_paise);
            assert_eq!(
                payment.cod_amount_paise + payment.prepaid_amount_paise,
                goods + payment.delivery_fee_paise
            );
            assert_eq!(payment.cod_amount_paise == 0, payment.payment_type == PaymentType::Prepaid);
        }
    }
}
