//! Sensitive calls need a recent authentication.

use chrono::TimeDelta;
use domain::Mode;
use internal_api::keys::ApiKeyView;
use internal_api::webhooks::EndpointView;
use serde_json::{Value, json};

use crate::answers::{self, ENDPOINT, KEY};
use crate::authenticator::{FACTOR, MFA_KEY, SESSION, STEP, code, enrol};
use crate::client::{Answer, Client};
use crate::peers::answer_of;
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{self, STAFF, person};

const CONFIRM: &str = "/v1/portal/session/confirm";
const CONSOLE_CONFIRM: &str = "/v1/operator/session/confirm";
const KEYS: &str = "/v1/portal/api-keys";
const NOBODY: &str = "stf_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const LIMIT: TimeDelta = TimeDelta::minutes(15);

async fn start() -> Portal {
    Portal::with_factors(&[("WAYBILL_MFA__RECENT_MINUTES", "15")]).await
}

fn password(password: &str) -> Value {
    json!({ "password": password })
}

fn is_refused(answer: &Answer) -> bool {
    let is_refused = answer.code() == "recent_authentication_required";
    assert!(!is_refused || answer.status == 403, "{answer:?}");
    is_refused
}

/// Sends the calls, and checks whether they need a recent authentication.
async fn check(client: &mut Client, scope: &str, calls: &[&str], refused: bool) {
    for call in calls {
        let (method, path) = call.split_once(' ').unwrap();
        let answer = client.call(method, &format!("{scope}{path}")).await;
        assert_eq!(is_refused(&answer), refused, "{call}: {answer:?}");
    }
}

const OF_USERS: &[&str] = &[
    "PATCH /users/usr_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "DELETE /users/usr_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "DELETE /users/usr_01ARZ3NDEKTSV4RRFFQ69G5FAV/second-factor",
    "POST /users/usr_01ARZ3NDEKTSV4RRFFQ69G5FAV/link",
    "POST /invitations",
    "PUT /email",
    "POST /personal-data-erasure",
    "POST /second-factor/recovery-codes",
    "DELETE /second-factor",
    "POST /second-factor",
    "POST /second-factor/passkeys",
    "POST /second-factor/passkeys/options",
    "DELETE /second-factor/passkeys/psk_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "POST /business/closing",
    "DELETE /business/closing",
];
const NOT_SENSITIVE: &[&str] = &[
    "GET /users",
    "GET /api-keys",
    "GET /personal-data-erasure",
    "GET /second-factor",
    "POST /second-factor/confirm",
    "PUT /password",
    "PUT /name",
    "POST /email-confirmations",
    "POST /email-confirmations/confirm",
    "POST /orders/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/cancel",
    "POST /orders/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/return",
    "PUT /wallet/threshold",
];

#[tokio::test]
async fn calls_of_users_need_one_within_its_exact_time() {
    let portal = start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    portal.clock.advance(LIMIT - TimeDelta::milliseconds(1));
    check(&mut owner, "/v1/portal", OF_USERS, false).await;
    portal.clock.advance(TimeDelta::milliseconds(1));
    check(&mut owner, "/v1/portal", OF_USERS, true).await;
    check(&mut owner, "/v1/portal", NOT_SENSITIVE, false).await;

    let wrong = owner.post(CONFIRM, password("wrong")).await;
    assert_eq!((wrong.status, wrong.code()), (422, "password_wrong"));
    check(&mut owner, "/v1/portal", OF_USERS, true).await;
    assert_eq!(owner.post(CONFIRM, password("correct horse")).await.status, 204);
    portal.clock.advance(LIMIT - TimeDelta::milliseconds(1));
    check(&mut owner, "/v1/portal", OF_USERS, false).await;
    portal.clock.advance(TimeDelta::milliseconds(1));
    check(&mut owner, "/v1/portal", OF_USERS, true).await;
    let mut other = portal.stranger();
    let body = json!({ "email": "owner@shop.example", "password": "correct horse" });
    assert_eq!(other.post(SESSION, body).await.status, 200);
    check(&mut other, "/v1/portal", OF_USERS, false).await;
    check(&mut owner, "/v1/portal", OF_USERS, true).await;
}

