//! That the document is what is kept, says of every route and every error code, and that its examples are what its schemas say.
//! `make lint` proves that it is an OpenAPI 3.1 document.

use std::collections::BTreeSet;

use domain::{EventKind, Mode};
use serde_json::{Value, json};
use strum::VariantArray;
use test_kit::JsonSchema;

use super::components::is_of_a_request;
use super::samples::SMALLEST;
use super::*;
use crate::domain::{FeedEvent, FeedPosition};
use crate::routes::{feed_page, order_body};

const KEPT: &str = include_str!("../../../../../proto-docs/openapi/order-api.json");

fn made() -> Json {
    document(&Brand::default(), &Url::parse("https://delivery.example").unwrap()).unwrap()
}

fn as_value(document: &Json) -> Value {
    serde_json::from_str(&document.to_string()).unwrap()
}

#[test]
fn what_is_kept_is_current() {
    assert!(
        made().pretty() + "\n" == KEPT,
        "proto-docs/openapi/order-api.json is not what the code says. `make openapi` writes it anew."
    );
}

#[test]
fn operation_ids_are_unique_and_references_resolve() {
    let document = as_value(&made());
    let mut ids = BTreeSet::new();
    each(&document["paths"], &mut |value| {
        if let Some(id) = value.get("operationId").filter(|_| value.get("responses").is_some()) {
            assert!(ids.insert(id.to_string()), "{id} names two operations");
        }
    });
    each(&document, &mut |value| {
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return };
        assert!(document.pointer(&reference[1..]).is_some(), "{reference} leads nowhere");
    });
}

fn each(value: &Value, visit: &mut impl FnMut(&Value)) {
    visit(value);
    match value {
        Value::Object(fields) => fields.values().for_each(|field| each(field, visit)),
        Value::Array(items) => items.iter().for_each(|item| each(item, visit)),
        _ => {}
    }
}

/// Answers' schemas closed, so that a field that is in an example and not in its schema is found, too.
fn closed(schemas: &Value) -> Value {
    let mut schemas = schemas.clone();
    let fields = schemas.as_object_mut().unwrap();
    for (name, schema) in fields.iter_mut().filter(|(name, _)| !is_of_a_request(name)) {
        assert!(schema.get("allOf").is_none(), "{name}: closing it would close its parts");
        if schema.get("properties").is_some() {
            schema["additionalProperties"] = json!(false);
        }
    }
    schemas
}

#[test]
fn examples_are_what_their_schemas_say() {
    let document = as_value(&made());
    let schemas = closed(&document["components"]["schemas"]);
    let mut seen = 0;
    each(&document, &mut |media| {
        let Some(schema) = media.get("schema") else { return };
        let many = media.get("examples").and_then(Value::as_object);
        let many = many.into_iter().flat_map(|examples| examples.values().map(|example| &example["value"]));
        let rules = json!({ "allOf": [schema], "components": { "schemas": schemas } });
        let schema = JsonSchema::new(rules);
        for example in many.chain(media.get("example")) {
            assert_eq!(schema.check(example), Ok(()));
            seen += 1;
        }
    });
    assert!(seen > 100, "only {seen} examples");
}

/// `scope` and `resource` as the URL table has them, with the methods of each.
fn routes_of_the_table() -> BTreeSet<(String, String)> {
    let table = include_str!("../mod.rs");
    let public = table.split("pub fn public(").nth(1).unwrap().split("\n}").next().unwrap();
    let mut routes = BTreeSet::new();
    let mut scope = String::new();
    for piece in public.split(".service(") {
        let quoted = |after: &str| {
            piece.split(after).nth(1).and_then(|rest| rest.split('"').nth(1)).map(str::to_owned)
        };
        if let Some(path) = quoted("scope(") {
            scope = path;
        } else if let Some(path) = quoted("resource(") {
            let is_below =
                !path.starts_with("/v1") && !path.starts_with("/track") && !path.starts_with("/docs");
            let path = if is_below { format!("{scope}{path}") } else { path };
            for method in ["get", "post", "put", "patch", "delete"] {
                if piece.contains(&format!(".route({method}()")) {
                    routes.insert((method.to_owned(), path.replace("{code}", "{trackingCode}")));
                }
            }
        }
    }
    routes
}

#[test]
fn every_route_is_described_and_nothing_else() {
    let document = as_value(&made());
    let methods = |(path, methods): (&String, &Value)| {
        let methods: Vec<String> = methods.as_object().unwrap().keys().cloned().collect();
        methods.into_iter().map(|method| (method, path.clone())).collect::<Vec<_>>()
    };
    let described: BTreeSet<(String, String)> =
        document["paths"].as_object().unwrap().iter().flat_map(methods).collect();
    let mut routes = routes_of_the_table();
    // The description itself.
    let of_the_docs = ["/", "/docs", "/docs/downloads", "/docs/downloads/{file}", "/docs/{page:.*}"];
    for itself in of_the_docs.into_iter().chain(["/v1/openapi.json"]) {
        assert!(routes.remove(&("get".to_owned(), itself.to_owned())), "{itself}");
    }
    assert_eq!(routes, described);
}

