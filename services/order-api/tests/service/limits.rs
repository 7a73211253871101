//! Guessed keys and too frequent calls are refused, and valid keys are served. Only the test advances the clock that
//! refills the limits. The snapshot next to this file contains each error.

use std::fmt::Write as _;

use chrono::TimeDelta;
use demo::clients::{Api, Reply};
use domain::Mode;
use reqwest::Method;
use serde_json::Value;

use test_kit::smallest_order;

use crate::harness::OrderApi;

/// Headers of an error.
const HEADERS: [&str; 3] = ["retry-after", "ratelimit-policy", "ratelimit"];
const FAILURES_AT_ONCE: usize = 5;
const BURST: usize = 20;
const LIMITS: [(&str, &str); 4] = [
    ("WAYBILL_LIMITS__PER_ADDRESS", "true"),
    ("WAYBILL_LIMITS__REQUESTS_PER_SECOND", "1"),
    ("WAYBILL_LIMITS__BURST", "20"),
    ("WAYBILL_LIMITS__FAILED_AUTHENTICATIONS", "5"),
];
/// Not configurable.
const TRACKING_BURST: usize = 100;

/// A caller with any token.
struct Caller {
    service: OrderApi,
    api: Api,
}

impl Caller {
    async fn start() -> Self {
        let service = OrderApi::with(&LIMITS).await;
        let api = Api::new(service.base()).unwrap();
        Self { service, api }
    }

    /// A Test key of a new business.
    fn good_key(&self) -> String {
        self.service.business(0).test_key
    }

    /// A well-formed key that key-management does not know.
    fn bad_key(&self) -> String {
        let key = self.service.key(self.service.business_id(), Mode::Test);
        self.service.peers.forget_key(&key);
        key
    }

    async fn create(&self, key: &str, reference: &str) -> Reply {
        let request = self.api.request(Method::POST, "/integration/orders").bearer_auth(key);
        let request = request.header("Idempotency-Key", reference).json(&smallest_order(reference));
        self.api.send(request).await.unwrap()
    }

    async fn call(&self, method: Method, path: &str, token: &str) -> Reply {
        self.api.send(self.api.request(method, path).bearer_auth(token)).await.unwrap()
    }

    async fn list(&self, key: &str) -> Reply {
        self.call(Method::GET, "/integration/orders", key).await
    }
}

#[tokio::test]
async fn too_many_failures_are_refused_and_valid_keys_served() {
    let caller = Caller::start().await;
    let (good, bad, unseen) = (caller.good_key(), caller.bad_key(), caller.good_key());
    assert_eq!(caller.create(&good, "before").await.status, 201);

    for _ in 0..FAILURES_AT_ONCE {
        assert_eq!(caller.list(&bad).await.status, 401);
    }
    let mut refusals = String::new();
    note(&mut refusals, "too many bad keys", &caller.list(&bad).await);
    assert_eq!(caller.create(&good, "good").await.status, 201);

    // Failures of the fleet count for its address too. Its valid token is served.
    let fleet = async |token: &str| caller.call(Method::GET, "/fleet/orders", token).await;
    assert_eq!(fleet("nonsense").await.code(), "too_many_failures");
    assert_eq!(fleet(caller.service.settings.fleet.token.expose()).await.status, 200);

    // After ten times as many failures, recently valid keys are served and others are not verified.
    for _ in FAILURES_AT_ONCE + 2..=10 * FAILURES_AT_ONCE {
        assert_eq!(caller.list(&bad).await.code(), "too_many_failures");
    }
    // One of the failures was the fleet's.
    assert_eq!(caller.service.peers.look_ups(&bad), 10 * FAILURES_AT_ONCE);
    assert_eq!(caller.list(&unseen).await.code(), "too_many_failures");
    assert_eq!(caller.service.peers.look_ups(&unseen), 0);
    assert_eq!(caller.create(&good, "still-good").await.status, 201);
    caller.service.clock.advance(TimeDelta::milliseconds(99));
    assert_eq!(caller.list(&unseen).await.code(), "too_many_failures");
    caller.service.clock.advance(TimeDelta::seconds(1));
    assert_eq!(caller.list(&unseen).await.status, 200);

    // Refills the buckets.
    caller.service.clock.advance(TimeDelta::minutes(1));
    for _ in 0..BURST {
        assert_eq!(caller.list(&good).await.status, 200);
    }
    note(&mut refusals, "too many calls", &caller.list(&good).await);
    assert_eq!(caller.list(&unseen).await.status, 200, "another key has its own bucket");
    caller.service.clock.advance(TimeDelta::seconds(1));
    assert_eq!([caller.list(&good).await.status, caller.list(&good).await.status], [200, 429]);

    let track = async || caller.call(Method::GET, "/tracking/TEST-1234", "").await;
    for _ in 0..TRACKING_BURST {
        assert_eq!(track().await.status, 404);
    }
    note(&mut refusals, "too many tracking codes", &track().await);
    caller.service.clock.advance(TimeDelta::milliseconds(100));
    assert_eq!([track().await.status, track().await.status], [404, 429]);
    insta::assert_snapshot!("limits", refusals);
}

