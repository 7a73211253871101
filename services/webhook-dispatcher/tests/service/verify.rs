//! Explanations of signatures that do not match, with webhooks that really arrived.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::Mode;
use internal_api::webhooks::SignatureFindings;
use serde_json::{Value, json};
use test_kit::{invalid_fields, refusal, until};

use crate::harness::Harness;
use crate::receiver::{Received, Receiver};

async fn verify(harness: &Harness, endpoint: &str, body: Value) -> SignatureFindings {
    harness.hooks.verify_signature(harness.business, endpoint, &body).await.expect("findings")
}

fn own(received: &Received, body: &str) -> Value {
    json!({
        "timestamp": received.header("service-timestamp"), "signature": received.header("service-signature"),
        "body": body,
    })
}

fn codes(findings: &SignatureFindings) -> Vec<&str> {
    findings.problems.iter().map(|problem| problem.code.as_str()).collect()
}

#[tokio::test]
async fn unchanged_webhooks_match_and_changes_are_explained() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let id = endpoint.view.id.to_string();
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it arrives", async || harness.succeeded(&endpoint).await).await;
    let received = receiver.received().remove(0);
    let body = String::from_utf8(received.body.clone()).unwrap();

    let good = verify(&harness, &id, own(&received, &body)).await;
    assert!(good.matches && good.problems.is_empty(), "{good:?}");
    assert_eq!(good.received, received.header("service-signature"));
    assert_eq!(good.string_to_sign, format!("{}.{body}", received.header("service-timestamp")));
    let mut standard = json!({
        "header": "Webhook-Signature", "id": received.header("webhook-id"),
        "timestamp": received.header("webhook-timestamp"), "signature": received.header("webhook-signature"),
        "bodyBase64": STANDARD.encode(&received.body),
    });
    assert!(verify(&harness, &id, standard.clone()).await.matches);
    standard.as_object_mut().unwrap().remove("header");
    assert!(verify(&harness, &id, standard).await.matches, "an id and v1, tell which header it is");

    // As a framework gives it back that has parsed it; which event it is, it says itself.
    let spaced = serde_json::to_string_pretty(&received.json()).unwrap();
    assert_eq!(codes(&verify(&harness, &id, own(&received, &spaced)).await), ["body_reserialised"]);
    let trailing = verify(&harness, &id, own(&received, &format!("{body}\n"))).await;
    assert_eq!(codes(&trailing), ["trailing_newline"]);
    // Cut off within, which by its id is still known to be another's than what was signed.
    let cut = verify(&harness, &id, own(&received, &body[..body.len() - 10])).await;
    assert_eq!(codes(&cut), ["other_body"]);
    assert!(cut.problems[0].message.contains("that we sent"), "{cut:?}");
    let mut spaced = own(&received, &body);
    spaced["timestamp"] = json!(format!("{}\n", received.header("service-timestamp")));
    spaced["signature"] = json!(format!(" {}", received.header("service-signature")));
    let spaced = verify(&harness, &id, spaced).await;
    assert_eq!((spaced.matches, codes(&spaced)), (false, vec!["white_space", "white_space"]));
    // The other header's signature without its id, which the body says.
    let mut taken_for_own = own(&received, &body);
    taken_for_own["signature"] = json!(received.header("webhook-signature"));
    let taken_for_own = verify(&harness, &id, taken_for_own).await;
    assert_eq!(
        codes(&taken_for_own),
        ["key_decoded", "other_scheme", "wrong_prefix", "base64_instead_of_hex"]
    );
    let other = harness.create(json!({"url": receiver.url()})).await;
    let of_other = verify(&harness, &other.view.id.to_string(), own(&received, &body)).await;
    assert_eq!(codes(&of_other), ["unexplained"]);
    for findings in [good, trailing, of_other] {
        let told = serde_json::to_string(&findings).unwrap();
        assert!(!told.contains("whsec_B") && !told.contains(&endpoint.secret[6..]), "{told}");
    }

    let staged = harness.hooks.rotate_secret(harness.business, &id, &json!({})).await.unwrap();
    let at = received.header("service-timestamp");
    let by_next = webhook_signature::sign(&staged.secret, at.parse().unwrap(), &received.body);
    let mut asked = own(&received, &body);
    asked["signature"] = json!(by_next);
    assert_eq!(codes(&verify(&harness, &id, asked.clone()).await), ["signed_with_next_secret"]);
    asked["header"] = json!("service-signature-next");
    assert!(verify(&harness, &id, asked).await.matches);
}

#[tokio::test]
async fn incomplete_evidence_is_refused() {
    let harness = Harness::unconnected().await;
    let endpoint = harness.endpoint(&Receiver::kind()).await;
    let id = endpoint.view.id.to_string();
    let full = json!({"timestamp": "1", "signature": "sha256=x", "body": "{}"});
    let with = |name: &str, value: Value| {
        let mut body = full.clone();
        body[name] = value;
        body
    };
    for (body, fields) in [
        (json!({}), vec!["timestamp", "signature", "body"]),
        (with("body", json!({"id": 1})), vec!["body"]),
        (with("bodyBase64", json!("e30=")), vec!["bodyBase64"]),
        (with("header", json!("X-Signature")), vec!["header"]),
        (with("header", json!("webhook-signature")), vec!["id"]),
        (with("secret", json!("whsec_x")), vec!["secret"]),
    ] {
        let refused = refusal(harness.hooks.verify_signature(harness.business, &id, &body).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (400, fields), "{body}");
    }
    let large = with("body", json!("x".repeat(300 * 1024)));
    assert_eq!(refusal(harness.hooks.verify_signature(harness.business, &id, &large).await).status, 413);
    let other = harness.new_business();
    assert_eq!(refusal(harness.hooks.verify_signature(other, &id, &full).await).status, 404);
}
