//! Attacks on single sign-on, of the console and of businesses: stolen codes and states, and providers that take part. Forged
//! tokens are in `sso_tokens`; what a business can do to another one, or to the console, is in `business_sso_attacks`.

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::business_sso::{self, ENABLED, set_up};
use crate::client::{Answer, Client};
use crate::identity_provider::{self as console, IdentityProvider, Key, Visit};
use crate::portal::{Owner, Portal};
use crate::sso::entries;

/// Where a person logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    Console,
    Business,
}

pub(crate) const SITES: [Site; 2] = [Site::Console, Site::Business];

/// A console and a business with the same provider.
pub(crate) struct Scene {
    pub(crate) portal: Portal,
    pub(crate) provider: IdentityProvider,
    pub(crate) key: Key,
    owner: Owner,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let key = Key::new("key-1", 1);
        let provider = IdentityProvider::start(&key);
        let portal = Portal::with_provider(&provider, &ENABLED).await;
        let mut owner = portal.owner("owner@shop.example").await;
        portal.approve(&owner.business).await;
        set_up(&mut owner, &business_sso::settings(&provider)).await;
        Self { portal, provider, key, owner }
    }

    async fn start(&self, site: Site, browser: &mut Client) -> Visit {
        match site {
            Site::Console => console::start(browser).await,
            Site::Business => business_sso::start(browser, &self.owner.business).await,
        }
    }

    async fn come_back(&self, site: Site, browser: &mut Client, visit: &Visit) -> Answer {
        self.return_with(site, browser, json!({ "state": visit.state(), "code": "a code" })).await
    }

    /// Returns from the provider with these parameters.
    async fn return_with(&self, site: Site, browser: &mut Client, mut body: Value) -> Answer {
        match site {
            Site::Console => browser.post(console::COMPLETE, body).await,
            Site::Business => {
                body["businessId"] = json!(self.owner.business);
                browser.post(business_sso::COMPLETE, body).await
            }
        }
    }

    fn claims(&self, site: Site, visit: &Visit) -> Value {
        let of_site = match site {
            Site::Console => json!({}),
            Site::Business => json!({ "aud": "waybill-shop", "email": "asha@shop.example" }),
        };
        self.provider.claims(&self.portal, visit, &of_site)
    }

    /// The provider is about to give the visitor a good token.
    fn issue(&self, site: Site, visit: &Visit) {
        self.provider.issue(&self.key.sign(&self.claims(site, visit)));
    }

    /// The response to a log-in whose ID token is made so.
    pub(crate) async fn log_in_with(&self, site: Site, token: impl Fn(&Key, Value) -> String) -> Answer {
        let mut browser = self.portal.stranger();
        let visit = self.start(site, &mut browser).await;
        self.provider.issue(&token(&self.key, self.claims(site, &visit)));
        self.come_back(site, &mut browser, &visit).await
    }

    pub(crate) async fn log_in_as(&self, site: Site, change: impl Fn(&mut Value)) -> Answer {
        self.log_in_with(site, |key, mut claims| {
            change(&mut claims);
            key.sign(&claims)
        })
        .await
    }

    /// How many codes were redeemed.
    fn redeemed(&self) -> usize {
        self.provider.asked("/token").len()
    }

    /// The entries of log-ins that failed.
    pub(crate) async fn failures(&mut self, site: Site) -> Vec<Value> {
        match site {
            Site::Console => entries(&self.portal, "session.failed&limit=100").await,
            Site::Business => {
                let log = self.owner.client.get("/v1/portal/audit-log?action=session.failed&limit=100").await;
                log.body["data"].as_array().unwrap().clone()
            }
        }
    }
}

#[track_caller]
pub(crate) fn is_rejected(answer: &Answer, what: &str) {
    assert_eq!((answer.status, answer.code()), (422, "sso_response_invalid"), "{what}: {answer:?}");
    assert!(!answer.headers.contains_key("set-cookie"), "{what}");
}

#[track_caller]
pub(crate) fn has_ended(answer: &Answer, what: &str) {
    assert_eq!((answer.status, answer.code()), (422, "sso_ended"), "{what}: {answer:?}");
    assert!(!answer.headers.contains_key("set-cookie"), "{what}");
}

#[tokio::test]
async fn a_state_works_once_in_its_browser_and_for_ten_minutes() {
    let scene = Scene::new().await;
    for site in SITES {
        let redeemed = scene.redeemed();
        let mut browser = scene.portal.stranger();
        let visit = scene.start(site, &mut browser).await;
        // The attacker's response in the victim's browser: with the victim's cookie, or without one.
        let mut victim = scene.portal.stranger();
        has_ended(&scene.come_back(site, &mut victim, &visit).await, "a browser without a log-in");
        let own = scene.start(site, &mut victim).await;
        has_ended(&scene.come_back(site, &mut victim, &visit).await, "the state of another browser");
        assert_eq!(scene.redeemed(), redeemed, "no code was redeemed");
        scene.issue(site, &own);
        assert_eq!(scene.come_back(site, &mut victim, &own).await.status, 200, "the victim's own log-in");

        let mut copy = browser.clone();
        scene.issue(site, &visit);
        assert_eq!(scene.come_back(site, &mut browser, &visit).await.status, 200);
        scene.issue(site, &visit);
        has_ended(&scene.come_back(site, &mut copy, &visit).await, "replayed");

        let late = scene.start(site, &mut browser).await;
        scene.portal.clock.advance(TimeDelta::minutes(10));
        has_ended(&scene.come_back(site, &mut browser, &late).await, "expired");
    }
}

