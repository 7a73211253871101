//! Single sign-on of a business: the first log-in, roles, confirmations and log-outs. Who may do what is in `business_sso_access`,
//! attacks in `sso_attacks` and `business_sso_attacks`, and the owner's settings in `business_sso_settings`.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::authenticator::{MFA_KEY, SESSION};
use crate::client::{Answer, Client};
use crate::identity_provider::{IdentityProvider, Key, Visit};
use crate::portal::{Owner, Portal};

pub(crate) const SETTINGS: &str = "/v1/portal/single-sign-on";
pub(crate) const START: &str = "/v1/portal/sso/log-ins";
pub(crate) const COMPLETE: &str = "/v1/portal/sso/log-ins/complete";
pub(crate) const USERS: &str = "/v1/portal/users";
pub(crate) const SECRET: &str = "a secret that only the provider and the business know";

/// A business with a provider. Its group `ops` gives the role developer, `chiefs` owner and `all` viewer.
pub(crate) struct Scene {
    pub(crate) portal: Portal,
    pub(crate) provider: IdentityProvider,
    pub(crate) key: Key,
    pub(crate) owner: Owner,
}

pub(crate) const ENABLED: [(&str, &str); 5] = [
    ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
    MFA_KEY,
    ("WAYBILL_BUSINESS_SSO__ENABLED", "true"),
    ("WAYBILL_BUSINESS_SSO__ALLOW_HTTP", "true"),
    ("WAYBILL_BUSINESS_SSO__ALLOWED_RANGES", "127.0.0.1/32"),
];

pub(crate) fn settings(provider: &IdentityProvider) -> Value {
    json!({
        "issuer": provider.issuer(),
        "clientId": "waybill-shop",
        "clientSecret": SECRET,
        "groupRoles": [
            { "group": "chiefs", "role": "owner" },
            { "group": "ops", "role": "developer" },
            { "group": "all", "role": "viewer" },
        ],
    })
}

/// The same settings with other values.
pub(crate) fn changed(settings: &Value, more: &Value) -> Value {
    let mut settings = settings.clone();
    for (name, value) in more.as_object().unwrap() {
        settings[name] = value.clone();
    }
    settings
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Self::with(&[]).await
    }

    pub(crate) async fn with(more: &[(&str, &str)]) -> Self {
        let key = Key::new("key-1", 1);
        let provider = IdentityProvider::start(&key);
        let portal = Portal::with(&[&ENABLED, more].concat()).await;
        let mut owner = portal.owner("owner@shop.example").await;
        portal.approve(&owner.business).await;
        set_up(&mut owner, &settings(&provider)).await;
        Self { portal, provider, key, owner }
    }

    /// A whole log-in of a person with these claims.
    pub(crate) async fn log_in(&self, browser: &mut Client, more: &Value) -> Answer {
        let visit = start(browser, &self.owner.business).await;
        self.come_back(browser, &visit, more).await
    }

    /// The browser returns with a code for these claims.
    pub(crate) async fn come_back(&self, browser: &mut Client, visit: &Visit, more: &Value) -> Answer {
        self.provider.issue(&self.token(visit, more));
        come_back(browser, &self.owner.business, visit).await
    }

    pub(crate) fn token(&self, visit: &Visit, more: &Value) -> String {
        let more = changed(&json!({ "aud": "waybill-shop", "email": "asha@shop.example" }), more);
        self.key.sign(&self.provider.claims(&self.portal, visit, &more))
    }

    pub(crate) async fn put(&mut self, more: &Value) {
        let body = changed(&settings(&self.provider), more);
        set_up(&mut self.owner, &body).await;
    }

    pub(crate) async fn users(&mut self) -> Vec<Value> {
        self.owner.client.get(USERS).await.body["data"].as_array().unwrap().clone()
    }

    /// The entries of an action in the audit log of the business.
    pub(crate) async fn entries(&mut self, action: &str) -> Vec<Value> {
        let path = format!("/v1/portal/audit-log?action={action}");
        self.owner.client.get(&path).await.body["data"].as_array().unwrap().clone()
    }
}