#[tokio::test]
async fn live_keys_need_one_and_test_keys_do_not() {
    let portal = start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let far = |method: &str, path: &str| {
        format!("{method} /key-management/internal/businesses/{}/{path}", owner.business)
    };
    let created = |view: &ApiKeyView| {
        let mut answer = answer_of(view);
        answer["key"] = "sk_test_waybill_secret".into();
        answer
    };
    let live = ApiKeyView { mode: Mode::Live, ..answers::key() };
    portal.peers.answer(far("POST", "api-keys"), 201, created(&answers::key()));
    portal.peers.answer(far("POST", &format!("api-keys/{KEY}/rotate")), 200, created(&live));
    let rotate = format!("{KEYS}/{KEY}/rotate");
    let (test_key, live_key) =
        (json!({ "mode": "test", "name": "a" }), json!({ "mode": "live", "name": "a" }));
    let client = &mut owner.client;
    assert_eq!(client.post(KEYS, live_key.clone()).await.code(), "live_api_locked");
    assert_eq!(client.post(&rotate, json!({ "graceSeconds": 0 })).await.status, 200);
    portal.clock.advance(LIMIT);
    portal.peers.answer(far("GET", &format!("api-keys/{KEY}")), 200, answer_of(&answers::key()));
    assert_eq!(client.post(KEYS, test_key).await.status, 201);
    assert_eq!(client.post(&rotate, json!({ "graceSeconds": 0 })).await.status, 200, "a Test key");
    assert!(is_refused(&client.post(KEYS, live_key.clone()).await));
    portal.peers.answer(far("GET", &format!("api-keys/{KEY}")), 200, answer_of(&live));
    let before = portal.peers.asked(&far("POST", &format!("api-keys/{KEY}/rotate"))).len();
    assert!(is_refused(&client.post(&rotate, json!({ "graceSeconds": 0 })).await));
    assert_eq!(portal.peers.asked(&far("POST", &format!("api-keys/{KEY}/rotate"))).len(), before);
    assert_eq!(client.post(CONFIRM, password("correct horse")).await.status, 204);
    assert_eq!(client.post(KEYS, live_key).await.code(), "live_api_locked");
    assert_eq!(client.post(&rotate, json!({ "graceSeconds": 0 })).await.status, 200);
}

#[tokio::test]
async fn live_endpoints_need_one_and_test_endpoints_do_not() {
    let portal = start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let of_dispatcher = format!("GET /webhook-dispatcher/internal/businesses/{}", owner.business);
    let endpoint = format!("webhook-endpoints/{ENDPOINT}");
    let of_modes = |modes: &[Mode]| answer_of(&EndpointView { modes: modes.to_vec(), ..answers::endpoint() });
    let create = |modes: Value| json!({ "url": "https://shop.example/hook", "modes": modes });
    let calls = [
        format!("PATCH /{endpoint}"),
        format!("DELETE /{endpoint}"),
        format!("POST /{endpoint}/secret/rotate"),
        format!("POST /{endpoint}/secret/activate"),
    ];
    let calls = calls.each_ref().map(String::as_str);
    portal.clock.advance(LIMIT);
    portal.peers.answer(format!("{of_dispatcher}/{endpoint}"), 200, of_modes(&[Mode::Test]));
    check(&mut owner.client, "/v1/portal", &calls, false).await;
    portal.peers.answer(format!("{of_dispatcher}/{endpoint}"), 200, of_modes(&[Mode::Test, Mode::Live]));
    check(&mut owner.client, "/v1/portal", &calls, true).await;
    let client = &mut owner.client;
    for (modes, refused) in [(json!(["test"]), false), (json!(["test", "live"]), true), (Value::Null, true)] {
        let created = client.post("/v1/portal/webhook-endpoints", create(modes.clone())).await;
        assert_eq!(is_refused(&created), refused, "{modes}");
    }
    let opened = client.patch(&format!("/v1/portal/{endpoint}"), json!({ "modes": ["live"] })).await;
    assert!(is_refused(&opened), "{opened:?}");
    assert_eq!(client.post(CONFIRM, password("correct horse")).await.status, 204);
    check(client, "/v1/portal", &calls, false).await;
}

#[tokio::test]
async fn an_account_with_a_factor_confirms_with_its_code_too() {
    let portal = start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    let enrolled = enrol(&portal, &mut owner).await;
    portal.clock.advance(LIMIT);
    let missing = owner.post(CONFIRM, password("correct horse")).await;
    assert_eq!((missing.status, missing.invalid_fields()), (400, vec!["code"]));
    let with = |password: &str, code: &str| json!({ "password": password, "code": code });
    let wrong = owner.post(CONFIRM, with("correct horse", &enrolled.app.wrong(&portal.clock))).await;
    assert_eq!((wrong.status, wrong.code()), (422, "code_wrong"));
    let right = enrolled.app.now(&portal.clock);
    let wrong = owner.post(CONFIRM, with("wrong", &right)).await;
    assert_eq!((wrong.status, wrong.code()), (422, "password_wrong"));
    check(&mut owner, "/v1/portal", OF_USERS, true).await;
    assert_eq!(owner.post(CONFIRM, with("correct horse", &right)).await.status, 204);
    check(&mut owner, "/v1/portal", &OF_USERS[..4], false).await;
    portal.clock.advance(LIMIT);
    let replayed = owner.post(CONFIRM, with("correct horse", &right)).await;
    assert_eq!(replayed.code(), "code_wrong");
    assert_eq!(owner.post(CONFIRM, with("correct horse", &enrolled.recovery_codes[0])).await.status, 204);

    // A new password opens a new session, which is not more recent than the old one.
    portal.clock.advance(LIMIT);
    let body = json!({ "currentPassword": "correct horse", "newPassword": "battery staple" });
    assert_eq!(owner.put("/v1/portal/password", body).await.status, 204);
    check(&mut owner, "/v1/portal", OF_USERS, true).await;
}

