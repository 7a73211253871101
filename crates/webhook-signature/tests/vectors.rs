//! The file of signatures that the clients of all languages are tested with is what this crate signs and verifies.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like the tests themselves")]

use std::path::Path;

use serde_json::{Map, Value, json};
use webhook_signature::{VerifyError, sign, standard, verify};

const FILE: &str = "../../proto-docs/clients/vectors/webhook-signatures.json";
const PRESENT: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEXT: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const FOREIGN: &str = "whsec_/////////////////////////////////////////w==";
const NOW: i64 = 1_750_000_000;
const TOLERANCE_SECONDS: u32 = 300;
const BODY: &str = "{\"id\":\"evt_1\",\"event\":\"order.delivered\",\"sequence\":5,\"mode\":\"live\",\"occurredAt\":\"2025-06-15T15:06:40Z\",\"order\":null,\"data\":{\"note\":\"Café ☕\"}}";

type Headers = Vec<(&'static str, String)>;

#[test]
fn the_file_contains_what_this_crate_signs() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let cases: Vec<Value> =
        cases().into_iter().map(|(name, headers, body)| case(name, &headers, &body)).collect();
    let vectors = json!({ "secrets": [PRESENT, NEXT], "now": NOW, "cases": cases });
    let text = serde_json::to_string_pretty(&vectors).unwrap() + "\n";
    if std::fs::read_to_string(&file).ok().as_deref() != Some(&text) {
        let fresh = std::env::temp_dir().join("webhook-signatures.json");
        std::fs::write(&fresh, text).unwrap();
        panic!("the signatures changed; if you want that, copy {} to {}", fresh.display(), file.display());
    }
}

fn cases() -> Vec<(&'static str, Headers, String)> {
    let at = |seconds| [own(PRESENT, seconds), standard_trio(PRESENT, seconds)].concat();
    let text = || BODY.to_owned();
    let replaced = |mut headers: Headers, name: &str, value: &str| {
        headers.iter_mut().filter(|(given, _)| *given == name).for_each(|(_, old)| value.clone_into(old));
        headers
    };
    vec![
        ("both schemes", at(NOW), text()),
        ("Standard Webhooks alone", standard_trio(PRESENT, NOW), text()),
        ("the operator's scheme alone", own(PRESENT, NOW), text()),
        ("the next secret, Standard Webhooks", standard_trio(NEXT, NOW), text()),
        ("the next secret, the operator's scheme", own(NEXT, NOW), text()),
        ("a rotation from a foreign secret, the operator's scheme", rotated(FOREIGN, PRESENT), text()),
        ("a rotation from a foreign secret, Standard Webhooks", listed(&[FOREIGN, PRESENT]), text()),
        (
            "a signature of another version in front",
            replaced(
                standard_trio(PRESENT, NOW),
                "webhook-signature",
                &format!("v1a,abc {}", listed_of(PRESENT)),
            ),
            text(),
        ),
        ("300 seconds old", at(NOW - 300), text()),
        ("300 seconds in the future", at(NOW + 300), text()),
        ("301 seconds old", at(NOW - 301), text()),
        ("301 seconds in the future", at(NOW + 301), text()),
        ("a foreign secret", [own(FOREIGN, NOW), standard_trio(FOREIGN, NOW)].concat(), text()),
        ("a line break after the body", at(NOW), format!("{BODY}\n")),
        ("a changed body", at(NOW), BODY.replace("delivered", "cancelled")),
        ("no headers", Vec::new(), text()),
        ("no timestamp", own(PRESENT, NOW).split_off(1), text()),
        ("a timestamp in words", replaced(own(PRESENT, NOW), "Service-Timestamp", "yesterday"), text()),
        ("a timestamp with a sign", replaced(own(PRESENT, NOW), "Service-Timestamp", "+1750000000"), text()),
        (
            "a timestamp in milliseconds",
            replaced(own(PRESENT, NOW), "Service-Timestamp", "1750000000000"),
            text(),
        ),
        (
            "a timestamp of another form",
            replaced(own(PRESENT, NOW), "Service-Timestamp", "01750000000"),
            text(),
        ),
        ("another id", replaced(standard_trio(PRESENT, NOW), "webhook-id", "evt_2"), text()),
        (
            "hex in upper case",
            replaced(
                own(PRESENT, NOW),
                "Service-Signature",
                &sign(PRESENT, NOW, BODY.as_bytes()).to_uppercase(),
            ),
            text(),
        ),
        ("an empty signature", replaced(own(PRESENT, NOW), "Service-Signature", ""), text()),
        (
            "the digest without its scheme",
            replaced(own(PRESENT, NOW), "Service-Signature", &sign(PRESENT, NOW, BODY.as_bytes())[7..]),
            text(),
        ),
    ]
}

fn own(secret: &str, at: i64) -> Headers {
    vec![("Service-Timestamp", at.to_string()), ("Service-Signature", sign(secret, at, BODY.as_bytes()))]
}

fn rotated(present: &str, next: &str) -> Headers {
    let mut headers = own(present, NOW);
    headers.push(("Service-Signature-Next", sign(next, NOW, BODY.as_bytes())));
    headers
}

fn standard_trio(secret: &str, at: i64) -> Headers {
    let signature = standard::sign(secret, "evt_1", at, BODY.as_bytes()).unwrap();
    vec![
        ("webhook-id", "evt_1".into()),
        ("webhook-timestamp", at.to_string()),
        ("webhook-signature", signature),
    ]
}

fn listed_of(secret: &str) -> String {
    standard::sign(secret, "evt_1", NOW, BODY.as_bytes()).unwrap()
}

fn listed(secrets: &[&str]) -> Headers {
    let mut headers = standard_trio(secrets[0], NOW);
    headers[2].1 = secrets.iter().map(|secret| listed_of(secret)).collect::<Vec<_>>().join(" ");
    headers
}

fn case(name: &str, headers: &Headers, body: &str) -> Value {
    let refusal = refusal(headers, body);
    let headers: Map<String, Value> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
    let mut case = json!({ "name": name, "headers": headers, "body": body, "valid": refusal.is_none() });
    if let Some(reason) = refusal {
        case["reason"] = reason.into();
    }
    case
}

/// None if a secret verifies by either scheme.
fn refusal(headers: &Headers, body: &str) -> Option<&'static str> {
    let get = |name| headers.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str());
    let body = body.as_bytes();
    let mut results = Vec::new();
    for secret in [PRESENT, NEXT] {
        if let (Some(id), Some(at), Some(given)) =
            (get("webhook-id"), get("webhook-timestamp"), get("webhook-signature"))
        {
            results.push(standard::verify(secret, id, at, given, body, NOW, TOLERANCE_SECONDS));
        }
        for given in ["Service-Signature", "Service-Signature-Next"].into_iter().filter_map(get) {
            if let Some(at) = get("Service-Timestamp") {
                results.push(verify(secret, at, given, body, NOW, TOLERANCE_SECONDS));
            }
        }
    }
    if results.iter().any(Result::is_ok) {
        return None;
    }
    Some(match results.first() {
        None => "missing_headers",
        Some(Err(VerifyError::MalformedTimestamp)) => "malformed_timestamp",
        Some(Err(VerifyError::TooOld)) => "too_old",
        Some(Err(VerifyError::TooNew)) => "too_new",
        Some(_) => "mismatch",
    })
}