pub(crate) async fn set_up(owner: &mut Owner, body: &Value) -> Value {
    let put = owner.client.put(SETTINGS, body.clone()).await;
    assert_eq!(put.status, 200, "{put:?}");
    put.body
}

pub(crate) async fn start(browser: &mut Client, business: &str) -> Visit {
    Visit::of(&browser.post(START, json!({ "purpose": "log_in", "businessId": business })).await)
}

pub(crate) async fn come_back(browser: &mut Client, business: &str, visit: &Visit) -> Answer {
    let body = json!({ "businessId": business, "state": visit.state(), "code": "a code" });
    browser.post(COMPLETE, body).await
}

#[tokio::test]
async fn the_first_log_in_creates_a_user_who_occupies_no_address() {
    let mut scene = Scene::new().await;
    let business = scene.owner.business.clone();
    let mut browser = scene.portal.stranger();
    let started = browser.post(START, json!({ "purpose": "log_in", "businessId": business })).await;
    let cookie = started.header("set-cookie").to_owned();
    for part in ["portal_sso=", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=600"] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    let visit = Visit::of(&started);
    for (name, value) in [
        ("client_id", "waybill-shop"),
        ("redirect_uri", &format!("http://portal.test/log-in/{business}/return")),
        ("scope", "openid email profile"),
        ("code_challenge_method", "S256"),
        ("max_age", "43200"),
    ] {
        assert_eq!(visit.query[name], value, "{name}");
    }
    let opened = scene.come_back(&mut browser, &visit, &json!({})).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    for (name, value) in [
        ("businessId", json!(business)),
        ("email", json!("asha@shop.example")),
        ("name", json!("Asha Rao")),
        ("role", json!("developer")),
        ("emailVerified", json!(false)),
        ("singleSignOn", json!(true)),
    ] {
        assert_eq!(opened.body[name], value, "{name}");
    }
    assert_eq!(browser.get("/v1/portal/subscription").await.status, 200);
    let created = scene.entries("user.provisioned").await;
    assert_eq!(created[0]["details"], json!({ "issuer": scene.provider.issuer(), "role": "developer" }));
    let session = scene.entries("session.opened").await;
    assert_eq!(session[0]["details"], json!({ "singleSignOn": scene.provider.issuer() }));

    // The same person again is the same user.
    let mut other = scene.portal.stranger();
    let renamed = json!({ "email": "asha.rao@shop.example", "groups": "all" });
    let again = scene.log_in(&mut other, &renamed).await;
    assert_eq!((again.status, &again.body["userId"]), (200, &opened.body["userId"]), "{again:?}");
    assert_eq!(browser.get(SESSION).await.body["role"], "viewer", "in the older session too");
    let change = scene.entries("user.role_changed").await;
    let expected = json!({ "from": "developer", "to": "viewer", "singleSignOn": scene.provider.issuer() });
    assert_eq!(change[0]["details"], expected);
    assert_eq!(scene.users().await.len(), 2);

    // Neither a log-in nor a reset finds the address, and its real owner may sign up.
    let right = json!({ "email": "asha@shop.example", "password": "battery staple" });
    assert_eq!(scene.portal.stranger().post(SESSION, right).await.code(), "invalid_credentials");
    let own = scene.portal.owner("asha@shop.example").await;
    assert_ne!(own.business, business);
}

#[tokio::test]
async fn a_user_with_the_same_address_is_linked_if_both_sides_have_verified_it() {
    let mut scene = Scene::new().await;
    let mut asha = scene.portal.member(&mut scene.owner, "asha@shop.example", "viewer").await;
    let id = asha.get(SESSION).await.body["userId"].clone();
    let mut elsewhere = scene.portal.owner("binu@other.example").await;
    let verify = async |email: &str| {
        let sql = format!("UPDATE accounts SET email_verified_at = now() WHERE email = '{email}'");
        let mut conn = scene.portal.connect().await;
        diesel_async::SimpleAsyncConnection::batch_execute(&mut conn, &sql).await.unwrap();
    };
    let subject = |number: u8, email: &str, verified: Value| json!({ "sub": format!("person-{number}"), "email": email, "email_verified": verified });
    let user = async |claims: &Value| {
        let opened = scene.log_in(&mut scene.portal.stranger(), claims).await;
        assert_eq!(opened.status, 200, "{opened:?}");
        opened.body["userId"].clone()
    };
    assert_ne!(user(&subject(1, "asha@shop.example", json!(true))).await, id, "not verified here");
    verify("asha@shop.example").await;
    assert_ne!(user(&subject(2, "asha@shop.example", Value::Null)).await, id, "not verified there");
    assert_eq!(user(&subject(3, "Asha@Shop.example", json!(true))).await, id);
    assert_eq!(asha.get(SESSION).await.body["role"], "developer", "the provider decides");
    assert_ne!(user(&subject(4, "asha@shop.example", json!(true))).await, id, "linked to another subject");
    verify("binu@other.example").await;
    let foreign = user(&subject(5, "binu@other.example", json!(true))).await;
    assert_ne!(foreign, elsewhere.client.get(SESSION).await.body["userId"], "a user of another business");
    let linked = scene.entries("user.identity_linked").await;
    assert_eq!((linked.len(), &linked[0]["target"]["id"]), (1, &id));
    assert_eq!(scene.users().await.len(), 6);
}

#[tokio::test]
async fn names_and_addresses_of_a_provider_follow_the_rules_for_entered_ones() {
    let scene = Scene::new().await;
    let long = "x".repeat(150);
    let person = |number: usize, more: Value| changed(&json!({ "sub": format!("person-{number}") }), &more);
    for (number, (name, shown)) in [
        (json!("Pay at evil.example now"), Value::Null),
        (json!("\u{202e}asha"), json!("asha")),
        (json!("As\u{0}ha"), Value::Null),
        (json!(long), json!(&long[..100])),
        (json!(" "), Value::Null),
        (json!(7), Value::Null),
    ]
    .into_iter()
    .enumerate()
    {
        let claims = person(number, json!({ "name": name }));
        let opened = scene.log_in(&mut scene.portal.stranger(), &claims).await;
        if name == json!(7) {
            assert_eq!(opened.code(), "sso_response_invalid", "{opened:?}");
        } else {
            assert_eq!((opened.status, &opened.body["name"]), (200, &shown), "{name}: {opened:?}");
        }
    }
    scene.provider.user_info(json!({ "sub": "person-9" }));
    for email in [Value::Null, json!("nonsense"), json!("a@b"), json!("a\u{0}@shop.example")] {
        let claims = person(9, json!({ "email": email }));
        let refused = scene.log_in(&mut scene.portal.stranger(), &claims).await;
        assert_eq!((refused.status, refused.code()), (403, "sso_no_email"), "{email}: {refused:?}");
    }
}

#[tokio::test]
async fn groups_decide_at_each_log_in_and_no_group_ends_the_sessions_of_the_provider() {
    let mut scene = Scene::new().await;
    let mut asha = scene.portal.member(&mut scene.owner, "asha@shop.example", "viewer").await;
    let mut conn = scene.portal.connect().await;
    diesel_async::SimpleAsyncConnection::batch_execute(
        &mut conn,
        "UPDATE accounts SET email_verified_at = now()",
    )
    .await
    .unwrap();
    let mut browser = scene.portal.stranger();
    scene.log_in(&mut browser, &json!({})).await;
    for groups in [json!(["everybody"]), json!([]), json!("OPS")] {
        scene.log_in(&mut browser, &json!({})).await;
        assert_eq!(browser.get(USERS).await.code(), "role_insufficient", "open");
        let refused = scene.log_in(&mut scene.portal.stranger(), &json!({ "groups": groups })).await;
        assert_eq!((refused.status, refused.code()), (403, "sso_no_role"), "{groups}: {refused:?}");
        assert_eq!(browser.get(USERS).await.status, 401, "{groups}: the provider's sessions have ended");
        assert_eq!(asha.get(SESSION).await.status, 200, "{groups}: those of the password have not");
    }
    let failed = scene.entries("session.failed").await;
    assert_eq!((failed.len(), &failed[0]["details"]), (3, &json!({ "singleSignOn": "no_role" })));
    scene.put(&json!({ "defaultRole": "finance" })).await;
    let opened = scene.log_in(&mut browser, &json!({ "groups": ["everybody"] })).await;
    assert_eq!(opened.body["role"], "finance", "{opened:?}");
    for none in [json!([]), json!(["", " "]), json!("")] {
        assert_eq!(scene.log_in(&mut browser, &json!({ "groups": none })).await.code(), "sso_no_role");
    }
    scene.put(&json!({ "defaultRole": "support", "allowedDomains": ["Shop.example"] })).await;
    let opened = scene.log_in(&mut browser, &json!({ "groups": [] })).await;
    assert_eq!(opened.body["role"], "support", "{opened:?}");
    let stranger =
        json!({ "sub": "person-2", "email": "a@gmail.example", "hd": "gmail.example", "groups": [] });
    assert_eq!(scene.log_in(&mut browser, &stranger).await.code(), "sso_no_role");
    let colleague =
        json!({ "sub": "person-2", "email": "a@gmail.example", "hd": "shop.example", "groups": [] });
    assert_eq!(scene.log_in(&mut browser, &colleague).await.body["role"], "support");
}

#[tokio::test]
async fn the_last_owner_with_a_password_is_neither_demoted_nor_locked_out() {
    let mut scene = Scene::new().await;
    let mut conn = scene.portal.connect().await;
    diesel_async::SimpleAsyncConnection::batch_execute(
        &mut conn,
        "UPDATE accounts SET email_verified_at = now()",
    )
    .await
    .unwrap();
    let claims = |groups: Value| json!({ "email": "owner@shop.example", "groups": groups });
    let mut browser = scene.portal.stranger();
    let refused = scene.log_in(&mut browser, &claims(json!(["ops"]))).await;
    assert_eq!((refused.status, refused.code()), (403, "sso_last_owner"), "{refused:?}");
    assert_eq!(scene.owner.client.get(SESSION).await.body["role"], "owner");
    let opened = scene.log_in(&mut browser, &claims(json!(["ops", "chiefs"]))).await;
    assert_eq!((opened.status, &opened.body["role"]), (200, &json!("owner")), "explicitly: {opened:?}");
    let id = opened.body["userId"].as_str().unwrap().to_owned();

    // An owner without a password is none that could come in when the provider is broken.
    let chief = json!({ "sub": "person-2", "email": "binu@shop.example", "groups": ["chiefs"] });
    let mut binu = scene.portal.stranger();
    let opened = scene.log_in(&mut binu, &chief).await;
    assert_eq!(opened.body["role"], "owner", "{opened:?}");
    let path = format!("{USERS}/{id}");
    let demoted = binu.patch(&path, json!({ "role": "viewer" })).await;
    assert_eq!((demoted.status, demoted.code()), (409, "last_owner"), "{demoted:?}");
    assert_eq!(binu.delete(&path).await.code(), "last_owner");
    let refused = scene.log_in(&mut browser, &claims(json!(["ops"]))).await;
    assert_eq!(refused.code(), "sso_last_owner", "{refused:?}");
    let other = format!("{USERS}/{}", opened.body["userId"].as_str().unwrap());
    assert_eq!(scene.owner.client.patch(&other, json!({ "role": "viewer" })).await.status, 200);
}

#[tokio::test]
async fn the_provider_confirms_its_own_sessions_only() {
    let mut scene = Scene::with(&[("WAYBILL_MFA__RECENT_MINUTES", "15")]).await;
    let mut browser = scene.portal.stranger();
    let chief = json!({ "groups": ["chiefs"] });
    scene.log_in(&mut browser, &chief).await;
    let invite = json!({ "email": "binu@shop.example", "role": "viewer" });
    let is_recent = async |browser: &mut Client| {
        browser.post("/v1/portal/invitations", invite.clone()).await.code()
            != "recent_authentication_required"
    };
    assert!(is_recent(&mut browser).await, "the log-in counts");
    scene.portal.clock.advance(TimeDelta::minutes(16));
    assert!(!is_recent(&mut browser).await);
    let password = browser.post("/v1/portal/session/confirm", json!({ "password": "correct horse" })).await;
    assert_eq!((password.status, password.code()), (403, "single_sign_on_session"), "{password:?}");
    let now = scene.portal.clock.now().timestamp();
    for (what, claims, status, code) in [
        ("an open session at the provider", json!({ "auth_time": now - 61 }), 403, "sso_not_recent"),
        ("an older token", json!({ "auth_time": null, "iat": now - 61 }), 403, "sso_not_recent"),
        ("another person", json!({ "sub": "person-2" }), 403, "sso_other_person"),
        (
            "the same person, without a statement when",
            json!({ "groups": ["chiefs"], "auth_time": null }),
            204,
            "",
        ),
    ] {
        let visit = Visit::of(&browser.post(START, json!({ "purpose": "confirm" })).await);
        assert_eq!(visit.query["max_age"], "0");
        let confirmed = scene.come_back(&mut browser, &visit, &claims).await;
        assert_eq!((confirmed.status, confirmed.code()), (status, code), "{what}: {confirmed:?}");
        assert_eq!(is_recent(&mut browser).await, status == 204, "{what}");
    }
    // The groups at hand count, as at a log-in.
    for (groups, status, code) in [(json!(["ops"]), 422, "sso_ended"), (json!([]), 403, "sso_no_role")] {
        let visit = Visit::of(&browser.post(START, json!({ "purpose": "confirm" })).await);
        let refused = scene.come_back(&mut browser, &visit, &json!({ "groups": groups })).await;
        assert_eq!((refused.status, refused.code()), (status, code), "{groups}: {refused:?}");
    }
    assert_eq!(browser.get(SESSION).await.status, 401, "without a role");
    let refused = scene.owner.client.post(START, json!({ "purpose": "confirm" })).await;
    assert_eq!((refused.status, refused.code()), (403, "password_session"), "{refused:?}");
    for (auth_time, opens, recent) in [
        (json!(now - 3_600), true, false),
        (json!(now - 13 * 3_600), false, false),
        (Value::Null, true, false),
    ] {
        let mut browser = scene.portal.stranger();
        let claims = json!({ "groups": ["chiefs"], "auth_time": auth_time });
        let opened = scene.log_in(&mut browser, &claims).await;
        assert_eq!(opened.status == 200, opens, "{auth_time}: {opened:?}");
        assert!(!opens || is_recent(&mut browser).await == recent, "{auth_time}");
    }
}

#[tokio::test]
async fn a_session_of_the_provider_ends_after_twelve_hours_and_a_log_out_leads_to_the_provider() {
    let scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    scene.log_in(&mut browser, &json!({})).await;
    for _ in 0..11 {
        scene.portal.clock.advance(TimeDelta::hours(1));
        assert_eq!(browser.get(SESSION).await.status, 200);
    }
    scene.portal.clock.advance(TimeDelta::hours(1));
    assert_eq!(browser.get(SESSION).await.status, 401, "although it was used");

    scene.provider.with_metadata("end_session_endpoint", json!(format!("{}/end", scene.provider.issuer())));
    scene.portal.clock.advance(TimeDelta::hours(2));
    scene.log_in(&mut browser, &json!({})).await;
    let mut copy = browser.clone();
    let closed = browser.delete(SESSION).await;
    let expected = format!(
        "{}/end?client_id=waybill-shop&post_logout_redirect_uri=http%3A%2F%2Fportal.test%2Flog-in%2F{}",
        scene.provider.issuer(),
        scene.owner.business
    );
    assert_eq!((closed.status, &closed.body["logOutUrl"]), (200, &json!(expected)), "{closed:?}");
    assert_eq!(copy.get(SESSION).await.status, 401);
    let mut owner = scene.owner;
    assert_eq!(owner.client.delete(SESSION).await.status, 204, "sessions of passwords end only here");
}