#[tokio::test]
async fn of_simultaneous_returns_one_redeems_the_code() {
    let scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    let visit = console::start(&mut browser).await;
    for _ in 0..4 {
        scene.issue(Site::Console, &visit);
    }
    let mut copies = [browser.clone(), browser.clone(), browser.clone(), browser];
    let [a, b, c, d] = &mut copies;
    let returns = [a, b, c, d].map(|browser| console::come_back(browser, &visit));
    let mut statuses: Vec<_> = join_all(returns).await.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422, 422, 422]);
    assert_eq!(scene.redeemed(), 1);
}

#[tokio::test]
async fn a_replayed_code_or_a_declined_log_in_opens_nothing() {
    let scene = Scene::new().await;
    for site in SITES {
        let mut browser = scene.portal.stranger();
        let visit = scene.start(site, &mut browser).await;
        is_rejected(&scene.come_back(site, &mut browser, &visit).await, "the provider knows no such code");
        let visit = scene.start(site, &mut browser).await;
        let body = json!({ "state": visit.state(), "error": "access_denied", "error_description": "<b>" });
        let declined = scene.return_with(site, &mut browser, body.clone()).await;
        assert_eq!((declined.status, declined.code()), (422, "sso_declined"), "{declined:?}");
        has_ended(&scene.return_with(site, &mut browser, body).await, "declined twice");
        let visit = scene.start(site, &mut browser).await;
        scene.provider.answer(200, json!({ "access_token": "x", "token_type": "Bearer" }));
        is_rejected(&scene.come_back(site, &mut browser, &visit).await, "no ID token");
    }
}

/// Mix-up: an attacker's provider makes the browser bring its response, or the honest provider's code, to the wrong place.
#[tokio::test]
async fn a_response_of_another_provider_is_not_redeemed() {
    let scene = Scene::new().await;
    let with_issuer = async |site: Site, issuer: Option<&str>, what: &str, accepted: bool| {
        let mut browser = scene.portal.stranger();
        let visit = scene.start(site, &mut browser).await;
        scene.issue(site, &visit);
        let redeemed = scene.redeemed();
        let mut body = json!({ "state": visit.state(), "code": "a code" });
        if let Some(issuer) = issuer {
            body["iss"] = json!(issuer);
        }
        let answer = scene.return_with(site, &mut browser, body).await;
        if accepted {
            assert_eq!(answer.status, 200, "{what}: {answer:?}");
        } else {
            is_rejected(&answer, what);
            assert_eq!(scene.redeemed(), redeemed, "{what}: the code was sent");
        }
    };
    let own = scene.provider.issuer();
    for site in SITES {
        with_issuer(site, None, "a provider that never names itself", true).await;
        with_issuer(site, Some("https://evil.example"), "another issuer", false).await;
        with_issuer(site, Some(&own), "its own name", true).await;
    }
    scene.provider.with_metadata("authorization_response_iss_parameter_supported", json!(true));
    scene.portal.clock.advance(TimeDelta::hours(2));
    for site in SITES {
        with_issuer(site, None, "no name although it promises one", false).await;
        with_issuer(site, Some(&own), "its own name", true).await;
    }
}

/// The console's provider claims to be another issuer; those of the businesses lie in one field each.
#[tokio::test]
async fn metadata_of_another_issuer_or_with_unsafe_pages_is_not_used() {
    let key = Key::new("key-1", 1);
    let provider = IdentityProvider::start(&key);
    provider.with_metadata("issuer", json!("https://id.example.com"));
    let portal = Portal::with_provider(&provider, &ENABLED).await;
    let answer = portal.stranger().post(console::START, json!({ "purpose": "log_in" })).await;
    assert_eq!((answer.status, answer.code()), (503, "sso_unavailable"), "{answer:?}");

    for (name, value) in [
        ("issuer", json!("https://id.example.com")),
        ("authorization_endpoint", json!("javascript:alert(1)")),
        ("end_session_endpoint", json!("data:text/html,x")),
        ("jwks_uri", json!("http://127.0.0.1:1/keys")),
        ("token_endpoint", Value::Null),
    ] {
        let provider = IdentityProvider::start(&key);
        provider.with_metadata(name, value);
        let mut owner = portal.owner(&format!("{name}@shop.example")).await;
        portal.approve(&owner.business).await;
        set_up(&mut owner, &business_sso::settings(&provider)).await;
        let mut browser = portal.stranger();
        let body = json!({ "purpose": "log_in", "businessId": owner.business });
        let mut answer = browser.post(business_sso::START, body).await;
        if answer.status == 201 {
            answer = business_sso::come_back(&mut browser, &owner.business, &Visit::of(&answer)).await;
        }
        assert_eq!((answer.status, answer.code()), (503, "sso_unavailable"), "{name}: {answer:?}");
    }
}

/// A redirect would lead the client secret, or a request from inside our network, to an address of the provider's choice.
#[tokio::test]
async fn redirects_and_huge_responses_of_a_provider_are_not_followed_or_read() {
    let scene = Scene::new().await;
    for site in SITES {
        let mut browser = scene.portal.stranger();
        let visit = scene.start(site, &mut browser).await;
        scene.provider.answer(307, json!({}));
        is_rejected(&scene.come_back(site, &mut browser, &visit).await, "a redirect");
        assert!(scene.provider.asked("/elsewhere").is_empty());
        let visit = scene.start(site, &mut browser).await;
        scene.provider.answer(200, json!({ "access_token": "x".repeat(300 * 1024), "token_type": "Bearer" }));
        let answer = scene.come_back(site, &mut browser, &visit).await;
        assert_eq!((answer.status, answer.code()), (503, "sso_unavailable"), "{answer:?}");
        assert_eq!(scene.log_in_as(site, |_| {}).await.status, 200);
    }
}
