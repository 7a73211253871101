//! Attacks on single sign-on: forged and stolen tokens, codes and states, and providers that take part.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::client::Answer;
use crate::identity_provider::{
    CLIENT_SECRET, COMPLETE, IdentityProvider, Key, Visit, come_back, hmac, jwt, log_in, start,
};
use crate::portal::Portal;
use crate::sso::entries;
use crate::staff::SESSION;

struct Scene {
    portal: Portal,
    provider: IdentityProvider,
    key: Key,
}

impl Scene {
    async fn new() -> Self {
        let key = Key::new("key-1", 1);
        let provider = IdentityProvider::start(&key);
        let portal = Portal::with_provider(&provider, &[]).await;
        Self { portal, provider, key }
    }

    /// The answer to a log-in whose ID token is made so.
    async fn log_in_with(&self, token: impl Fn(&Key, Value) -> String) -> Answer {
        let mut browser = self.portal.stranger();
        let visit = start(&mut browser).await;
        self.provider.issue(&token(&self.key, self.provider.claims(&self.portal, &visit, &json!({}))));
        come_back(&mut browser, &visit).await
    }

    async fn log_in_as(&self, change: impl Fn(&mut Value)) -> Answer {
        self.log_in_with(|key, mut claims| {
            change(&mut claims);
            key.sign(&claims)
        })
        .await
    }

    fn now(&self) -> i64 {
        self.portal.clock.now().timestamp()
    }
}

#[track_caller]
fn is_rejected(answer: &Answer, what: &str) {
    assert_eq!((answer.status, answer.code()), (422, "sso_response_invalid"), "{what}: {answer:?}");
    assert!(!answer.headers.contains_key("set-cookie"), "{what}");
}

#[tokio::test]
async fn tokens_for_others_are_rejected() {
    let scene = Scene::new().await;
    for (what, name, value) in [
        ("another issuer", "iss", json!("https://id.example.com")),
        ("the issuer with a slash", "iss", json!(format!("{}/", scene.provider.issuer()))),
        ("no issuer", "iss", Value::Null),
        ("another audience", "aud", json!("another-client")),
        ("one more audience", "aud", json!(["waybill-console", "another-client"])),
        ("no audience", "aud", json!([])),
        ("another log-in's nonce", "nonce", json!("stolen")),
        ("no nonce", "nonce", Value::Null),
        ("no subject", "sub", Value::Null),
        ("an empty subject", "sub", json!("")),
        ("a long subject", "sub", json!("x".repeat(256))),
        ("a subject with a NUL", "sub", json!("a\u{0}b")),
        ("a subject with a line break", "sub", json!("a\nb")),
        ("a subject with a control character", "sub", json!("a\u{85}b")),
    ] {
        let answer = scene
            .log_in_as(|claims| match &value {
                Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
                value => claims[name] = value.clone(),
            })
            .await;
        is_rejected(&answer, what);
    }
    let rejected = entries(&scene.portal, "session.failed").await;
    assert_eq!(rejected.len(), 14, "{rejected:?}");
    for entry in rejected {
        assert_eq!(entry["details"], json!({ "singleSignOn": "response_rejected" }), "{entry}");
    }
    assert_eq!(scene.log_in_as(|_| {}).await.status, 200);
}

/// They would be stored, shown and mailed.
#[tokio::test]
async fn names_and_addresses_with_control_characters_count_as_absent() {
    let scene = Scene::new().await;
    let named = scene.log_in_as(|claims| claims["name"] = json!("Asha\u{0} Rao")).await;
    assert_eq!((named.status, &named.body["displayName"]), (200, &named.body["name"]), "{named:?}");
    scene.provider.user_info(json!({ "sub": "person-2", "email": "a\u{0}@operator.example" }));
    let addressed = scene.log_in_as(|claims| {
        claims["sub"] = json!("person-2");
        claims["email"] = json!("a\u{0}sha@operator.example");
    });
    let addressed = addressed.await;
    assert_eq!((addressed.status, addressed.code()), (403, "sso_no_email"), "{addressed:?}");
}

#[tokio::test]
async fn tokens_of_another_time_are_rejected() {
    let scene = Scene::new().await;
    let now = scene.now();
    for (what, iat, exp, accepted) in [
        ("expired", now - 300, now - 61, false),
        ("expired within the skew of clocks", now - 300, now - 59, true),
        ("issued in the future", now + 61, now + 300, false),
        ("issued by a clock that is fast", now + 59, now + 300, true),
        ("issued before the log-in could start", now - 661, now + 300, false),
    ] {
        let answer = scene
            .log_in_as(|claims| {
                claims["iat"] = json!(iat);
                claims["exp"] = json!(exp);
            })
            .await;
        if accepted {
            assert_eq!(answer.status, 200, "{what}: {answer:?}");
        } else {
            is_rejected(&answer, what);
        }
    }
}

