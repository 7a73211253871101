//! What the clients of all languages share: signatures, tables, and the fields of the OpenAPI document.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like the tests themselves")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Write, stdout};
use std::process::Command;

use serde::Serialize;
use serde_json::{Value, json};
use waybill_client::webhooks::{Secrets, VerifyOptions, construct_event, sign_test_event};
use waybill_client::{
    Address, ClientOptions, Correction, Customer, DeliveryCode, Driver, Error, EventOrder, EvidenceAttempt,
    EvidenceOrder, EvidencePlace, ExistingOrder, FieldError, Item, NewCustomer, NewDelivery,
    NewDeliveryDetails, NewOrder, NewPackage, NewPayment, NewReattempt, Notes, Order, OrderCreated,
    OrderEvidence, Package, Payment, Photo, Pickup, Reattempt, SimulatedOrder, Warning, Waybill,
    WebhookError, WebhookEvent, indian_phone,
};

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn document(path: &str) -> String {
    fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn the_tables_are_those_of_all_languages() {
    assert_eq!(waybill_client::TABLES, document("clients/vectors/tables.sql"));
}

#[test]
fn ten_digits_of_an_indian_number_get_the_country_code() {
    let cases: Vec<Value> = serde_json::from_str(&document("clients/vectors/indian-phones.json")).unwrap();
    for case in cases {
        assert_eq!(case["expected"], indian_phone(case["given"].as_str().unwrap()), "{case}");
    }
}

#[test]
fn each_signature_vector_is_accepted_or_refused() {
    let vectors: Value = serde_json::from_str(&document("clients/vectors/webhook-signatures.json")).unwrap();
    let secrets = vectors["secrets"].as_array().unwrap().iter().map(|secret| secret.as_str().unwrap());
    let secrets = Secrets::new(secrets).unwrap();
    let options = VerifyOptions { now_seconds: vectors["now"].as_i64(), ..VerifyOptions::default() };
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() > 20);
    for case in cases {
        let headers = case["headers"].as_object().unwrap().iter();
        let headers: Vec<_> = headers.map(|(name, value)| (name, value.as_str().unwrap())).collect();
        let body = case["body"].as_str().unwrap().as_bytes();
        let refused = construct_event(body, headers.as_slice(), &secrets, &options).err();
        assert_eq!(refused.map(WebhookError::reason), case["reason"].as_str(), "{}", case["name"]);
        assert_eq!(refused.is_none(), case["valid"] == true, "{}", case["name"]);
    }
}

#[test]
fn signed_test_events_pass_with_either_scheme_and_any_prefix() {
    let secrets = Secrets::new([SECRET]).unwrap();
    let options = VerifyOptions { header_prefix: "Acme".into(), ..VerifyOptions::default() };
    let body = json!({"id": "evt_1", "event": "order.teleported", "mode": "test", "order": null}).to_string();
    let headers = sign_test_event(body.as_bytes(), &secrets, &options).unwrap();
    for kept in ["webhook", "Acme"] {
        let part: Vec<_> = headers.iter().filter(|(name, _)| name.starts_with(kept)).cloned().collect();
        let event = construct_event(body.as_bytes(), part.as_slice(), &secrets, &options).unwrap();
        assert_eq!(event.event, "order.teleported");
    }
    let changed = format!("{body} ");
    let refused = construct_event(changed.as_bytes(), headers.as_slice(), &secrets, &options);
    assert_eq!(refused, Err(WebhookError::Mismatch));
    let twice: Vec<_> = [headers.clone(), headers].concat();
    let refused = construct_event(body.as_bytes(), twice.as_slice(), &secrets, &options);
    assert!(refused.is_err(), "repeated headers match nothing");
    assert_eq!(sign_test_event(b"[]", &secrets, &options), Err(WebhookError::NotAnEvent));
}

#[test]
fn wrong_secrets_are_errors_of_the_caller() {
    let bare = SECRET.trim_start_matches("whsec_");
    for secret in ["", "whsec_", &SECRET[..SECRET.len() - 1], &format!("{SECRET}\n"), bare] {
        assert!(matches!(Secrets::new([secret]), Err(Error::Argument(_))), "{secret}");
    }
    assert!(Secrets::new([""; 0]).is_err() && Secrets::new([SECRET; 9]).is_err());
    assert!(!format!("{:?}", Secrets::new([SECRET]).unwrap()).contains("AAEC"));
}

