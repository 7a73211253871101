//! Keys that are tried and calls that come too often are refused, and good keys are served. The limits refill by a clock
//! that only the test moves. Each refusal is kept, word by word, in the snapshot next to this file.

mod scene;

use std::fmt::Write as _;

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::Value;

use crate::scene::{Reply, Scene};

/// Headers that belong to a refusal.
const HEADERS: [&str; 3] = ["retry-after", "ratelimit-policy", "ratelimit"];
/// What [`Scene`] sets.
const FAILURES_AT_ONCE: usize = 5;
const BURST: usize = 20;
/// Not a setting.
const TRACKING_BURST: usize = 100;

#[tokio::test]
async fn too_much_is_refused_and_good_keys_are_served() {
    let scene = Scene::start().await;
    let (good, bad, unseen) = (scene.good_key(), scene.bad_key(), scene.good_key());
    assert_eq!(scene.create(&good, "before").await.status, 201);
    let list = async |key: &str| scene.call(Method::GET, "/v1/integration/orders", key, None).await;

    for _ in 0..FAILURES_AT_ONCE {
        assert_eq!(list(&bad).await.status, 401);
    }
    let mut refusals = String::new();
    note(&mut refusals, "too many bad keys", &list(&bad).await);
    assert_eq!(scene.create(&good, "good").await.status, 201);

    // The fleet is counted with the rest of its address, and its good token is served.
    let fleet = async |token: &str| scene.call(Method::GET, "/v1/fleet/orders", token, None).await;
    assert_eq!(fleet("nonsense").await.code(), "too_many_failures");
    assert_eq!(fleet(&scene.fleet_token()).await.status, 200);

    // Beyond ten times as many failures, a key that was good a moment ago is served, and others are not looked up.
    for _ in FAILURES_AT_ONCE + 2..=10 * FAILURES_AT_ONCE {
        assert_eq!(list(&bad).await.code(), "too_many_failures");
    }
    // One of the failures was the fleet's.
    assert_eq!(scene.look_ups(&bad), 10 * FAILURES_AT_ONCE);
    assert_eq!(list(&unseen).await.code(), "too_many_failures");
    assert_eq!(scene.look_ups(&unseen), 0);
    assert_eq!(scene.create(&good, "still-good").await.status, 201);
    scene.clock.advance(TimeDelta::milliseconds(99));
    assert_eq!(list(&unseen).await.code(), "too_many_failures");
    scene.clock.advance(TimeDelta::seconds(1));
    assert_eq!(list(&unseen).await.status, 200);

    // Let the buckets fill up again.
    scene.clock.advance(TimeDelta::minutes(1));
    for _ in 0..BURST {
        assert_eq!(list(&good).await.status, 200);
    }
    note(&mut refusals, "too many calls", &list(&good).await);
    assert_eq!(list(&unseen).await.status, 200, "another key has its own bucket");
    scene.clock.advance(TimeDelta::seconds(1));
    assert_eq!([list(&good).await.status, list(&good).await.status], [200, 429]);

    let track = async || scene.call(Method::GET, "/v1/tracking/TEST-1234", "", None).await;
    for _ in 0..TRACKING_BURST {
        assert_eq!(track().await.status, 404);
    }
    note(&mut refusals, "too many tracking codes", &track().await);
    scene.clock.advance(TimeDelta::milliseconds(100));
    assert_eq!([track().await.status, track().await.status], [404, 429]);
    insta::assert_snapshot!("limits", refusals);
}

#[tokio::test]
async fn a_key_is_limited_and_told_so() {
    let scene = Scene::start().await;
    let key = scene.good_key();
    let list = async |key: &str| scene.call(Method::GET, "/v1/integration/orders", key, None).await;
    let placed = scene.create(&key, "placed").await;
    assert_eq!(placed.status, 201, "{}", placed.text);
    assert_eq!(placed.header("ratelimit-policy"), Some("\"default\";q=20;w=20"));
    assert_eq!(placed.header("ratelimit"), Some("\"default\";r=19;t=1"));

    // Errors as well as successes tell where the caller stands; an unknown caller learns the policy alone.
    for (left, (method, path, status)) in [18, 17, 16, 15].into_iter().zip([
        (Method::GET, "", 200),
        (Method::GET, "/ord_nothing", 404),
        (Method::GET, "?limit=0", 400),
        (Method::POST, "/ord_nothing/cancel", 404),
    ]) {
        let answer = scene.call(method.clone(), &format!("/v1/integration/orders{path}"), &key, None).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        let standing = format!("\"default\";r={left};t={}", BURST - left);
        assert_eq!(answer.header("ratelimit"), Some(&*standing), "{method} {path}");
    }
    let unreadable = scene.create(&key, "").await;
    assert_eq!((unreadable.status, unreadable.code()), (400, "idempotency_key_invalid"));
    assert_eq!(unreadable.header("ratelimit"), Some("\"default\";r=14;t=6"));
    let unknown = list("nonsense").await;
    assert_eq!((unknown.status, unknown.header("ratelimit")), (401, None));
    assert_eq!(unknown.header("ratelimit-policy"), Some("\"default\";q=20;w=20"));

    for left in (0..14).rev() {
        let standing = format!("\"default\";r={left};t={}", BURST - left);
        assert_eq!(list(&key).await.header("ratelimit"), Some(&*standing));
    }
    let refused = list(&key).await;
    assert_eq!((refused.status, refused.code()), (429, "rate_limited"));
    assert_eq!(
        (refused.header("retry-after"), refused.header("ratelimit")),
        (Some("1"), Some("\"default\";r=0;t=1"))
    );

    // New orders and replays do not use up what the other needs.
    for _ in 0..30 {
        let replayed = scene.create(&key, "placed").await;
        assert_eq!((replayed.status, &replayed.text), (placed.status, &placed.text));
        assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
        assert_eq!(replayed.header("ratelimit-policy"), Some("\"replay\";q=80;w=20"));
    }
    let new = scene.create(&key, "new").await;
    assert_eq!((new.status, new.header("ratelimit")), (429, Some("\"default\";r=0;t=1")));
    assert_eq!(list(&scene.good_key()).await.status, 200, "a key that was not seen before has a full bucket");
}

fn note(refusals: &mut String, case: &str, reply: &Reply) {
    let mut body = reply.body.clone();
    assert_eq!(reply.header("request-id"), body["requestId"].as_str(), "{}", reply.text);
    body["requestId"] = Value::from("req_…");
    writeln!(refusals, "### {case}\n{}", reply.status).expect("a string takes everything");
    for (name, value) in HEADERS.iter().filter_map(|name| Some((name, reply.header(name)?))) {
        writeln!(refusals, "{name}: {value}").expect("a string takes everything");
    }
    writeln!(refusals, "{body:#}\n").expect("a string takes everything");
}
