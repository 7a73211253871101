//! Removes personal data from the details of an order. The fields to keep are listed, so a new field is erased unless
//! it is added here.

use serde_json::{Map, Value};

/// Amounts, measures and counts: they describe the parcel and its payment.
const KEPT: [&str; 11] = [
    "payment.paymentType",
    "payment.orderValuePaise",
    "payment.deliveryFeePaise",
    "payment.codAmountPaise",
    "payment.prepaidAmountPaise",
    "payment.currency",
    "package.totalItems",
    "package.weightKg",
    "package.fragile",
    "package.items.quantity",
    "package.items.pricePaise",
];

/// A PIN code explains the fee and identifies no one: tens of thousands of people share it. City and state follow from
/// it, and are free text. The request of a corrected order had another one.
const AREAS: [&str; 3] = ["delivery.pincode", "pickup.pincode", "asSent.delivery.pincode"];

/// The same shape, with null in place of personal data.
pub fn without_personal_data(details: &Value) -> Value {
    stripped(details, "")
}

fn stripped(value: &Value, path: &str) -> Value {
    match value {
        Value::Object(fields) => {
            let strip = |(name, value): (&String, &Value)| {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                (name.clone(), stripped(value, &path))
            };
            Value::Object(fields.iter().map(strip).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| stripped(item, path)).collect()),
        plain if KEPT.contains(&path) || AREAS.contains(&path) && is_area(plain) => plain.clone(),
        _ => Value::Null,
    }
}

fn is_area(pincode: &Value) -> bool {
    let text = pincode.as_str().unwrap_or_default();
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_measures_and_areas_are_kept_and_nothing_else() {
        let details = json!({
            "customer": { "name": "Asha Rao", "phone": "+919800000001", "email": "asha@example.com" },
            "delivery": {
                "addressLine1": "12th Main Road", "city": "Bengaluru", "state": "Karnataka", "pincode": "560038",
                "latitude": 12.97, "longitude": 77.64, "landmark": null,
            },
            "pickup": { "contactName": "Joseph", "phone": "+919800000002", "pincode": "ask Joseph" },
            "package": {
                "description": "insulin", "totalItems": 2, "weightKg": 0.5, "fragile": true,
                "items": [{ "name": "insulin", "quantity": 2, "pricePaise": 45_000 }],
            },
            "payment": { "paymentType": "cod", "codAmountPaise": 94_900, "currency": "INR" },
            "notes": { "customerNote": "ring twice", "internalNote": null },
            "later": "a field of a later version",
        });
        let erased = json!({
            "customer": { "name": null, "phone": null, "email": null },
            "delivery": {
                "addressLine1": null, "city": null, "state": null, "pincode": "560038",
                "latitude": null, "longitude": null, "landmark": null,
            },
            "pickup": { "contactName": null, "phone": null, "pincode": null },
            "package": {
                "description": null, "totalItems": 2, "weightKg": 0.5, "fragile": true,
                "items": [{ "name": null, "quantity": 2, "pricePaise": 45_000 }],
            },
            "payment": { "paymentType": "cod", "codAmountPaise": 94_900, "currency": "INR" },
            "notes": { "customerNote": null, "internalNote": null },
            "later": null,
        });
        assert_eq!(without_personal_data(&details), erased);
        assert_eq!(without_personal_data(&erased), erased, "erasing twice changes nothing more");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z]{8}".prop_map(Value::from),
        ];
        let name = prop::sample::select(vec!["customer", "package", "items", "notes", "name", "delivery"]);
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// All values except objects and arrays.
    fn leaves(value: &Value) -> Vec<&Value> {
        match value {
            Value::Object(fields) => fields.values().flat_map(leaves).collect(),
            Value::Array(items) => items.iter().flat_map(leaves).collect(),
            leaf => vec![leaf],
        }
    }

    proptest! {
        /// For any details: the amounts are unchanged, and all other values are null.
        #[test]
        fn amounts_are_unchanged_and_nothing_else_is_left(more in any_json(), fee in 1..10_000_000_i64) {
            let payment = json!({ "paymentType": "prepaid", "deliveryFeePaise": fee, "currency": "INR" });
            let erased = without_personal_data(&json!({ "payment": payment, "customer": more, "notes": more }));
            prop_assert_eq!(&erased["payment"], &payment);
            for section in ["customer", "notes"] {
                prop_assert!(leaves(&erased[section]).iter().all(|leaf| leaf.is_null()), "{}", erased);
                prop_assert_eq!(leaves(&erased[section]).len(), leaves(&more).len(), "the shape is the same");
            }
        }
    }
}
