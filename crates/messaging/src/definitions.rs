//! The queues that a platform creates from its definitions equal the queues that the services declare.

use std::collections::BTreeSet;

use events::queues;
use lapin::types::{AMQPValue, FieldTable};
use serde_json::{Map, Value, json};

use crate::Queue;

const DEFINITIONS: &str = include_str!("../../../deploy/compose/rabbitmq-definitions.json");

fn definitions() -> Value {
    serde_json::from_str(DEFINITIONS).expect("the definitions are JSON")
}

fn arguments(table: &FieldTable) -> Value {
    let pairs = table.inner().iter().map(|(name, value)| {
        let value = match value {
            AMQPValue::LongString(text) => json!(text.to_string()),
            AMQPValue::LongLongInt(number) => json!(number),
            other => panic!("{name}: {other:?}"),
        };
        (name.to_string(), value)
    });
    Value::Object(pairs.collect::<Map<_, _>>())
}

fn defined<'a>(definitions: &'a Value, list: &str) -> &'a [Value] {
    definitions[list].as_array().map(Vec::as_slice).expect("a list")
}

#[test]
fn defined_queues_are_the_declared_ones() {
    let definitions = definitions();
    let mut declared: Vec<(String, Value)> = Vec::new();
    for queue in queues::ALL.map(Queue::shared) {
        declared.push((queue.name().to_owned(), arguments(&queue.arguments())));
        declared.push((queue.dead_letters(), arguments(&Queue::dead_letter_arguments())));
    }
    let mut defined: Vec<(String, Value)> = defined(&definitions, "queues")
        .iter()
        .map(|queue| (queue["name"].as_str().unwrap().to_owned(), queue["arguments"].clone()))
        .collect();
    declared.sort_by(|one, other| one.0.cmp(&other.0));
    defined.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(defined, declared);
}

#[test]
fn defined_bindings_are_the_declared_ones() {
    let definitions = definitions();
    let declared: BTreeSet<(String, String)> = queues::ALL
        .map(Queue::shared)
        .iter()
        .flat_map(|queue| {
            let keys = queue.bindings().iter().cloned().chain(queue.renewal_key());
            keys.map(|key| (queue.name().to_owned(), key)).collect::<Vec<_>>()
        })
        .collect();
    let defined: BTreeSet<(String, String)> = defined(&definitions, "bindings")
        .iter()
        .map(|binding| {
            let text = |name: &str| binding[name].as_str().unwrap().to_owned();
            (text("destination"), text("routing_key"))
        })
        .collect();
    assert_eq!(defined, declared);
}

#[test]
fn each_service_may_read_its_queues() {
    let definitions = definitions();
    for queue in queues::ALL.map(Queue::shared) {
        let (service, own) = queue.name().split_once('.').expect("a service and its queue");
        let rights = defined(&definitions, "permissions").iter().find(|rights| rights["user"] == service);
        let readable = rights.expect("the service has permissions")["read"].as_str().unwrap();
        let is_part = |part: char| part.is_ascii_alphanumeric() || part == '-';
        assert!(
            readable.split(|part| !is_part(part)).any(|name| name == own),
            "{service}: {own} in {readable}"
        );
    }
}
