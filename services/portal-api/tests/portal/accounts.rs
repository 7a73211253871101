//! Sign-up, log-in, log-out.

use serde_json::json;

use crate::portal::{Portal, sign_up_body};

#[tokio::test]
async fn signing_up_opens_a_session() {
    let portal = Portal::start().await;
    let mut visitor = portal.stranger();
    let created = visitor.post("/v1/portal/accounts", sign_up_body("Owner@Shop.example")).await;
    assert_eq!(created.status, 201, "{created:?}");
    assert!(created.body["businessId"].as_str().unwrap().starts_with("biz_"));
    assert_eq!(created.body["businessName"], "Corner Shop");
    assert_eq!(created.body["email"], "Owner@Shop.example");
    assert!(!created.body.to_string().contains("correct horse"));
    let cookie = created.header("set-cookie");
    for part in ["portal_session=", "HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "the local stack has no TLS: {cookie}");

    let me = visitor.get("/v1/portal/session").await;
    assert_eq!(me.status, 200);
    assert_eq!(me.body["businessId"], created.body["businessId"]);
    assert_eq!(me.body["role"], "owner");
    assert_eq!(me.header("cache-control"), "no-store");
}

#[tokio::test]
async fn outside_of_a_local_stack_the_cookie_wants_tls_and_its_own_host() {
    let portal = Portal::with(&[
        ("WAYBILL_ENVIRONMENT", "production"),
        ("WAYBILL_PUBLIC__URL", "https://portal.example.com"),
        ("WAYBILL_PUBLIC__API_URL", "https://api.example.com/v1"),
        ("WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE", "5000000"),
        ("WAYBILL_INTERNAL__TOKEN", "an internal token of its own"),
        ("WAYBILL_OPERATOR__TOKEN", "an operator token of its own"),
    ])
    .await;
    let created = portal.stranger().post("/v1/portal/accounts", sign_up_body("owner@shop.example")).await;
    let cookie = created.header("set-cookie");
    assert!(cookie.starts_with("__Host-portal_session=") && cookie.contains("Secure"), "{cookie}");
}

#[tokio::test]
async fn every_fault_of_a_sign_up_is_named_at_once() {
    let portal = Portal::start().await;
    let mut visitor = portal.stranger();
    let path = "/v1/portal/accounts";
    let refused =
        visitor.post(path, json!({ "businessName": " ", "email": "shop", "password": "short" })).await;
    assert_eq!((refused.status, refused.code()), (400, "invalid_request"));
    assert_eq!(refused.invalid_fields(), ["businessName", "email", "password"]);
    for (body, fields) in [
        (json!({}), vec!["businessName", "email", "password"]),
        (
            json!({ "businessName": 7, "email": [], "password": {} }),
            vec!["businessName", "email", "password"],
        ),
        (
            json!({ "businessName": "a\u{0}b", "email": "a@b.co", "password": "12345678" }),
            vec!["businessName", "password"],
        ),
        (
            json!({ "businessName": "x".repeat(121), "email": "a@b.co", "password": "x".repeat(201) }),
            vec!["businessName", "password"],
        ),
        (
            json!({ "businessName": "Shop \u{202e}kcehc", "email": "desk.one@b.co", "password": "Desk.One" }),
            vec!["businessName", "password"],
        ),
        (json!([]), vec![""]),
    ] {
        let refused = visitor.post(path, body.clone()).await;
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.invalid_fields(), fields, "{body}");
    }
    let malformed = visitor.raw(reqwest::Method::POST, path, "application/json", "{").await;
    assert_eq!((malformed.status, malformed.code()), (400, "malformed_json"));
    let form = visitor.raw(reqwest::Method::POST, path, "application/x-www-form-urlencoded", "a=b").await;
    assert_eq!((form.status, form.code()), (415, "unsupported_media_type"));
    assert_eq!(visitor.delete(path).await.status, 405);
}

#[tokio::test]
async fn an_email_has_one_account_however_it_is_written() {
    let portal = Portal::start().await;
    portal.owner("owner@shop.example").await;
    let refused = portal.stranger().post("/v1/portal/accounts", sign_up_body("OWNER@Shop.Example")).await;
    assert_eq!((refused.status, refused.code()), (409, "email_taken"));
    assert_eq!(refused.header("set-cookie"), "");
}

#[tokio::test]
async fn of_many_sign_ups_at_once_one_succeeds() {
    let portal = Portal::start().await;
    // No more: on a busy machine, a password that waits its turn too long is answered with 503.
    let sign_ups = (0..3).map(|_| {
        let mut visitor = portal.stranger();
        tokio::spawn(async move {
            visitor.post("/v1/portal/accounts", sign_up_body("owner@shop.example")).await.status
        })
    });
    let mut statuses = Vec::new();
    for sign_up in sign_ups.collect::<Vec<_>>() {
        statuses.push(sign_up.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409]);
    let listed = portal.operator().get("/v1/operator/businesses").await;
    assert_eq!(
        listed.body["data"].as_array().unwrap().len(),
        1,
        "a refused sign-up leaves no business behind"
    );
}

#[tokio::test]
async fn a_log_in_does_not_reveal_whether_the_account_exists() {
    let portal = Portal::start().await;
    portal.owner("owner@shop.example").await;
    let mut visitor = portal.stranger();
    let path = "/v1/portal/session";
    let wrong = visitor.post(path, json!({ "email": "owner@shop.example", "password": "incorrect" })).await;
    let unknown =
        visitor.post(path, json!({ "email": "nobody@shop.example", "password": "incorrect" })).await;
    assert_eq!((wrong.status, wrong.code()), (401, "invalid_credentials"));
    assert_eq!(unknown.status, wrong.status);
    assert_eq!(unknown.code(), wrong.code());
    assert_eq!(unknown.body["message"], wrong.body["message"]);
    assert_eq!(wrong.header("set-cookie"), "");

    let good =
        visitor.post(path, json!({ "email": "OWNER@shop.example", "password": "correct horse" })).await;
    assert_eq!(good.status, 200, "{good:?}");
    assert_eq!(good.body["email"], "owner@shop.example");
    assert_eq!(visitor.get(path).await.status, 200);
    let faulty = visitor.post(path, json!({ "email": "shop" })).await;
    assert_eq!(faulty.invalid_fields(), ["email", "password"]);
}

#[tokio::test]
async fn a_name_that_would_be_a_link_in_a_mail_and_an_address_that_none_reaches_are_refused() {
    let portal = Portal::start().await;
    let body = json!({
        "businessName": "Your parcel is held: pay Rs 49 at http://evil.example",
        "email": "a..b@shop.example",
        "password": "correct horse"
    });
    let refused = portal.stranger().post("/v1/portal/accounts", body).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["businessName", "email"]));
    let body =
        json!({ "businessName": "M.S.Traders", "email": "a.b@shop.example", "password": "correct horse" });
    assert_eq!(portal.stranger().post("/v1/portal/accounts", body).await.status, 201);
}