#[tokio::test]
async fn forged_signatures_are_rejected() {
    let scene = Scene::new().await;
    let foreign = Key::new("key-1", 2);
    let public = scene.key.public_bytes();
    let with = |header: Value, secret: Vec<u8>| {
        move |_: &Key, claims: Value| jwt(&header, &claims, |input| hmac(&secret, input))
    };
    let hs256 = json!({ "alg": "HS256", "kid": "key-1" });
    let answers = [
        (
            "unsigned",
            scene.log_in_with(|_, claims| jwt(&json!({ "alg": "none" }), &claims, |_| Vec::new())).await,
        ),
        ("unsigned, with the key's id", {
            let header = json!({ "alg": "none", "kid": "key-1" });
            scene.log_in_with(|_, claims| jwt(&header, &claims, |_| Vec::new())).await
        }),
        ("EdDSA without a signature", {
            let header = json!({ "alg": "EdDSA", "kid": "key-1" });
            scene.log_in_with(|_, claims| jwt(&header, &claims, |_| Vec::new())).await
        }),
        ("HS256 with the public key", scene.log_in_with(with(hs256.clone(), public)).await),
        ("HS256 with the client secret", scene.log_in_with(with(hs256, CLIENT_SECRET.into())).await),
        ("the key of a stranger", scene.log_in_with(|_, claims| foreign.sign(&claims)).await),
        ("other claims under a signature", {
            scene
                .log_in_with(|key, claims| {
                    let mut forged = claims.clone();
                    forged["sub"] = json!("person-2");
                    let (real, other) = (key.sign(&claims), key.sign(&forged));
                    let (signed, signature) =
                        (other.rsplit_once('.').unwrap().0, real.rsplit_once('.').unwrap().1);
                    format!("{signed}.{signature}")
                })
                .await
        }),
        ("no token", scene.log_in_with(|_, _| String::new()).await),
    ];
    for (what, answer) in &answers {
        is_rejected(answer, what);
    }
}

#[tokio::test]
async fn a_new_key_is_found_at_once_and_unknown_ids_cause_one_look_a_minute() {
    let scene = Scene::new().await;
    assert_eq!(scene.log_in_as(|_| {}).await.status, 200);
    let looks = || scene.provider.asked("/keys").len();
    assert_eq!(looks(), 1);
    let next = Key::new("key-2", 2);
    scene.provider.publish(&[&next]);
    assert_eq!(scene.log_in_with(|_, claims| next.sign(&claims)).await.status, 200, "rotated");
    assert_eq!(looks(), 2);
    is_rejected(&scene.log_in_as(|_| {}).await, "the former key");
    let stranger = Key::new("key-3", 3);
    for _ in 0..3 {
        is_rejected(&scene.log_in_with(|_, claims| stranger.sign(&claims)).await, "an unknown key");
    }
    assert_eq!(looks(), 2, "within the minute");
    scene.portal.clock.advance(TimeDelta::minutes(1));
    is_rejected(&scene.log_in_with(|_, claims| stranger.sign(&claims)).await, "an unknown key");
    assert_eq!(looks(), 3);
    is_rejected(&scene.log_in_with(|_, claims| stranger.sign_as("key-2", &claims)).await, "a borrowed id");
    assert_eq!(looks(), 3, "the id is known");
}

#[tokio::test]
async fn a_state_works_once_in_its_browser_and_for_ten_minutes() {
    let scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    let visit = start(&mut browser).await;
    let token = scene.key.sign(&scene.provider.claims(&scene.portal, &visit, &json!({})));
    let ended = |answer: &Answer, what: &str| {
        assert_eq!((answer.status, answer.code()), (422, "sso_ended"), "{what}: {answer:?}");
    };
    // The attacker's response in the victim's browser: with the victim's cookie, or without one.
    let mut victim = scene.portal.stranger();
    ended(&come_back(&mut victim, &visit).await, "a browser without a log-in");
    let own = start(&mut victim).await;
    ended(&come_back(&mut victim, &visit).await, "the state of another browser");
    assert!(scene.provider.asked("/token").is_empty(), "no code was redeemed");
    assert_eq!(victim.get(SESSION).await.status, 401);
    scene.provider.issue(&scene.key.sign(&scene.provider.claims(&scene.portal, &own, &json!({}))));
    assert_eq!(come_back(&mut victim, &own).await.status, 200, "the victim's own log-in goes on");

    let copy = browser.clone();
    scene.provider.issue(&token);
    assert_eq!(come_back(&mut browser, &visit).await.status, 200);
    scene.provider.issue(&token);
    ended(&come_back(&mut copy.clone(), &visit).await, "replayed");

    let late = start(&mut browser).await;
    scene.portal.clock.advance(TimeDelta::minutes(10));
    ended(&come_back(&mut browser, &late).await, "expired");
}