#[tokio::test]
async fn confirmations_are_limited_and_bad_bodies_are_refused() {
    let portal = start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    for body in [json!({}), json!({ "password": "" }), json!({ "password": 7 }), json!([])] {
        assert_eq!(owner.post(CONFIRM, body.clone()).await.status, 400, "{body}");
    }
    let both = owner.post(CONFIRM, json!({ "password": "", "code": "12" })).await;
    assert_eq!(both.invalid_fields(), ["code", "password"]);
    for _ in 0..10 {
        assert_eq!(owner.post(CONFIRM, password("wrong")).await.code(), "password_wrong");
    }
    let locked = owner.post(CONFIRM, password("correct horse")).await;
    assert_eq!((locked.status, locked.code()), (429, "too_many_codes"), "{locked:?}");
    for path in [CONFIRM, CONSOLE_CONFIRM] {
        assert_eq!(portal.stranger().post(path, password("correct horse")).await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn calls_of_the_staff_and_sessions_of_the_token_need_one_and_tokens_do_not() {
    let portal = start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let (mut boss, _) = person(&portal, "boss@carrier.example", "administrator").await;
    let calls = [
        "POST /staff".to_owned(),
        format!("PATCH /staff/{NOBODY}"),
        format!("DELETE /staff/{NOBODY}"),
        format!("POST /staff/{NOBODY}/password-link"),
        format!("DELETE /staff/{NOBODY}/second-factor"),
        format!("DELETE /staff/{NOBODY}/identity"),
        "POST /tokens".to_owned(),
        "POST /tokens/opt_01ARZ3NDEKTSV4RRFFQ69G5FAV/rotate".to_owned(),
        format!("PATCH /businesses/{business}"),
        format!("POST /businesses/{business}/closing"),
        format!("DELETE /businesses/{business}/closing"),
        format!("POST /businesses/{business}/closing/complete"),
        format!("POST /businesses/{business}/wallet/credits"),
        format!("POST /businesses/{business}/remittances"),
        format!("POST /businesses/{business}/password-resets"),
        format!("POST /businesses/{business}/personal-data-erasure"),
        "POST /approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/approve".to_owned(),
        "POST /approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/reset-link".to_owned(),
        format!("DELETE /businesses/{business}/users/usr_01ARZ3NDEKTSV4RRFFQ69G5FAV/second-factor"),
        "DELETE /second-factor".to_owned(),
        "POST /second-factor/recovery-codes".to_owned(),
        "POST /second-factor".to_owned(),
    ];
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    let mut console = portal.stranger();
    assert_eq!(console.post(staff::SESSION, json!({ "token": OPERATOR_TOKEN })).await.status, 200);
    portal.clock.advance(LIMIT - TimeDelta::milliseconds(1));
    check(&mut boss, "/v1/operator", &calls, false).await;
    portal.clock.advance(TimeDelta::milliseconds(1));
    check(&mut boss, "/v1/operator", &calls, true).await;
    assert_eq!(boss.get(STAFF).await.status, 200);
    let [own @ .., _, _, _] = &calls[..] else { unreachable!() };
    check(&mut portal.operator(), "/v1/operator", own, false).await;
    check(&mut console, "/v1/operator", own, true).await;
    assert_eq!(boss.post(CONSOLE_CONFIRM, password("wrong")).await.code(), "password_wrong");
    assert_eq!(boss.post(CONSOLE_CONFIRM, password("battery staple")).await.status, 204);
    check(&mut boss, "/v1/operator", &calls, false).await;
    assert_eq!(console.post(CONSOLE_CONFIRM, password("x")).await.code(), "account_required");
}

/// Programs that keep one session for hours work in a local stack, whose default is no limit.
#[tokio::test]
async fn a_local_stack_has_no_limit() {
    let portal = Portal::with(&[("WAYBILL_LIMITS__PER_ADDRESS", "false"), MFA_KEY]).await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    portal.clock.advance(TimeDelta::hours(11));
    check(&mut owner, "/v1/portal", OF_USERS, false).await;
    let first = owner.press(FACTOR).await;
    let app = test_kit::Authenticator::new(first.body["secret"].as_str().unwrap());
    assert_eq!(owner.post(&format!("{FACTOR}/confirm"), code(&app.now(&portal.clock))).await.status, 200);
    portal.clock.advance(STEP);
}

/// A thief of a session must not end those of its owner.
#[tokio::test]
async fn ending_other_sessions_needs_one_and_a_log_out_does_not() {
    let portal = start().await;
    let owner = portal.owner("owner@shop.example").await.client;
    let (boss, _) = person(&portal, "boss@carrier.example", "administrator").await;
    portal.clock.advance(LIMIT);
    for (mut client, scope, ids) in [(owner, "/v1/portal", "ses_"), (boss, "/v1/operator", "ses_")] {
        let list = client.get(&format!("{scope}/sessions")).await.body["data"].clone();
        let own = list[0]["id"].as_str().unwrap().to_owned();
        assert!(own.starts_with(ids), "{own}");
        let calls = [format!("DELETE /sessions/{own}"), "POST /sessions/revoke-others".to_owned()];
        check(&mut client, scope, &calls.each_ref().map(String::as_str), true).await;
        assert_eq!(client.delete(&format!("{scope}/session")).await.status, 204, "{scope}");
    }
}
