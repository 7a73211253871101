//! Orders as a business sends them.

use serde_json::{Value, json};

/// The smallest valid body.
pub fn smallest_order(reference: &str) -> Value {
    json!({
        "orderReference": reference,
        "customer": { "name": "Asha Rao", "phone": "+919800000001" },
        "delivery": { "addressLine1": "12th Main Road", "city": "Bengaluru", "state": "Karnataka", "pincode": "560038" },
        "payment": { "paymentType": "prepaid", "deliveryFeePaise": 4900 }
    })
}
