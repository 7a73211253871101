//! Checks that the AsyncAPI document matches the code, and that other releases can read the events.
#![expect(clippy::expect_used, reason = "an unreadable file fails the test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use events::{Body, Envelope};
use serde_json::{Value, json};
use strum::EnumCount;
use test_kit::JsonSchema;
use waybill_tests::asyncapi::{KINDS, document, samples};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository").to_owned()
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The document and the samples of each recorded release. None before the first one.
fn releases() -> Vec<(Value, Value)> {
    let folder = root().join("tests/releases");
    let entries = fs::read_dir(&folder).expect("the releases").map(|entry| entry.expect("a release").path());
    let mut versions: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    versions.sort();
    versions
        .iter()
        .map(|version| (read(&version.join("events.json")), read(&version.join("samples.json"))))
        .collect()
}

/// The schema of the messages of one kind in a document.
fn schema(description: &Value, kind: &str) -> Option<JsonSchema> {
    let message = description["components"]["messages"].get(kind)?;
    let mut schema = message["payload"].clone();
    schema["components"] = json!({ "schemas": description["components"]["schemas"] });
    Some(JsonSchema::new(schema))
}

#[test]
fn the_document_is_current() {
    let kept = read(&root().join("proto-docs/asyncapi/events.json"));
    assert!(kept == document().expect("a document"), "run `make asyncapi`");
}

#[test]
fn every_kind_of_event_is_described_and_every_message_is_valid() {
    let description = document().expect("a document");
    assert_eq!(KINDS.len(), Body::COUNT);
    let mut seen = BTreeSet::new();
    for sample in samples() {
        let written = serde_json::to_value(&sample).expect("JSON");
        let kind = written["type"].as_str().expect("a type").to_owned();
        let schema = schema(&description, &kind).unwrap_or_else(|| panic!("{kind} is not described"));
        assert_eq!(schema.check(&written), Ok(()));
        let mut broken = written.clone();
        broken["businessId"] = json!(7);
        assert!(schema.check(&broken).is_err(), "the schema of {kind} accepts anything");
        seen.insert(kind);
    }
    assert_eq!(seen, KINDS.iter().map(|kind| kind.name.to_owned()).collect());
}

#[test]
fn released_consumers_can_read_current_events() {
    for (description, _) in releases() {
        let known = &description["components"]["schemas"]["EventKind"]["enum"];
        let known = known.as_array().expect("the kinds of the release");
        for sample in samples() {
            let written = serde_json::to_value(&sample).expect("JSON");
            let kind = written["type"].as_str().expect("a type");
            // An operator switches these on after the last roll-back to a release without them (decision 0068).
            if matches!(&sample.body, Body::Order(order) if order.event.is_request())
                && !known.contains(&written["payload"]["event"])
            {
                continue;
            }
            // The release has no consumer for a newer kind.
            let Some(schema) = schema(&description, kind) else { continue };
            assert_eq!(schema.check(&written), Ok(()));
        }
    }
}

#[test]
fn current_consumers_can_read_released_events() {
    for (_, samples) in releases() {
        for written in samples.as_array().expect("a list") {
            let read: Envelope =
                serde_json::from_value(written.clone()).unwrap_or_else(|error| panic!("{written}: {error}"));
            let again = serde_json::to_value(&read).expect("JSON");
            for (name, value) in written["payload"].as_object().into_iter().flatten() {
                assert_eq!(&again["payload"][name], value, "{name} of {written}");
            }
        }
    }
}
