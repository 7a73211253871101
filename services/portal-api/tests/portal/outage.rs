//! Without its database the service answers 503.

use serde_json::json;

use crate::client::Client;
use crate::portal::{Portal, sign_up_body};

#[tokio::test]
async fn without_a_database_every_call_is_503() {
    let portal = Portal::without_database().await;
    let mut visitor = portal.stranger().with_header("cookie", &format!("portal_session={}", "A".repeat(43)));
    let log_in = json!({ "email": "owner@shop.example", "password": "correct horse" });
    for answer in [
        visitor.post("/v1/portal/accounts", sign_up_body("owner@shop.example")).await,
        visitor.post("/v1/portal/session", log_in).await,
        visitor.get("/v1/portal/session").await,
        visitor.get("/v1/portal/status").await,
        portal.operator().get("/v1/operator/businesses").await,
    ] {
        assert_eq!((answer.status, answer.code()), (503, "temporarily_unavailable"));
        assert_ne!(answer.header("retry-after"), "");
    }
    let ready = Client::new(portal.management).get("/health/ready").await;
    assert_eq!((ready.status, &ready.body["checks"]["database"]), (503, &json!(false)));
}
