//! Who may call the integration API, and how often: limits per key with the headers of the IETF draft, replays apart,
//! and no browsers (`spec.md` §1.7, `design.md` §5).

use std::time::Instant;

use demo::clients::{Integration, Reply};
use domain::Mode;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};

use crate::business::Business;
use crate::harness::{OrderApi, smallest_order};

const BURST: u64 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_limited_and_told_so() -> anyhow::Result<()> {
    let limits = [("WAYBILL_LIMITS__REQUESTS_PER_SECOND", "1"), ("WAYBILL_LIMITS__BURST", "20")];
    let service = OrderApi::with(&limits).await;
    let business = service.business(0);
    let key = business.test()?;

    let begun = Instant::now();
    let placed = key.create("placed", &smallest_order("placed")).await?;
    assert_eq!(placed.status, 201, "{}", placed.text);
    assert_eq!(placed.header("RateLimit-Policy"), Some("\"default\";q=20;w=20"));
    assert_eq!(placed.header("RateLimit"), Some("\"default\";r=19;t=1"));
    every_answer_says_where_the_caller_stands(&business, &key, begun).await?;

    let refused = call_until_refused(&key).await?;
    assert_eq!(refused.code(), "rate_limited");
    let wait: u64 = refused.header("Retry-After").unwrap_or_default().parse()?;
    assert!((1..=20).contains(&wait), "{wait}");
    assert_eq!(refused.header("RateLimit"), Some(&*format!("\"default\";r=0;t={wait}")));
    assert!(refused.body["message"].is_string() && refused.body["requestId"].is_string());

    replays_go_on(&key, &placed).await?;
    // A key that was not seen before has a full bucket.
    let other = business.integration(&service.key(business.id, Mode::Test))?;
    let first = other.call(Method::GET, "", None).await?;
    assert_eq!((first.status.as_u16(), left(&first)), (200, BURST - 1));
    Ok(())
}

/// How many calls the key has left, as the answer says.
fn left(reply: &Reply) -> u64 {
    let standing = reply.header("RateLimit").unwrap_or_default();
    let left = standing.strip_prefix("\"default\";r=").and_then(|rest| rest.split(';').next());
    left.and_then(|left| left.parse().ok()).unwrap_or_else(|| panic!("no standing: {standing:?}"))
}

/// Errors as well as successes; a caller that nobody knows hears of the policy alone.
async fn every_answer_says_where_the_caller_stands(
    business: &Business,
    key: &Integration,
    begun: Instant,
) -> anyhow::Result<()> {
    let calls = [
        (Method::GET, "", 200),
        (Method::GET, "/ord_nothing", 404),
        (Method::GET, "?limit=0", 400),
        (Method::POST, "/ord_nothing/cancel", 404),
    ];
    // One call was made before these.
    for ((method, path, status), made) in calls.into_iter().zip(2..) {
        let answer = key.call(method.clone(), path, None).await?;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        // The bucket regains one call each second.
        let regained = begun.elapsed().as_secs();
        let (left, least) = (left(&answer), BURST - made);
        assert!((least..=least + regained).contains(&left), "{method} {path}: {left} left, not {least}");
    }
    let unreadable = key.create("", &smallest_order("r")).await?;
    assert_eq!((unreadable.status.as_u16(), unreadable.code()), (400, "idempotency_key_invalid"));
    assert!(unreadable.header("RateLimit").is_some_and(|standing| standing.starts_with("\"default\"")));
    let unknown = business.integration("nonsense")?.call(Method::GET, "", None).await?;
    assert_eq!((unknown.status.as_u16(), unknown.header("RateLimit")), (401, None));
    assert_eq!(unknown.header("RateLimit-Policy"), Some("\"default\";q=20;w=20"));
    Ok(())
}

async fn call_until_refused(key: &Integration) -> anyhow::Result<Reply> {
    for _ in 0..200 {
        let answer = key.call(Method::GET, "", None).await?;
        if answer.status == 429 {
            return Ok(answer);
        }
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    anyhow::bail!("a bucket of 20 let 200 calls through")
}

/// New orders and replays do not use up what the other needs.
async fn replays_go_on(key: &Integration, placed: &Reply) -> anyhow::Result<()> {
    for _ in 0..30 {
        let replayed = key.create("placed", &smallest_order("placed")).await?;
        assert_eq!((replayed.status, replayed.text.as_str()), (placed.status, placed.text.as_str()));
        assert_eq!(replayed.header("Idempotent-Replayed"), Some("true"));
        assert_eq!(replayed.header("RateLimit-Policy"), Some("\"replay\";q=80;w=20"));
    }
    for n in 0..40 {
        let new = key.create(&format!("new-{n}"), &smallest_order(&format!("new-{n}"))).await?;
        if new.status == 429 {
            assert!(new.header("RateLimit").is_some_and(|standing| standing.starts_with("\"default\";r=0;")));
            return Ok(());
        }
        assert_eq!(new.status, 201, "{}", new.text);
    }
    anyhow::bail!("40 new orders passed a bucket that was empty")
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_are_refused() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let api = business.integration("")?.api;
    let send = |method: Method, path: &str, headers: &[(&'static str, &'static str)]| {
        let body = smallest_order("from-a-page");
        let mut request = api.request(method, path).bearer_auth(&business.test_key).json(&body);
        for (name, value) in headers {
            request = request.header(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        api.send(request.header("Idempotency-Key", "from-a-page"))
    };
    let from_page =
        [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors"), ("origin", "https://shop.example")];
    let preflight = [("origin", "https://shop.example"), ("access-control-request-method", "POST")];
    for (method, path, headers) in [
        (Method::POST, "/integration/orders", &from_page[..]),
        (Method::POST, "/integration/orders", &from_page[..1]),
        (Method::POST, "/integration/orders", &from_page[2..]),
        (Method::GET, "/integration/orders", &from_page[..]),
        (Method::GET, "/integration/orders/ord_nothing", &[("sec-fetch-mode", "navigate")]),
        (Method::OPTIONS, "/integration/orders", &preflight),
        (Method::OPTIONS, "/integration/orders/ord_nothing/cancel", &preflight),
        (Method::GET, "/integration/nothing", &from_page[..]),
    ] {
        let refused = send(method.clone(), path, headers).await?;
        assert_eq!(
            (refused.status.as_u16(), refused.code()),
            (403, "backend_only"),
            "{method} {path} {headers:?}"
        );
        assert!(refused.body["message"].as_str().is_some_and(|message| message.contains("backend")));
        let cors = refused.headers.keys().find(|name| name.as_str().starts_with("access-control-"));
        assert_eq!(cors, None);
    }
    assert_eq!(service.count("orders").await, 0);

    // What `fetch` of Node.js adds by itself on a server.
    let node = [("sec-fetch-mode", "cors"), ("accept-language", "*"), ("user-agent", "node")];
    let placed = send(Method::POST, "/integration/orders", &node).await?;
    assert_eq!(placed.status, 201, "{}", placed.text);
    Ok(())
}
