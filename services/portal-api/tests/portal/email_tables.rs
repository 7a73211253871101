//! Bad input of the calls for e-mail addresses and names: every bad field and value has its code.

use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::portal::Portal;

/// `field code` of each error.
fn errors(answer: &Answer) -> Vec<String> {
    let errors = answer.body["errors"].as_array().cloned().unwrap_or_default();
    let text = |error: &Value, name: &str| error[name].as_str().unwrap().to_owned();
    errors.iter().map(|error| format!("{} {}", text(error, "field"), text(error, "code"))).collect()
}

async fn check(client: &mut Client, method: &str, path: &str, cases: &[(Value, &[&str])]) {
    for (body, expected) in cases {
        let answer = match method {
            "PUT" => client.put(path, body.clone()).await,
            _ => client.post(path, body.clone()).await,
        };
        assert_eq!(answer.status, 400, "{method} {path} {body}: {answer:?}");
        assert_eq!(errors(&answer), *expected, "{method} {path} {body}");
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
        "PUT",
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
        "PUT",
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

#[tokio::test]
async fn every_bad_business_name_and_token_has_its_code() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    check(
        &mut owner,
        "PUT",
        "/v1/portal/business",
        &[
            (json!({}), &["businessName required"]),
            (json!({ "businessName": null }), &["businessName required"]),
            (json!({ "businessName": 7 }), &["businessName invalid_type"]),
            (json!({ "businessName": long(121) }), &["businessName too_long"]),
            (json!({ "businessName": "x", "status": "active" }), &["status unknown_field"]),
        ],
    )
    .await;
    check(
        &mut owner,
        "POST",
        "/v1/portal/email-confirmations/confirm",
        &[
            (json!({}), &["token required"]),
            (json!({ "token": null }), &["token required"]),
            (json!({ "token": "" }), &["token required"]),
            (json!({ "token": 7 }), &["token invalid_type"]),
            (json!({ "token": long(201) }), &["token too_long"]),
            (json!({ "token": "a\u{0}" }), &["token invalid_format"]),
            (json!([]), &[" invalid_type"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn strangers_and_foreign_pages_change_nothing() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    let mut foreign = owner.clone().with_header("origin", "https://evil.example");
    for call in [
        "PUT /email",
        "PUT /name",
        "PUT /business",
        "POST /email-confirmations",
        "POST /email-confirmations/confirm",
    ] {
        let (method, path) = call.split_once(' ').unwrap();
        let path = format!("/v1/portal{path}");
        assert_eq!(portal.stranger().call(method, &path).await.status, 401, "{call}");
        let refused = foreign.call(method, &path).await;
        assert_eq!((refused.status, refused.code()), (403, "foreign_origin"), "{call}");
    }
    assert_eq!(portal.stranger().get("/v1/portal/email").await.status, 401);
    assert_eq!(owner.get("/v1/portal/session").await.body["name"], json!(null));
}