/// The codes that the sources give to errors on the public listener.
fn codes_of_the_sources() -> BTreeSet<String> {
    let sources = [
        include_str!("../after_failure.rs"),
        include_str!("../authenticate.rs"),
        include_str!("../backend_only.rs"),
        include_str!("../create_order.rs"),
        include_str!("../errors.rs"),
        include_str!("../evidence.rs"),
        include_str!("../fleet.rs"),
        include_str!("../integration.rs"),
        include_str!("../quota.rs"),
        include_str!("../simulate.rs"),
        include_str!("../timeline.rs"),
        include_str!("../tracking/mod.rs"),
        include_str!("../../../../../crates/web/src/auth.rs"),
        include_str!("../../../../../crates/web/src/body.rs"),
        include_str!("../../../../../crates/web/src/error.rs"),
        include_str!("../../../../../crates/web/src/failures.rs"),
        include_str!("../../../../../crates/web/src/idempotency.rs"),
    ];
    let shipped = sources.map(|source| source.split("#[cfg(test)]\nmod tests").next().unwrap());
    // The code is the first text of a constructor's call. The codes of bare statuses stand in a table of their own.
    let constructors = [
        "ApiError::new(",
        "Self::new(",
        "ApiError::not_found(",
        "unauthorized(",
        "refused(",
        "=> (",
        "=> {\n",
    ];
    let of_source = |source: &'static str| {
        let calls = constructors.into_iter().flat_map(move |call| source.split(call).skip(1));
        calls.filter_map(|call| call.split(");").next().unwrap().split('"').nth(1))
    };
    let is_code = |text: &&str| {
        text.contains('_') && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let codes: BTreeSet<String> =
        shipped.into_iter().flat_map(of_source).filter(is_code).map(str::to_owned).collect();
    assert!(
        codes.len() > 25 && codes.contains("method_not_allowed") && codes.contains("rate_limited"),
        "{codes:?}"
    );
    codes
}

/// Codes of other listeners.
const ELSEWHERE: [&str; 5] = [
    "business_not_found",
    "decision_changed",
    "internal_token_invalid",
    "order_not_completed",
    "simulate_needs_test_order",
];

#[test]
fn every_error_code_has_an_example() {
    let mut shown = BTreeSet::new();
    each(&as_value(&made()), &mut |value| {
        if let (Some(code), Some(_)) = (value.get("code").and_then(Value::as_str), value.get("requestId")) {
            shown.insert(code.to_owned());
        }
    });
    let missing: Vec<String> = codes_of_the_sources()
        .into_iter()
        .filter(|code| !shown.contains(code) && !ELSEWHERE.contains(&code.as_str()))
        .collect();
    assert_eq!(missing, [] as [String; 0], "codes without an example");
}

#[test]
fn bodies_of_the_examples_are_orders_and_what_is_no_order_is_none() {
    let document = as_value(&made());
    let rules = json!({
        "$ref": "#/components/schemas/NewOrder",
        "components": { "schemas": document["components"]["schemas"] },
    });
    let schema = JsonSchema::new(rules);
    let base: Value = serde_json::from_str(SMALLEST).unwrap();
    for (pointer, value, is_good) in [
        ("/orderReference", json!(" A-1 "), true),
        ("/orderReference", json!("A\u{200b}1"), false),
        ("/orderReference", json!("\u{200b}"), false),
        ("/orderReference", json!("A\n1"), false),
        ("/orderReference", json!("A1\n"), true),
        ("/orderReference", json!("x".repeat(129)), false),
        ("/orderReference", json!(1), false),
        ("/customer/name", json!("क्\u{200D}ष"), true),
        ("/customer/name", json!(" \u{3000}"), false),
        ("/customer/name", Value::Null, false),
        ("/customer", Value::Null, false),
        ("/delivery/pincode", json!("560 038"), true),
        ("/delivery/pincode", json!("\t5 6 0\u{a0}0 3 8\n"), true),
        ("/delivery/pincode", json!("560\t038"), false),
        ("/delivery/pincode", json!("056003"), false),
        ("/payment/deliveryFeePaise", json!(0), false),
        ("/payment/deliveryFeePaise", json!(1.5), false),
        ("/payment/deliveryFeePaise", json!(i64::MAX), false),
        ("/payment/paymentType", json!("cash"), false),
    ] {
        let mut body = base.clone();
        *body.pointer_mut(pointer).unwrap() = value;
        assert_eq!(schema.check(&body).is_ok(), is_good, "schema: {body}");
        assert_eq!(order_body::read(&body).is_ok(), is_good, "parser: {body}");
    }
    for (name, value, is_good) in [
        ("payment", json!({ "paymentType": "cod", "deliveryFeePaise": 1 }), false),
        ("payment", json!({ "paymentType": "cod", "deliveryFeePaise": 1, "codAmountPaise": null }), false),
        ("payment", json!({ "paymentType": "cod", "deliveryFeePaise": 1, "codAmountPaise": 0 }), true),
        ("pickup", json!({ "phone": "", "pincode": " ", "addressLine2": "\u{200b}" }), true),
        ("pickup", json!({ "pincode": "12" }), false),
        ("pickup", Value::Null, true),
        ("notes", json!({ "customerNote": "a\nb" }), true),
        ("notes", json!({ "customerNote": "a\u{7}b" }), false),
        ("package", json!({ "items": [{ "quantity": 0 }] }), false),
        ("package", json!({ "items": null, "weightKg": 0.5, "unknown": [1] }), true),
        ("orderSource", json!(""), true),
    ] {
        let mut body = base.clone();
        body[name] = value;
        assert_eq!(schema.check(&body).is_ok(), is_good, "schema: {body}");
        assert_eq!(order_body::read(&body).is_ok(), is_good, "parser: {body}");
    }
}

