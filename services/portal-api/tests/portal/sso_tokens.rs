//! ID tokens of single sign-on: forged ones open nothing, at the console and at a business, and keys may be rotated.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::business_sso;
use crate::identity_provider::{self as console, CLIENT_ID, Key, hmac, jwt};
use crate::sso_attacks::{SITES, Scene, Site, is_rejected};

#[tokio::test]
async fn forged_tokens_are_rejected() {
    let mut scene = Scene::new().await;
    for site in SITES {
        let rejected = tokens_for_others(&scene, site).await
            + tokens_of_another_time(&scene, site).await
            + forged_signatures(&scene, site).await;
        let entries = scene.failures(site).await;
        assert_eq!(entries.len(), rejected, "{entries:?}");
        for entry in entries {
            assert_eq!(entry["details"], json!({ "singleSignOn": "response_rejected" }), "{entry}");
        }
        assert_eq!(scene.log_in_as(site, |_| {}).await.status, 200);
    }
}

/// Each part returns how many log-ins it tried in vain.
async fn tokens_for_others(scene: &Scene, site: Site) -> usize {
    let other_site = if site == Site::Console { "waybill-shop" } else { CLIENT_ID };
    let cases = [
        ("another issuer", "iss", json!("https://id.example.com")),
        ("the issuer with a slash", "iss", json!(format!("{}/", scene.provider.issuer()))),
        ("no issuer", "iss", Value::Null),
        ("another audience", "aud", json!("another-client")),
        ("the audience of the other site", "aud", json!(other_site)),
        ("one more audience", "aud", json!([CLIENT_ID, "waybill-shop"])),
        ("no audience", "aud", json!([])),
        ("another authorized party", "azp", json!("another-client")),
        ("another log-in's nonce", "nonce", json!("stolen")),
        ("no nonce", "nonce", Value::Null),
        ("no subject", "sub", Value::Null),
        ("an empty subject", "sub", json!("")),
        ("a long subject", "sub", json!("x".repeat(256))),
        ("a subject with a NUL", "sub", json!("a\u{0}b")),
        ("a subject with a line break", "sub", json!("a\nb")),
        ("a subject with a control character", "sub", json!("a\u{85}b")),
    ];
    for (what, name, value) in &cases {
        let answer = scene
            .log_in_as(site, |claims| match value {
                Value::Null => drop(claims.as_object_mut().unwrap().remove(*name)),
                value => claims[*name] = value.clone(),
            })
            .await;
        is_rejected(&answer, what);
    }
    cases.len()
}

async fn tokens_of_another_time(scene: &Scene, site: Site) -> usize {
    let now = scene.portal.clock.now().timestamp();
    let mut rejected = 0;
    for (what, iat, exp, accepted) in [
        ("expired", now - 300, now - 61, false),
        ("expired within the skew of clocks", now - 300, now - 59, true),
        ("issued in the future", now + 61, now + 300, false),
        ("issued by a clock that is fast", now + 59, now + 300, true),
        ("issued before the log-in could start", now - 661, now + 300, false),
    ] {
        let answer = scene
            .log_in_as(site, |claims| {
                claims["iat"] = json!(iat);
                claims["exp"] = json!(exp);
            })
            .await;
        if accepted {
            assert_eq!(answer.status, 200, "{what}: {answer:?}");
        } else {
            is_rejected(&answer, what);
            rejected += 1;
        }
    }
    rejected
}

/// What it is, and its token.
type Forgery<'a> = (&'a str, &'a dyn Fn(&Key, Value) -> String);

async fn forged_signatures(scene: &Scene, site: Site) -> usize {
    let stranger = Key::new("key-1", 2);
    let secret = match site {
        Site::Console => console::CLIENT_SECRET,
        Site::Business => business_sso::SECRET,
    };
    let unsigned = |header: Value, claims: &Value| jwt(&header, claims, |_| Vec::new());
    let hs256 = |claims: &Value, secret: &[u8]| {
        jwt(&json!({ "alg": "HS256", "kid": "key-1" }), claims, |input| hmac(secret, input))
    };
    let cases: [Forgery<'_>; 8] = [
        ("unsigned", &|_, claims| unsigned(json!({ "alg": "none" }), &claims)),
        ("unsigned, with the key's id", &|_, claims| {
            unsigned(json!({ "alg": "none", "kid": "key-1" }), &claims)
        }),
        ("EdDSA without a signature", &|_, claims| {
            unsigned(json!({ "alg": "EdDSA", "kid": "key-1" }), &claims)
        }),
        ("HS256 with the public key", &|key, claims| hs256(&claims, &key.public_bytes())),
        ("HS256 with the client secret", &|_, claims| hs256(&claims, secret.as_bytes())),
        ("the key of a stranger", &|_, claims| stranger.sign(&claims)),
        ("other claims under a signature", &|key, claims| {
            let mut forged = claims.clone();
            forged["sub"] = json!("person-2");
            let (real, other) = (key.sign(&claims), key.sign(&forged));
            format!("{}.{}", other.rsplit_once('.').unwrap().0, real.rsplit_once('.').unwrap().1)
        }),
        ("no token", &|_, _| String::new()),
    ];
    for (what, token) in cases {
        is_rejected(&scene.log_in_with(site, token).await, what);
    }
    cases.len()
}

/// They would be stored, shown and mailed.
#[tokio::test]
async fn names_and_addresses_with_control_characters_count_as_absent() {
    let scene = Scene::new().await;
    let named = scene.log_in_as(Site::Console, |claims| claims["name"] = json!("Asha\u{0} Rao")).await;
    assert_eq!((named.status, &named.body["displayName"]), (200, &named.body["name"]), "{named:?}");
    scene.provider.user_info(json!({ "sub": "person-2", "email": "a\u{0}@operator.example" }));
    let addressed = scene.log_in_as(Site::Console, |claims| {
        claims["sub"] = json!("person-2");
        claims["email"] = json!("a\u{0}sha@operator.example");
    });
    let addressed = addressed.await;
    assert_eq!((addressed.status, addressed.code()), (403, "sso_no_email"), "{addressed:?}");
}

#[tokio::test]
async fn a_new_key_is_found_at_once_and_unknown_ids_cause_one_look_a_minute() {
    let scene = Scene::new().await;
    assert_eq!(scene.log_in_as(Site::Console, |_| {}).await.status, 200);
    let looks = || scene.provider.asked("/keys").len();
    assert_eq!(looks(), 1);
    let next = Key::new("key-2", 2);
    scene.provider.publish(&[&next]);
    assert_eq!(scene.log_in_with(Site::Console, |_, claims| next.sign(&claims)).await.status, 200, "rotated");
    assert_eq!(looks(), 2);
    is_rejected(&scene.log_in_as(Site::Console, |_| {}).await, "the former key");
    let stranger = Key::new("key-3", 3);
    for _ in 0..3 {
        is_rejected(
            &scene.log_in_with(Site::Console, |_, claims| stranger.sign(&claims)).await,
            "an unknown key",
        );
    }
    assert_eq!(looks(), 2, "within the minute");
    scene.portal.clock.advance(TimeDelta::minutes(1));
    is_rejected(
        &scene.log_in_with(Site::Console, |_, claims| stranger.sign(&claims)).await,
        "an unknown key",
    );
    assert_eq!(looks(), 3);
    is_rejected(
        &scene.log_in_with(Site::Console, |_, claims| stranger.sign_as("key-2", &claims)).await,
        "a borrowed id",
    );
    assert_eq!(looks(), 3, "the id is known");
}
