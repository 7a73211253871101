//! Bad input of the calls for e-mail addresses and names of users: every bad field and value has its code.

use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::portal::Portal;

/// `field code` of each error.
fn errors(answer: &Answer) -> Vec<String> {
    let errors = answer.body["errors"].as_array().cloned().unwrap_or_default();
    let text = |error: &Value, name: &str| error[name].as_str().unwrap().to_owned();
    errors.iter().map(|error| format!("{} {}", text(error, "field"), text(error, "code"))).collect()
}

async fn check(client: &mut Client, path: &str, cases: &[(Value, &[&str])]) {
    for (body, expected) in cases {
        let answer = client.put(path, body.clone()).await;
        assert_eq!(answer.status, 400, "{path} {body}: {answer:?}");
        assert_eq!(errors(&answer), *expected, "{path} {body}");
    }
}

fn long(length: usize) -> String {
    "x".repeat(length)
}

#[tokio::test]
async fn every_bad_address_and_name_has_its_code() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    check(
        &mut owner,
        "/v1/portal/email",
        &[
            (json!({}), &["email required"]),
            (json!({ "email": null }), &["email required"]),
            (json!({ "email": "  " }), &["email required"]),
            (json!({ "email": 7 }), &["email invalid_type"]),
            (json!({ "email": ["a@shop.example"] }), &["email invalid_type"]),
            (json!({ "email": "x" }), &["email invalid_format"]),
            (json!({ "email": "a@b@shop.example" }), &["email invalid_format"]),
            (json!({ "email": "a\u{0}@shop.example" }), &["email invalid_format"]),
            (json!({ "email": "a,b@shop.example" }), &["email invalid_format"]),
            (json!({ "email": format!("{}@shop.example", long(320)) }), &["email too_long"]),
            (json!({ "email": "a@shop.example", "role": "owner" }), &["role unknown_field"]),
            (json!({ "email": "x", "verified": true }), &["verified unknown_field", "email invalid_format"]),
            (json!([]), &[" invalid_type"]),
        ],
    )
    .await;
    check(
        &mut owner,
        "/v1/portal/name",
        &[
            (json!({}), &["name required"]),
            (json!({ "name": "" }), &["name required"]),
            (json!({ "name": " \u{200b} " }), &["name required"]),
            (json!({ "name": 7 }), &["name invalid_type"]),
            (json!({ "name": "a\u{7}b" }), &["name invalid_format"]),
            (json!({ "name": "a\nb" }), &["name invalid_format"]),
            (json!({ "name": "a\u{2066}b" }), &["name invalid_format"]),
            (json!({ "name": "win at evil.example/now" }), &["name invalid_format"]),
            (json!({ "name": long(101) }), &["name too_long"]),
            (json!({ "name": "Asha", "email": "a@b.example" }), &["email unknown_field"]),
            (json!({ "Name": "Asha" }), &["Name unknown_field", "name required"]),
            (json!("Asha"), &[" invalid_type"]),
        ],
    )
    .await;
    let longest = "ü".repeat(100);
    assert_eq!(owner.put("/v1/portal/name", json!({ "name": longest })).await.status, 204);
    let session = owner.get("/v1/portal/session").await.body;
    assert_eq!((&session["name"], &session["email"]), (&json!(longest), &json!("owner@shop.example")));
}