#[test]
fn patterns_compile_in_every_dialect() {
    let mut seen = 0;
    each(&as_value(&made()), &mut |value| {
        let Some(pattern) = value.get("pattern").and_then(Value::as_str) else { return };
        // Without its flag `u`, JavaScript takes what lies beyond the basic plane for two characters.
        assert!(pattern.chars().all(|c| c <= '\u{ffff}'), "{pattern}");
        assert!(
            !pattern.contains(r"\p") && !pattern.contains(r"\u{") && !pattern.contains("(?"),
            "{pattern}"
        );
        seen += 1;
    });
    assert!(seen > 25, "only {seen} patterns");
}

#[test]
fn each_kind_of_webhook_has_a_schema_and_new_kinds_are_let_in() {
    let document = as_value(&made());
    let rules = json!({
        "$ref": "#/components/schemas/WebhookEvent",
        "components": { "schemas": closed(&document["components"]["schemas"]) },
    });
    let schema = JsonSchema::new(rules);
    let body = |kind: &str, data: Value| {
        json!({
            "id": "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV", "event": kind, "sequence": 4, "mode": "live",
            "occurredAt": "2026-01-31T09:30:00.000Z", "data": data,
            "order": {
                "id": "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", "serviceOrderId": "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV",
                "orderReference": "1001", "trackingCode": "0123456789ABCD", "status": "delivered",
                "trackingUrl": "https://delivery.example/track/0123456789ABCD", "codStatus": "pending",
            },
        })
    };
    let without_order = |mut body: Value| {
        body["order"] = Value::Null;
        body["sequence"] = Value::Null;
        body
    };
    let driver = json!({ "driver": { "name": "Ravi Kumar", "phone": "+919800000003" } });
    let low = json!({ "balancePaise": 10, "thresholdPaise": 100 });
    let mut erased = body("order.failed", json!({}));
    erased["personalDataErasedAt"] = json!("2026-07-31T09:30:00.000Z");
    for (body, is_good) in [
        (body("driver.assigned", driver.clone()), true),
        (body("order.created", json!({})), true),
        (body("order.failed", json!({ "reason": "Nobody at home" })), true),
        (body("order.delivered", json!({ "weather": "rain" })), false),
        (erased, true),
        (body("cod.settled", json!({ "codAmountPaise": 94_900 })), true),
        (body("cod.settled", json!({})), false),
        (without_order(body("order.failed", json!({}))), false),
        (without_order(body("wallet.low_balance", low.clone())), true),
        (without_order(body("wallet.low_balance", json!({}))), false),
        (body("wallet.low_balance", low), false),
        (body("webhook.test", json!({ "reason": "The signature of this test is wrong on purpose." })), true),
        (body("order.rescheduled", json!({ "until": "noon" })), true),
    ] {
        assert_eq!(schema.check(&body).is_ok(), is_good, "{body:#}");
    }
    let media = "/webhooks/orderEvent/post/requestBody/content/application~1json/examples/test/value";
    let test = document.pointer(media).unwrap();
    assert_eq!((&test["mode"], &test["order"]["orderReference"]), (&json!("test"), &json!("webhook-test")));
    let union = &document["components"]["schemas"]["WebhookEvent"];
    for kind in EventKind::VARIANTS {
        assert!(union["discriminator"]["mapping"][kind.as_str()].is_string(), "{kind}");
    }
}

#[test]
fn samples_of_webhooks_are_the_bytes_that_are_sent() {
    let samples = Samples::new(&Brand::default(), &Url::parse("https://delivery.example").unwrap()).unwrap();
    let order = samples.order(Mode::Live, &[]);
    let [_, (_, _, created), (_, _, assigned), ..] = webhooks::of_orders(&samples);
    let moves = samples.moves(&[EventKind::DriverAssigned]);
    for (event, sample) in moves.into_iter().zip([created, assigned]) {
        let found = FeedEvent {
            position: FeedPosition::BEGINNING,
            event,
            mode: order.mode,
            order_reference: order.order_reference.clone(),
            tracking_code: order.tracking_code.clone(),
            personal_data_erased_at: None,
        };
        let sent = feed_page::body(&samples.tracking_urls, &found).unwrap();
        assert_eq!(String::from_utf8(sent).unwrap(), sample);
    }
}