#[test]
fn a_live_key_is_sent_over_plain_http_to_this_machine_only() {
    let urls: Value = serde_json::from_str(&document("clients/vectors/live-urls.json")).unwrap();
    for (verdict, is_allowed) in [("allowed", true), ("refused", false)] {
        for url in urls[verdict].as_array().unwrap().iter().map(|url| url.as_str().unwrap()) {
            let live = Waybill::new("sk_live_waybill_1234", url, ClientOptions::default());
            assert_eq!(live.is_ok(), is_allowed, "{url}");
            let test = Waybill::new("sk_test_waybill_1234", url, ClientOptions::default()).unwrap();
            assert_eq!(test.with_key("sk_live_waybill_1234").is_ok(), is_allowed, "{url}");
        }
    }
}

/// A process of its own reads its environment.
#[test]
fn the_key_and_the_url_come_from_the_environment() {
    let run = |key: &str, base_url: &str| {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_client_of_the_environment", "--ignored", "--nocapture"])
            .env("WAYBILL_API_KEY", key)
            .env("WAYBILL_BASE_URL", base_url)
            .output();
        String::from_utf8(child.unwrap().stdout).unwrap()
    };
    let (key, base_url) = ("sk_live_waybill_1234", "https://api.example/v1");
    assert!(run(key, base_url).contains("mode: live"));
    assert!(run("", base_url).contains("api_key (or WAYBILL_API_KEY)"));
    assert!(run(key, "").contains("base_url (or WAYBILL_BASE_URL)"));
}

#[test]
#[ignore = "the test above runs it"]
fn the_client_of_the_environment() {
    match Waybill::from_env(ClientOptions::default()) {
        Ok(waybill) => writeln!(stdout(), "mode: {}", waybill.mode()).unwrap(),
        Err(error) => writeln!(stdout(), "{error}").unwrap(),
    }
}

#[test]
fn the_types_have_the_fields_of_the_openapi_document() {
    let event = r#"{"id":"evt_1","event":"x"}"#;
    let event: WebhookEvent = serde_json::from_str(event).unwrap();
    let document: Value = serde_json::from_str(&document("openapi/order-api.json")).unwrap();
    for (schema, written) in [
        ("NewOrder", fields(&NewOrder::default())),
        ("NewCustomer", fields(&NewCustomer::default())),
        ("NewDelivery", fields(&NewDelivery::default())),
        ("NewPickup", fields(&Pickup::default())),
        ("NewPackage", fields(&NewPackage::default())),
        ("NewItem", fields(&Item::default())),
        ("NewCodPayment", fields(&NewPayment::default())),
        ("NewPrepaidPayment", fields(&NewPayment::default())),
        ("NewNotes", fields(&Notes::default())),
        ("OrderCreated", fields(&OrderCreated::default())),
        ("Order", fields(&Order::default())),
        ("NewReattempt", fields(&NewReattempt::default())),
        ("NewDeliveryDetails", fields(&NewDeliveryDetails::default())),
        ("Reattempt", fields(&Reattempt::default())),
        ("Correction", fields(&Correction::default())),
        ("OrderEvidence", fields(&OrderEvidence::default())),
        ("EvidenceOrder", fields(&EvidenceOrder::default())),
        ("EvidenceAttempt", fields(&EvidenceAttempt::default())),
        ("EvidencePlace", fields(&EvidencePlace::default())),
        ("Photo", fields(&Photo::default())),
        ("DeliveryCode", fields(&DeliveryCode::default())),
        ("SimulatedOrder", fields(&SimulatedOrder::default())),
        ("Customer", fields(&Customer::default())),
        ("Address", fields(&Address::default())),
        ("Pickup", fields(&Pickup::default())),
        ("Package", fields(&Package::default())),
        ("Item", fields(&Item::default())),
        ("Payment", fields(&Payment::default())),
        ("Notes", fields(&Notes::default())),
        ("Driver", fields(&Driver::default())),
        ("Warning", fields(&Warning::default())),
        ("Fault", fields(&FieldError::default())),
        ("ExistingOrder", fields(&ExistingOrder::default())),
        ("WebhookOrder", fields(&EventOrder::default())),
        ("OtherWebhookEvent", fields(&event)),
    ] {
        assert_eq!(written, keys(&document["components"]["schemas"][schema]["properties"]), "{schema}");
    }
}

#[test]
fn the_known_kinds_are_those_of_the_openapi_document() {
    let document: Value = serde_json::from_str(&document("openapi/order-api.json")).unwrap();
    let other = &document["components"]["schemas"]["OtherWebhookEvent"]["properties"]["event"]["not"]["enum"];
    let is_known = |kind: &Value| {
        let event: WebhookEvent = serde_json::from_value(json!({"id": "evt_1", "event": kind})).unwrap();
        event.is_known()
    };
    let kinds = other.as_array().unwrap();
    assert!(!kinds.is_empty() && kinds.iter().all(is_known));
    assert!(!is_known(&json!("order.teleported")));
}

fn fields(body: &impl Serialize) -> BTreeSet<String> {
    keys(&json!(body))
}

fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap().keys().cloned().collect()
}