#[tokio::test]
async fn a_key_is_limited_and_its_quota_reported() {
    let caller = Caller::start().await;
    let key = caller.good_key();
    let placed = caller.create(&key, "placed").await;
    assert_eq!(placed.status.as_u16(), 201, "{}", placed.text);
    assert_eq!(placed.header("ratelimit-policy"), Some("\"default\";q=20;w=20"));
    assert_eq!(placed.header("ratelimit"), Some("\"default\";r=19;t=1"));

    // All responses report the quota. An unknown caller gets only the policy.
    for (left, (method, path, status)) in [18, 17, 16, 15].into_iter().zip([
        (Method::GET, "", 200),
        (Method::GET, "/ord_nothing", 404),
        (Method::GET, "?limit=0", 400),
        (Method::POST, "/ord_nothing/cancel", 404),
    ]) {
        let answer = caller.call(method.clone(), &format!("/integration/orders{path}"), &key).await;
        assert_eq!(answer.status.as_u16(), status, "{method} {path}: {}", answer.text);
        let standing = format!("\"default\";r={left};t={}", BURST - left);
        assert_eq!(answer.header("ratelimit"), Some(&*standing), "{method} {path}");
    }
    let unreadable = caller.create(&key, "").await;
    assert_eq!((unreadable.status.as_u16(), unreadable.code()), (400, "idempotency_key_invalid"));
    assert_eq!(unreadable.header("ratelimit"), Some("\"default\";r=14;t=6"));
    let unknown = caller.list("nonsense").await;
    assert_eq!((unknown.status.as_u16(), unknown.header("ratelimit")), (401, None));
    assert_eq!(unknown.header("ratelimit-policy"), Some("\"default\";q=20;w=20"));

    for left in (0..14).rev() {
        let standing = format!("\"default\";r={left};t={}", BURST - left);
        assert_eq!(caller.list(&key).await.header("ratelimit"), Some(&*standing));
    }
    let refused = caller.list(&key).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (429, "rate_limited"));
    assert_eq!(
        (refused.header("retry-after"), refused.header("ratelimit")),
        (Some("1"), Some("\"default\";r=0;t=1"))
    );

    // New orders and replays do not use up each other's quota.
    for _ in 0..30 {
        let replayed = caller.create(&key, "placed").await;
        assert_eq!((replayed.status.as_u16(), &replayed.text), (placed.status.as_u16(), &placed.text));
        assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
        assert_eq!(replayed.header("ratelimit-policy"), Some("\"replay\";q=80;w=20"));
    }
    let new = caller.create(&key, "new").await;
    assert_eq!((new.status.as_u16(), new.header("ratelimit")), (429, Some("\"default\";r=0;t=1")));
    assert_eq!(
        caller.list(&caller.good_key()).await.status,
        200,
        "a key that was not seen before has a full bucket"
    );
}

fn note(refusals: &mut String, case: &str, reply: &Reply) {
    let mut body = reply.body.clone();
    assert_eq!(reply.header("request-id"), body["requestId"].as_str(), "{}", reply.text);
    body["requestId"] = Value::from("req_…");
    writeln!(refusals, "### {case}\n{}", reply.status.as_u16()).expect("a string takes everything");
    for (name, value) in HEADERS.iter().filter_map(|name| Some((name, reply.header(name)?))) {
        writeln!(refusals, "{name}: {value}").expect("a string takes everything");
    }
    writeln!(refusals, "{body:#}\n").expect("a string takes everything");
}
