//! Rate limits.

use chrono::TimeDelta;
use diesel_async::RunQueryDsl;
use serde_json::{Value, json};
use test_kit::until;
use tokio::task::JoinSet;

use crate::client::{Answer, Client};
use crate::documented::DOCUMENT;
use crate::log_in_races::Count;
use crate::portal::{Portal, sign_up_body};
use crate::staff::person;

async fn log_in(client: &mut Client, email: &str, password: &str) -> Answer {
    client.post("/v1/portal/session", json!({ "email": email, "password": password })).await
}

#[tokio::test]
async fn an_account_takes_ten_wrong_passwords_of_an_address_in_a_quarter_of_an_hour_at_all_instances_together()
 {
    let portal = Portal::start().await;
    let other = portal.another();
    portal.owner("owner@shop.example").await;
    for email in ["owner@shop.example", "nobody@shop.example"] {
        for attempt in 0..10 {
            let instance = if attempt % 2 == 0 { &portal } else { &other };
            assert_eq!(
                log_in(&mut instance.stranger(), email, "wrong").await.status,
                401,
                "{email} {attempt}"
            );
            portal.clock.advance(TimeDelta::minutes(1));
        }
        let refused = log_in(&mut other.stranger(), email, "correct horse").await;
        assert_eq!((refused.status, refused.code()), (429, "too_many_log_ins"), "{email}");
        assert_eq!(refused.header("retry-after"), "300", "the first of them was ten minutes ago");
    }
    assert_eq!(log_in(&mut portal.stranger(), "owner@shop.example", "correct horse").await.status, 200);
}

/// As if each recorded attempt of this scope had been made so many times more: each would hash a password.
async fn repeat_attempts(portal: &Portal, scope: &str, times: u32) {
    let repeat = format!(
        "INSERT INTO attempts (scope, subject, attempted_at)
         SELECT scope, subject, attempted_at FROM attempts, generate_series(1, {times}) WHERE scope = '{scope}'"
    );
    let repeated = diesel::sql_query(repeat).execute(&mut portal.connect().await).await.unwrap();
    assert_eq!(repeated, usize::try_from(times).unwrap(), "there was one attempt");
}

fn behind_a_proxy() -> [(&'static str, &'static str); 1] {
    [("WAYBILL_LIMITS__TRUSTED_PROXIES", "127.0.0.0/8")]
}

#[tokio::test]
async fn an_address_opens_twenty_accounts_an_hour() {
    let portal = Portal::with(&behind_a_proxy()).await;
    let from = |address: &str| portal.stranger().with_header("x-forwarded-for", address);
    for number in 0..20 {
        let body = sign_up_body(&format!("owner{number}@shop.example"));
        // What the client writes into the header itself changes nothing.
        let answer = from(&format!("10.0.0.{number}, 203.0.113.9")).post("/v1/portal/accounts", body).await;
        assert_eq!(answer.status, 201);
    }
    let body = |email: &str| -> Value { sign_up_body(email) };
    let refused = from("203.0.113.9").post("/v1/portal/accounts", body("one.more@shop.example")).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_sign_ups"));
    assert_eq!(refused.header("retry-after"), "3600");
    let elsewhere = from("203.0.113.10").post("/v1/portal/accounts", body("one.more@shop.example")).await;
    assert_eq!(elsewhere.status, 201);
    portal.clock.advance(TimeDelta::hours(1));
    assert_eq!(
        from("203.0.113.9").post("/v1/portal/accounts", body("another@shop.example")).await.status,
        201
    );
}

#[tokio::test]
async fn an_address_takes_a_hundred_wrong_passwords() {
    let portal = Portal::with(&behind_a_proxy()).await;
    portal.owner("owner@shop.example").await;
    let from = |address: &str| portal.stranger().with_header("x-forwarded-for", address);
    assert_eq!(log_in(&mut from("203.0.113.9"), "guess@shop.example", "wrong").await.status, 401);
    repeat_attempts(&portal, "log_in_address", 98).await;
    assert_eq!(log_in(&mut from("203.0.113.9"), "last.guess@shop.example", "wrong").await.status, 401);
    assert_eq!(log_in(&mut from("203.0.113.9"), "owner@shop.example", "correct horse").await.status, 429);
    assert_eq!(log_in(&mut from("203.0.113.10"), "owner@shop.example", "correct horse").await.status, 200);
}

