//! The committed document is current and consistent.

use std::collections::BTreeSet;

use serde_json::Value;

const COMMITTED: &str = include_str!("../../../../../proto-docs/openapi/portal-api.json");

#[test]
fn the_committed_document_is_current() {
    assert!(
        crate::http::openapi::document().unwrap() == COMMITTED,
        "proto-docs/openapi/portal-api.json is outdated. Run `make openapi`."
    );
}

#[test]
fn operation_ids_are_unique_and_references_resolve() {
    let document: Value = serde_json::from_str(COMMITTED).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    each(&document, &mut |value| {
        if let Some(id) = value.get("operationId") {
            assert!(ids.insert(id.to_string()), "{id} is used twice");
            assert!(value["responses"]["default"].is_object(), "{id} has no error response");
        }
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return };
        assert!(document.pointer(&reference[1..]).is_some(), "{reference} does not resolve");
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
