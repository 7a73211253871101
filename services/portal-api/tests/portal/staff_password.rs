//! A person of the staff changes their own password.

use serde_json::{Value, json};

use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{SESSION, log_in, person};

const PASSWORD: &str = "/v1/operator/password";

fn change(current: &str, new: &str) -> Value {
    json!({ "currentPassword": current, "newPassword": new })
}

#[tokio::test]
async fn other_sessions_end_and_only_the_new_password_opens_the_console() {
    let portal = Portal::start().await;
    let (mut asha, id) = person(&portal, "asha@carrier.example", "viewer").await;
    let mut elsewhere = log_in(&portal, "asha@carrier.example").await;
    let mut before = asha.clone();
    let link = portal.operator().press(&format!("/v1/operator/staff/{id}/password-link")).await;
    assert_eq!(link.status, 201);
    for (body, fields) in [
        (json!({}), &["currentPassword", "newPassword"][..]),
        (change("battery staple", "short"), &["newPassword"]),
        (change("battery staple", "battery staple"), &["newPassword"]),
        (change("battery staple", "asha@carrier.example"), &["newPassword"]),
    ] {
        let refused = asha.put(PASSWORD, body.clone()).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, fields.to_vec()), "{body}");
    }
    let wrong = asha.put(PASSWORD, change("wrong horse", "other horse battery")).await;
    assert!(wrong.status >= 400 && wrong.status < 500, "{wrong:?}");
    let changed = asha.put(PASSWORD, change("battery staple", "other horse battery")).await;
    assert_eq!(changed.status, 204, "{changed:?}");
    assert_eq!(asha.get(SESSION).await.status, 200, "with a new cookie");
    assert_eq!(before.get(SESSION).await.status, 401);
    assert_eq!(elsewhere.get(SESSION).await.status, 401);
    let log_in = |password: &str| json!({ "email": "asha@carrier.example", "password": password });
    assert_eq!(portal.stranger().post(SESSION, log_in("battery staple")).await.status, 401);
    assert_eq!(portal.stranger().post(SESSION, log_in("other horse battery")).await.status, 200);
    let log =
        portal.operator().get("/v1/operator/audit-log?action=password.changed").await.body["data"].clone();
    assert_eq!((&log[0]["actor"]["id"], &log[0]["target"]["id"]), (&json!(id), &json!(id)));
    let token = link.body["url"].as_str().unwrap().split("token=").nth(1).unwrap().to_owned();
    let used = json!({ "token": token, "password": "third horse battery" });
    let used = portal.stranger().post("/v1/operator/password-links/use", used).await;
    assert_eq!(used.code(), "password_link_invalid", "an open link is void");

    let mut token = portal.stranger();
    token.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!(token.put(PASSWORD, change("x", "other horse battery")).await.code(), "account_required");
    assert_eq!(portal.stranger().put(PASSWORD, json!({})).await.status, 401);
}

#[tokio::test]
async fn it_needs_a_recent_authentication_and_guesses_are_limited() {
    let portal =
        Portal::with(&[("WAYBILL_LIMITS__PER_ADDRESS", "false"), ("WAYBILL_MFA__RECENT_MINUTES", "15")])
            .await;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "viewer").await;
    portal.clock.advance(chrono::TimeDelta::minutes(16));
    let refused = asha.put(PASSWORD, change("battery staple", "other horse battery")).await;
    assert_eq!((refused.status, refused.code()), (403, "recent_authentication_required"));
    let confirmed = asha.post("/v1/operator/session/confirm", json!({ "password": "battery staple" })).await;
    assert_eq!(confirmed.status, 204, "{confirmed:?}");
    for _ in 0..10 {
        asha.put(PASSWORD, change("wrong horse", "other horse battery")).await;
    }
    let refused = asha.put(PASSWORD, change("battery staple", "other horse battery")).await;
    assert_eq!(refused.status, 429, "{refused:?}");
}
