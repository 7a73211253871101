//! The fields in which a request differs from the order with the same Idempotency-Key.

use serde_json::Value;

use super::{Order, OrderDraft, without_corrections};

/// In one error.
const MAX: usize = 20;

/// Dotted paths of the fields that differ from the request as it was sent, whatever was corrected since. `draft` is the request
/// before the pickup profile completes it. Not compared: a pickup that the profile completed, and unknown fields. Of an erased
/// order only the reference is compared.
pub fn differences(draft: &OrderDraft, order: &Order) -> Vec<String> {
    let mut found = Vec::new();
    if draft.order_reference != order.order_reference {
        found.push("orderReference".to_owned());
    }
    if order.personal_data_erased_at.is_some() {
        return found;
    }
    if draft.order_source != order.order_source {
        found.push("orderSource".to_owned());
    }
    let has_own_pickup = draft.pickup.as_ref().is_some_and(|pickup| !pickup.is_partial());
    let (asked, kept) = (draft.details(), without_corrections(&order.details));
    for section in ["customer", "delivery", "pickup", "package", "payment", "notes"] {
        if section != "pickup" || has_own_pickup {
            compare(section, &asked[section], &kept[section], &mut found);
        }
    }
    found.truncate(MAX);
    found
}

fn compare(path: &str, asked: &Value, kept: &Value, found: &mut Vec<String>) {
    match (asked, kept) {
        (Value::Object(asked), Value::Object(kept)) => {
            for (name, value) in asked {
                compare(&format!("{path}.{name}"), value, kept.get(name).unwrap_or(&Value::Null), found);
            }
        }
        (Value::Array(asked), Value::Array(kept)) if asked.len() == kept.len() => {
            for (index, (asked, kept)) in asked.iter().zip(kept).enumerate() {
                compare(&format!("{path}[{index}]"), asked, kept, found);
            }
        }
        _ if asked == kept || asked.as_f64().is_some_and(|asked| Some(asked) == kept.as_f64()) => {}
        _ => found.push(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_field_that_differs_is_named_once() {
        let kept = json!({ "name": "A", "items": [{ "quantity": 1 }, { "quantity": 2 }], "weightKg": 2.0, "note": null });
        for (asked, fields) in [
            (kept.clone(), &[][..]),
            (
                json!({ "name": "A", "items": [{ "quantity": 1 }, { "quantity": 3 }], "weightKg": 2 }),
                &["s.items[1].quantity"],
            ),
            (json!({ "name": "B", "items": [], "note": "x" }), &["s.items", "s.name", "s.note"]),
        ] {
            let mut found = Vec::new();
            compare("s", &asked, &kept, &mut found);
            found.sort();
            assert_eq!(found, fields, "{asked}");
        }
    }
}
