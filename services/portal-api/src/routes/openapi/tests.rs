//! The kept document is what the code says, and holds together.

use std::collections::BTreeSet;

use serde_json::Value;

const KEPT: &str = include_str!("../../../../../proto-docs/openapi/portal-api.json");

#[test]
fn what_is_kept_is_current() {
    assert!(
        super::document().unwrap() == KEPT,
        "proto-docs/openapi/portal-api.json is not what the code says. `make openapi` writes it anew."
    );
}

#[test]
fn every_operation_has_a_name_of_its_own_and_every_reference_leads_somewhere() {
    let document: Value = serde_json::from_str(KEPT).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    each(&document, &mut |value| {
        if let Some(id) = value.get("operationId") {
            assert!(ids.insert(id.to_string()), "{id} names two operations");
            assert!(value["responses"]["default"].is_object(), "{id} says nothing of errors");
        }
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return };
        assert!(document.pointer(&reference[1..]).is_some(), "{reference} leads nowhere");
    });
}

fn each(value: &Value, see: &mut impl FnMut(&Value)) {
    see(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| each(item, see)),
        Value::Object(fields) => fields.values().for_each(|field| each(field, see)),
        _ => {}
    }
}