/// More strangers than may wait for the result of their passwords.
#[tokio::test]
async fn a_flood_from_many_addresses_keeps_out_neither_a_known_browser_nor_a_known_address() {
    const STRANGERS: i64 = 150;
    let portal = Portal::with(&behind_a_proxy()).await;
    portal.owner("owner@shop.example").await;
    let from = |address: &str| portal.stranger().with_header("x-forwarded-for", address);
    let mut at_home = from("203.0.113.1");
    assert_eq!(log_in(&mut at_home, "owner@shop.example", "correct horse").await.status, 200);
    let mut elsewhere = at_home.clone().with_header("x-forwarded-for", "203.0.113.2");

    let mut flood = JoinSet::new();
    for number in 0..STRANGERS {
        let mut stranger = from(&format!("198.51.100.{number}"));
        flood.spawn(
            async move { log_in(&mut stranger, &format!("guess{number}@shop.example"), "wrong").await },
        );
    }
    let mut looking = portal.connect().await;
    until("enough strangers wait", async || {
        let counted = "SELECT count(*) AS count FROM attempts WHERE scope = 'log_in_address'";
        let counted: Count = diesel::sql_query(counted).get_result(&mut looking).await.unwrap();
        counted.count >= STRANGERS - 10
    })
    .await;
    assert_eq!(log_in(&mut elsewhere, "owner@shop.example", "correct horse").await.status, 200);
    assert_eq!(log_in(&mut from("203.0.113.1"), "owner@shop.example", "correct horse").await.status, 200);
}

#[tokio::test]
async fn operator_tokens_that_are_tried_are_counted_and_the_good_one_is_served() {
    let more = [behind_a_proxy()[0], ("WAYBILL_LIMITS__FAILED_AUTHENTICATIONS", "5")];
    let portal = Portal::with(&more).await;
    let path = "/v1/operator/businesses";
    let from =
        |address: &str| portal.stranger().with_bearer("nonsense").with_header("x-forwarded-for", address);
    let mut answers = Vec::new();
    while answers.last() != Some(&429) && answers.len() < 1_000 {
        answers.push(from("203.0.113.9").get(path).await.status);
    }
    // A little comes back meanwhile.
    assert!(answers.len() > 5 && answers[..5] == [401; 5] && answers.last() == Some(&429), "{answers:?}");
    let mut refused = from("203.0.113.9").get(path).await;
    while refused.status == 401 {
        refused = from("203.0.113.9").get(path).await;
    }
    assert_eq!((refused.code(), refused.header("retry-after")), ("too_many_failures", "1"));
    assert!(refused.header("ratelimit").starts_with("\"failed-authentication\";r=0;t="));
    assert_eq!(from("203.0.113.10").get(path).await.status, 401, "another address");
    let mut operator = portal.operator().with_header("x-forwarded-for", "203.0.113.9");
    assert_eq!(operator.get(path).await.status, 200);
}

/// Every call of the API's description with a parameter that none of them has.
#[tokio::test]
async fn an_unknown_parameter_is_refused_by_every_call() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let (boss, _) = person(&portal, "boss@carrier.example", "administrator").await;
    for (path, methods) in DOCUMENT["paths"].as_object().unwrap() {
        // Payment providers call with whatever they like. Two lists leave their query to other services.
        let is_call = path.starts_with("/v1/portal/") || path.starts_with("/v1/operator/");
        if !is_call || path.ends_with("/wallet/spend") || path.ends_with("/deliveries") {
            continue;
        }
        let parts: Vec<_> =
            path.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect();
        let called = format!("{}?dryRun=true", parts.join("/"));
        for method in ["get", "post", "put", "patch", "delete"] {
            if methods.get(method).is_none() {
                continue;
            }
            let mut caller = match path.starts_with("/v1/operator/") {
                true => boss.clone(),
                false => owner.client.clone(),
            };
            let answer = caller.call(&method.to_uppercase(), &called).await;
            // A list of something that is not there may say so first.
            let is_refused = answer.invalid_fields().contains(&"dryRun") || answer.status == 404;
            assert!(is_refused && answer.status != 500, "{method} {called}: {answer:?}");
        }
    }
    let written = owner.client.call("POST", "/v1/portal/webhook-endpoints?dryRun=true").await;
    assert_eq!((written.status, written.invalid_fields()), (400, vec!["dryRun"]));
}

