//! A private address is refused at creation, at update, and before sending. A listener on this machine must never get
//! a connection.

use domain::Clock;
use serde_json::json;
use test_kit::{invalid_fields, refusal};

use crate::harness::Harness;
use crate::hostile_names::{Inside, sent_to};

/// One of each kind: `url_rule.rs` and `addresses.rs` of `crates/outbound` have all. `PORT` is the listener's.
const HOSTILE: &[&str] = &[
    "http://127.0.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.1:PORT/",
    "http://localhost:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]:PORT/",
    "http://10.0.0.1:PORT/",
    "http://127.0.0.1:PORT\\@shop.example/",
    "https://127.0.0.1:PORT/",
    "file:///etc/passwd",
];

/// No name and no place at all. They are refused where an owner sets them; that a name without an address gets no
/// webhook needs no rule.
const MALFORMED: &[&str] = &[
    "http://127.9.9.9:0/",
    "http://shop.test:0/",
    "http://./",
    "http://../",
    "http://a..test/",
    "http://.a.test/",
    "http://-a.test/",
    "http://a-.test/",
    "http://a.b-/",
    "http://LONG.test/",
    "http://LONG_NAME/",
    "http://@127.9.9.9/",
    "http://:@127.9.9.9/",
    "http://127.9.9.9/LONG_PATH",
];

#[tokio::test]
async fn malformed_urls_are_refused_where_they_are_set() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.allowed_ranges = "127.9.9.9/32".parse().unwrap()
    };
    let harness = Harness::unconnected_with(adjust, Clock::system()).await;
    let endpoint = harness.create(json!({"url": "http://127.9.9.9/"})).await;
    let id = endpoint.view.id.to_string();
    for url in MALFORMED {
        let url = url
            .replace("LONG_PATH", &"क".repeat(300))
            .replace("LONG_NAME", &["a"; 128].join("."))
            .replace("LONG", &"a".repeat(64));
        let created = harness.hooks.create(harness.business, &json!({ "url": url })).await;
        let patched = harness.hooks.update(harness.business, &id, &json!({ "url": url })).await;
        assert!(created.is_err() && patched.is_err(), "{url} was taken");
        for refused in [refusal(created), refusal(patched)] {
            assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["url"]), "{url}");
        }
    }
}

#[tokio::test]
async fn every_hostile_url_is_refused_everywhere() {
    let inside = Inside::listen().await;
    // One other loopback address is allowed, so that an endpoint can be set up at all.
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.allowed_ranges = "127.9.9.9/32".parse().unwrap()
    };
    let harness = Harness::unconnected_with(adjust, Clock::system()).await;
    let endpoint = harness.create(json!({"url": "http://127.9.9.9/"})).await;
    let id = endpoint.view.id.to_string();
    for url in HOSTILE {
        let url = url.replace("PORT", &inside.port.to_string());
        let created = harness.hooks.create(harness.business, &json!({ "url": url })).await;
        let patched = harness.hooks.update(harness.business, &id, &json!({ "url": url })).await;
        assert!(created.is_err() && patched.is_err(), "{url} was taken");
        for refused in [refusal(created), refusal(patched)] {
            assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["url"]), "{url}");
        }
        // As if it had come into the database before the rule that refuses it.
        let error = sent_to(&harness, &endpoint, &url).await;
        assert!(error.starts_with("not sent") || error.contains("no longer usable"), "{url}: {error}");
    }
    assert_eq!(inside.connections(), 0);
}
