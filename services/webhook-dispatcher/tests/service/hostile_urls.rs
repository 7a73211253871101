//! Every spelling of a private address is refused at creation, at update, and before sending. A listener on this
//! machine must never get a connection.

use domain::Clock;
use serde_json::json;
use test_kit::{invalid_fields, refusal};

use crate::harness::Harness;
use crate::hostile_names::{Inside, sent_to};

/// `PORT` is the listener's.
const HOSTILE: &[&str] = &[
    // 127.0.0.1, as a number of any length and base.
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7F.0x0.0x0.0x1:PORT/",
    "http://0x7f.1:PORT/",
    "http://017700000001:PORT/",
    "http://0177.0.0.01:PORT/",
    "http://00000177.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    // With other letters for its digits and dots.
    "http://%31%32%37.0.0.1:PORT/",
    "http://127%2e0%2e0%2e1:PORT/",
    "http://１２７.0.0.1:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://127。0。0。1:PORT/",
    "http://127．0．0．1:PORT/",
    "http://127｡0｡0｡1:PORT/",
    // By name.
    "http://localhost:PORT/",
    "http://LOCALHOST.:PORT/",
    "http://a.b.localhost:PORT/",
    "http://ｌｏｃａｌｈｏｓｔ:PORT/",
    "http://loc%61lhost:PORT/",
    // This machine, otherwise.
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://127.255.255.254:PORT/",
    "http://[::]:PORT/",
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    // IPv4 within IPv6.
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[0:0:0:0:0:ffff:7f00:0001]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::7f00:1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[64:ff9b::a9fe:a9fe]:PORT/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[64:ff9b:1:ffff::10.0.0.1]:PORT/",
    "http://[2002:7f00:1::1]:PORT/",
    "http://[2001:0:7f00:1::1]:PORT/",
    "http://[fe80::5efe:127.0.0.1]:PORT/",
    // Metadata of clouds.
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166:PORT/",
    "http://0xa9fea9fe:PORT/",
    "http://0251.0376.0251.0376:PORT/",
    "http://[::ffff:a9fe:a9fe]:PORT/",
    "http://[fd00:ec2::254]:PORT/",
    "http://100.100.100.200:PORT/",
    "http://168.63.129.16:PORT/",
    "http://192.0.0.192:PORT/",
    // Other networks that are nobody's or somebody's own.
    "http://10.0.0.1:PORT/",
    "http://172.16.0.1:PORT/",
    "http://172.31.255.255:PORT/",
    "http://192.168.0.1:PORT/",
    "http://3232235521:PORT/",
    "http://100.64.0.1:PORT/",
    "http://198.18.0.1:PORT/",
    "http://198.19.255.255:PORT/",
    "http://192.0.2.1:PORT/",
    "http://198.51.100.1:PORT/",
    "http://203.0.113.1:PORT/",
    "http://224.0.0.1:PORT/",
    "http://239.255.255.255:PORT/",
    "http://240.0.0.1:PORT/",
    "http://255.255.255.255:PORT/",
    "http://[fe80::1]:PORT/",
    "http://[fc00::1]:PORT/",
    "http://[fdff::1]:PORT/",
    "http://[fec0::1]:PORT/",
    "http://[ff02::1]:PORT/",
    "http://[2001:db8::1]:PORT/",
    "http://[3fff::1]:PORT/",
    "http://[100::1]:PORT/",
    // What is not what it seems to be.
    "http://[fe80::1%25eth0]:PORT/",
    "http://[::1%25lo]:PORT/",
    "http://shop.example@127.0.0.1:PORT/",
    "http://shop.example:80@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT\\@shop.example/",
    "http://127.0.0.1:PORT#@shop.example/",
    "http://127.0.0.1:PORT?@shop.example/",
    "http:\\\\127.0.0.1:PORT/",
    "http:///127.0.0.1:PORT/",
    "http:127.0.0.1:PORT/",
    "http://127.0.0.1\t:PORT/",
    "http://127.0.0.1%00.shop.example:PORT/",
    "http://shop.example%0d%0a.127.0.0.1:PORT/",
    "http://0xffffffff1:PORT/",
    "http://127.0.0.256:PORT/",
    "http://1.2.3.4.5:PORT/",
    "http://127.0.0.1:65536/",
    "https://127.0.0.1:PORT/",
    "https://[::1]:PORT/",
    // No webhook speaks these.
    "gopher://127.0.0.1:PORT/_",
    "file:///etc/passwd",
    "ftp://127.0.0.1:PORT/",
    "dict://127.0.0.1:PORT/",
    "unix:/var/run/docker.sock",
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