#[tokio::test]
async fn all_errors_of_list_parameters_are_reported() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    for (path, fields) in [
        ("/v1/portal/orders?mode=both&limit=0&page=2", &["limit", "mode", "page"][..]),
        ("/v1/portal/wallet/entries?limit=101&page=1", &["limit", "page"]),
        ("/v1/portal/api-keys?limit=1&limit=2", &["limit"]),
        ("/v1/portal/webhook-endpoints?startingAfter=", &["startingAfter"]),
    ] {
        let refused = owner.client.get(path).await;
        assert_eq!((refused.status, refused.code()), (400, "invalid_request"), "{path}");
        for field in fields {
            assert!(refused.invalid_fields().contains(field), "{path}: {refused:?}");
        }
    }
    let profile = json!({
        "businessName": "Malabar Coffee Works", "contactName": "Joseph", "phone": "+919800000002",
        "addressLine1": "27, Church Street", "city": "Bengaluru", "state": "Karnataka", "pincode": "560 001"
    });
    let kept = owner.client.put("/v1/portal/pickup-profile", profile).await;
    assert_eq!((kept.status, &kept.body["pincode"]), (200, &json!("560001")));
}

/// Neither ten wrong passwords nor five wishes for a link, sent from elsewhere, keep the owner out.
#[tokio::test]
async fn a_stranger_at_one_address_does_not_lock_out_another_address() {
    // Also where addresses are not limited by themselves.
    let more = [behind_a_proxy()[0], ("WAYBILL_LIMITS__PER_ADDRESS", "false")];
    let portal = Portal::with(&more).await;
    portal.owner("owner@shop.example").await;
    let from = |address: &str| portal.stranger().with_header("x-forwarded-for", address);
    let resets = "/v1/portal/password-resets";
    let wish = json!({ "email": "owner@shop.example" });
    for _ in 0..10 {
        assert_eq!(log_in(&mut from("203.0.113.9"), "owner@shop.example", "wrong").await.status, 401);
    }
    for _ in 0..5 {
        assert_eq!(from("203.0.113.9").post(resets, wish.clone()).await.status, 202);
    }
    assert_eq!(log_in(&mut from("203.0.113.9"), "owner@shop.example", "correct horse").await.status, 429);
    assert_eq!(from("203.0.113.9").post(resets, wish.clone()).await.status, 429);
    assert_eq!(log_in(&mut from("203.0.113.10"), "owner@shop.example", "correct horse").await.status, 200);
    assert_eq!(from("203.0.113.10").post(resets, wish).await.status, 202);
}

#[tokio::test]
async fn many_addresses_lock_an_account_for_all_but_the_browsers_that_it_knows() {
    let portal = Portal::with(&behind_a_proxy()).await;
    let mut known = portal.owner("owner@shop.example").await.client;
    let mut foreign = portal.owner("other@shop.example").await.client;
    let from = |address: &str| portal.stranger().with_header("x-forwarded-for", address);
    assert_eq!(log_in(&mut from("203.0.113.9"), "owner@shop.example", "wrong").await.status, 401);
    repeat_attempts(&portal, "log_in_account", 98).await;
    assert_eq!(log_in(&mut from("203.0.113.10"), "owner@shop.example", "wrong").await.status, 401);
    let mut unknown = from("203.0.113.200");
    assert_eq!(log_in(&mut unknown, "owner@shop.example", "correct horse").await.status, 429);
    assert_eq!(log_in(&mut foreign, "owner@shop.example", "correct horse").await.status, 429, "not its own");
    assert_eq!(known.delete("/v1/portal/session").await.status, 204);
    for _ in 0..9 {
        assert_eq!(log_in(&mut known, "owner@shop.example", "wrong").await.status, 401);
    }
    assert_eq!(log_in(&mut known, "owner@shop.example", "correct horse").await.status, 200);
    for _ in 0..10 {
        assert_eq!(log_in(&mut known, "owner@shop.example", "wrong").await.status, 401);
    }
    assert_eq!(
        log_in(&mut known, "owner@shop.example", "correct horse").await.status,
        429,
        "it may guess no more"
    );
}

#[tokio::test]
async fn log_ins_that_succeed_are_limited_too() {
    let portal = Portal::start().await;
    portal.owner("owner@shop.example").await;
    let mut visitor = portal.stranger();
    assert_eq!(log_in(&mut visitor, "owner@shop.example", "correct horse").await.status, 200);
    // As if it had been a hundred.
    let more = "INSERT INTO attempts (scope, subject, attempted_at)
        SELECT scope, subject, attempted_at FROM attempts, generate_series(1, 99) WHERE scope = 'log_in_success'";
    assert_eq!(diesel::sql_query(more).execute(&mut portal.connect().await).await.unwrap(), 99);
    let refused = log_in(&mut visitor, "owner@shop.example", "correct horse").await;
    assert_eq!(
        (refused.status, refused.code(), refused.header("retry-after")),
        (429, "too_many_log_ins", "900")
    );
    portal.clock.advance(TimeDelta::minutes(15));
    assert_eq!(log_in(&mut visitor, "owner@shop.example", "correct horse").await.status, 200);
}
