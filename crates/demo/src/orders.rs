//! Sample orders of a coffee roaster in Bengaluru, with every field of SPECIFICATION §2.1.

use serde_json::{Value, json};

const GOODS_PAISE: i64 = 2 * 45_000 + 34_900;
/// The fee of a sample order.
pub const SAMPLE_FEE_PAISE: i64 = 4_900;
/// The cash of a sample order that is paid at the door: its goods and its fee.
pub const SAMPLE_CASH_PAISE: i64 = GOODS_PAISE + SAMPLE_FEE_PAISE;

/// An order that is paid in cash at the door.
pub fn sample_order(reference: &str) -> Value {
    json!({
        "orderReference": reference,
        "orderSource": "business_website",
        "customer": { "name": "Asha Rao", "phone": "+919800000001", "email": "asha.rao@example.com" },
        "delivery": {
            "addressLine1": "Flat 402, Lake View Residency",
            "addressLine2": "12th Main Road, Indiranagar",
            "city": "Bengaluru",
            "state": "Karnataka",
            "pincode": "560038",
            "landmark": "Opposite the metro station",
            "latitude": 12.9784,
            "longitude": 77.6408,
            "fullAddress":
                "Flat 402, Lake View Residency, 12th Main Road, Indiranagar, Bengaluru, Karnataka 560038",
        },
        "pickup": {
            "businessName": "Malabar Coffee Works",
            "contactName": "Joseph Mathew",
            "phone": "+919800000002",
            "addressLine1": "27, Church Street",
            "addressLine2": null,
            "city": "Bengaluru",
            "state": "Karnataka",
            "pincode": "560001",
            "landmark": null,
            "latitude": 12.9751,
            "longitude": 77.6046,
            "fullAddress": "27, Church Street, Bengaluru, Karnataka 560001",
        },
        "package": {
            "description": "Coffee and a filter",
            "items": [
                { "name": "Monsooned Malabar, 500 g", "quantity": 2, "pricePaise": 45_000 },
                { "name": "South Indian coffee filter", "quantity": 1, "pricePaise": 34_900 },
            ],
            "totalItems": 3,
            "weightKg": 1.4,
            "fragile": false,
            "specialInstructions": null,
        },
        "payment": {
            "paymentType": "cod",
            "orderValuePaise": GOODS_PAISE,
            "deliveryFeePaise": SAMPLE_FEE_PAISE,
            "codAmountPaise": SAMPLE_CASH_PAISE,
            "prepaidAmountPaise": 0,
            "currency": "INR",
        },
        "notes": { "customerNote": "Please ring twice.", "internalNote": null },
    })
}

/// As [`sample_order`], paid on the website.
pub fn sample_prepaid_order(reference: &str) -> Value {
    let mut order = sample_order(reference);
    order["payment"]["paymentType"] = "prepaid".into();
    order["payment"]["prepaidAmountPaise"] = SAMPLE_CASH_PAISE.into();
    order["payment"]["codAmountPaise"] = 0.into();
    order
}