#[tokio::test]
async fn of_simultaneous_returns_one_redeems_the_code() {
    let scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    let visit = start(&mut browser).await;
    let token = scene.key.sign(&scene.provider.claims(&scene.portal, &visit, &json!({})));
    for _ in 0..4 {
        scene.provider.issue(&token);
    }
    let mut copies = [browser.clone(), browser.clone(), browser.clone(), browser];
    let [a, b, c, d] = &mut copies;
    let (a, b, c, d) =
        tokio::join!(come_back(a, &visit), come_back(b, &visit), come_back(c, &visit), come_back(d, &visit));
    let mut statuses = [a, b, c, d].map(|answer| answer.status);
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422, 422, 422]);
    assert_eq!(scene.provider.asked("/token").len(), 1);
}

#[tokio::test]
async fn a_replayed_code_or_a_declined_log_in_opens_nothing() {
    let scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    let visit = start(&mut browser).await;
    is_rejected(&come_back(&mut browser, &visit).await, "the provider knows no such code");
    let visit = start(&mut browser).await;
    let body = json!({ "state": visit.state(), "error": "access_denied", "error_description": "<b>" });
    let declined = browser.post(COMPLETE, body.clone()).await;
    assert_eq!((declined.status, declined.code()), (422, "sso_declined"), "{declined:?}");
    assert_eq!(browser.post(COMPLETE, body).await.code(), "sso_ended");
    let visit = start(&mut browser).await;
    scene.provider.answer(200, json!({ "access_token": "x", "token_type": "Bearer" }));
    is_rejected(&come_back(&mut browser, &visit).await, "no ID token");
}

/// Mix-up: an attacker's provider makes the browser bring its response, or the honest provider's code, to the wrong place.
#[tokio::test]
async fn a_response_of_another_provider_is_not_redeemed() {
    let scene = Scene::new().await;
    let with_issuer = async |issuer: Option<&str>, what: &str, accepted: bool| {
        let mut browser = scene.portal.stranger();
        let visit = start(&mut browser).await;
        scene.provider.issue(&scene.key.sign(&scene.provider.claims(&scene.portal, &visit, &json!({}))));
        let redeemed = scene.provider.asked("/token").len();
        let mut body = json!({ "state": visit.state(), "code": "a code" });
        if let Some(issuer) = issuer {
            body["iss"] = json!(issuer);
        }
        let answer = browser.post(COMPLETE, body).await;
        if accepted {
            assert_eq!(answer.status, 200, "{what}: {answer:?}");
        } else {
            is_rejected(&answer, what);
            assert_eq!(scene.provider.asked("/token").len(), redeemed, "{what}: the code was sent");
        }
    };
    let own = scene.provider.issuer();
    with_issuer(None, "a provider that never names itself", true).await;
    with_issuer(Some("https://evil.example"), "another issuer", false).await;
    with_issuer(Some(&own), "its own name", true).await;
    scene.provider.with_metadata("authorization_response_iss_parameter_supported", json!(true));
    scene.portal.clock.advance(TimeDelta::hours(2));
    with_issuer(None, "no name although it promises one", false).await;
    with_issuer(Some(&own), "its own name", true).await;
}

#[tokio::test]
async fn metadata_of_another_issuer_or_with_unsafe_pages_is_not_used() {
    for (name, value) in [
        ("issuer", json!("https://id.example.com")),
        ("authorization_endpoint", json!("javascript:alert(1)")),
        ("end_session_endpoint", json!("data:text/html,x")),
        ("jwks_uri", json!("http://127.0.0.1:1/keys")),
        ("token_endpoint", Value::Null),
    ] {
        let key = Key::new("key-1", 1);
        let provider = IdentityProvider::start(&key);
        provider.with_metadata(name, value);
        let portal = Portal::with_provider(&provider, &[]).await;
        let mut browser = portal.stranger();
        let answer = browser.post(crate::identity_provider::START, json!({ "purpose": "log_in" })).await;
        let answer =
            if answer.status == 201 { come_back(&mut browser, &Visit::of(&answer)).await } else { answer };
        assert_eq!((answer.status, answer.code()), (503, "sso_unavailable"), "{name}: {answer:?}");
    }
}

/// A redirect would lead the client secret, or a request from inside our network, to an address of the provider's choice.
#[tokio::test]
async fn redirects_and_huge_responses_of_a_provider_are_not_followed_or_read() {
    let scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    let visit = start(&mut browser).await;
    scene.provider.answer(307, json!({}));
    is_rejected(&come_back(&mut browser, &visit).await, "a redirect");
    assert!(scene.provider.asked("/elsewhere").is_empty());
    let visit = start(&mut browser).await;
    scene.provider.answer(200, json!({ "access_token": "x".repeat(300 * 1024), "token_type": "Bearer" }));
    let answer = come_back(&mut browser, &visit).await;
    assert_eq!((answer.status, answer.code()), (503, "sso_unavailable"), "{answer:?}");
    assert_eq!(
        log_in(&scene.portal, (&scene.provider, &scene.key), &mut browser, &json!({})).await.status,
        200
    );
}
