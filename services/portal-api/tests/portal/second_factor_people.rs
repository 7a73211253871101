//! Second factors of the operator's staff, resets by others, and roles that must have one.

use serde_json::{Value, json};

use crate::authenticator::{FACTOR, SECOND_STEP, SESSION, STEP, challenged, code, enrol, enrol_at};
use crate::mail_folder::MailFolder;
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{self, STAFF, person};

const CONSOLE_FACTOR: &str = "/v1/operator/second-factor";
const CONSOLE_STEP: &str = "/v1/operator/session/second-factor";
const BUSINESSES: &str = "/v1/operator/businesses";

fn staff_log_in(email: &str) -> Value {
    json!({ "email": email, "password": "battery staple" })
}

#[tokio::test]
async fn a_person_of_the_staff_logs_in_with_a_code() {
    let portal = Portal::with_factors(&[]).await;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "support").await;
    let enrolled = enrol_at(&portal, &mut asha, CONSOLE_FACTOR).await;
    assert_eq!(asha.get(CONSOLE_FACTOR).await.body["enrolled"], true);
    let mut visitor = portal.stranger();
    let half = visitor.post(staff::SESSION, staff_log_in("asha@carrier.example")).await;
    assert_eq!((half.status, &half.body["mfaRequired"]), (202, &json!(true)), "{half:?}");
    for path in [staff::SESSION, BUSINESSES, CONSOLE_FACTOR] {
        assert_eq!(visitor.get(path).await.status, 401, "{path}");
    }
    let wrong = visitor.post(CONSOLE_STEP, code(&enrolled.app.wrong(&portal.clock))).await;
    assert_eq!((wrong.status, wrong.code()), (422, "code_wrong"));
    let entered = code(&enrolled.app.now(&portal.clock));
    let opened = visitor.post(CONSOLE_STEP, entered.clone()).await;
    assert_eq!((opened.status, &opened.body["role"]), (200, &json!("support")), "{opened:?}");
    assert_eq!(visitor.get(BUSINESSES).await.status, 200);
    let mut second = portal.stranger();
    second.post(staff::SESSION, staff_log_in("asha@carrier.example")).await;
    assert_eq!(second.post(CONSOLE_STEP, entered).await.status, 422, "replayed");
    assert_eq!(second.post(CONSOLE_STEP, code(&enrolled.recovery_codes[0])).await.status, 200);

    let log = portal.operator().get("/v1/operator/audit-log").await.body.to_string();
    for told in ["second_factor.enrolled", "\"secondFactor\":\"recovery_code\"", "wrong_code"] {
        assert!(log.contains(told), "{told}: {log}");
    }
    let mut token = portal.stranger();
    token.post(staff::SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    let refused = token.press(CONSOLE_FACTOR).await;
    assert_eq!((refused.status, refused.code()), (403, "account_required"));
    assert_eq!(portal.operator().get(CONSOLE_FACTOR).await.status, 401, "a token without a session");
}

#[tokio::test]
async fn owners_and_the_operator_reset_the_factor_of_a_user() {
    let folder = MailFolder::new();
    let portal = Portal::with_factors(&[
        ("WAYBILL_MAIL__TRANSPORT", "folder"),
        ("WAYBILL_MAIL__FOLDER", folder.path()),
    ])
    .await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut member = portal.member(&mut owner, "dev@shop.example", "developer").await;
    let mut stranger = portal.owner("owner@other.example").await;
    let user = member.get(SESSION).await.body["userId"].as_str().unwrap().to_owned();
    let path = format!("/v1/portal/users/{user}/second-factor");
    let of_operator = format!("{BUSINESSES}/{}/users/{user}/second-factor", owner.business);
    let elsewhere = format!("{BUSINESSES}/{}/users/{user}/second-factor", stranger.business);
    for (client, path) in [(&mut owner.client, &path), (&mut portal.operator(), &of_operator)] {
        assert_eq!(client.delete(path).await.code(), "second_factor_not_found", "{path}");
    }
    enrol(&portal, &mut member).await;
    assert_eq!(member.delete(&path).await.code(), "role_insufficient");
    assert_eq!(stranger.client.delete(&path).await.code(), "user_not_found");
    assert_eq!(portal.operator().delete(&elsewhere).await.code(), "user_not_found");
    let (mut finance, _) = person(&portal, "ravi@carrier.example", "finance").await;
    assert_eq!(finance.delete(&of_operator).await.code(), "permission_missing");

    let log_in = json!({ "email": "dev@shop.example", "password": "battery staple" });
    let (mut support, _) = person(&portal, "asha@carrier.example", "support").await;
    let mut sent = folder.mails().len();
    for (client, path) in [(&mut owner.client, &path), (&mut support, &of_operator)] {
        assert_eq!(member.get(SESSION).await.status, 200);
        assert_eq!(client.delete(path).await.status, 204, "{path}");
        assert_eq!(member.get(SESSION).await.status, 401, "the sessions end");
        member = portal.stranger();
        assert_eq!(member.post(SESSION, log_in.clone()).await.status, 200, "no code is needed");
        enrol(&portal, &mut member).await;
        sent += 1;
    }
    let mails = folder.wait_for(sent).await;
    let told =
        mails.iter().filter(|mail| mail.subject.contains("was reset") && mail.to == "dev@shop.example");
    assert_eq!(told.count(), 2, "{mails:?}");
    let log = owner.client.get("/v1/portal/audit-log?action=second_factor.reset").await.body;
    assert_eq!(log["data"].as_array().unwrap().len(), 2, "{log}");
    let log = portal.operator().get("/v1/operator/audit-log?action=second_factor.reset").await.body;
    assert_eq!(log["data"][0]["actor"]["name"], "asha@carrier.example", "{log}");
}

#[tokio::test]
async fn an_administrator_resets_the_factor_of_a_person() {
    let portal = Portal::with_factors(&[]).await;
    let (mut boss, _) = person(&portal, "boss@carrier.example", "administrator").await;
    let (mut asha, id) = person(&portal, "asha@carrier.example", "support").await;
    let path = format!("{STAFF}/{id}/second-factor");
    assert_eq!(boss.delete(&path).await.code(), "second_factor_not_found");
    enrol_at(&portal, &mut asha, CONSOLE_FACTOR).await;
    assert_eq!(asha.delete(&path).await.code(), "permission_missing");
    assert_eq!(boss.delete(&path).await.status, 204);
    assert_eq!(asha.get(BUSINESSES).await.status, 401, "the sessions end");
    staff::log_in(&portal, "asha@carrier.example").await;
    let log = boss.get("/v1/operator/audit-log?action=second_factor.reset").await.body;
    assert_eq!(log["data"][0]["target"]["id"], json!(id), "{log}");
    let unknown = boss.delete(&format!("{STAFF}/stf_01ARZ3NDEKTSV4RRFFQ69G5FAV/second-factor")).await;
    assert_eq!((unknown.status, unknown.code()), (404, "staff_not_found"));
}

#[tokio::test]
async fn a_user_whose_role_needs_a_factor_can_only_set_it_up() {
    let portal = Portal::with_factors(&[("WAYBILL_MFA__REQUIRED_FOR_USERS", "owner")]).await;
    let mut visitor = portal.stranger();
    let signed_up =
        visitor.post("/v1/portal/accounts", crate::portal::sign_up_body("owner@shop.example")).await;
    assert_eq!((signed_up.status, &signed_up.body["mfaEnrolmentRequired"]), (201, &json!(true)));
    assert_eq!(visitor.get(SESSION).await.body["mfaEnrolmentRequired"], true);
    for call in [
        "GET /status",
        "GET /status/stream",
        "GET /orders",
        "GET /orders/stream",
        "GET /wallet/entries.csv",
        "POST /api-keys",
        "GET /users",
        "POST /invitations",
        "PUT /password",
        "DELETE /second-factor",
        "POST /second-factor/recovery-codes",
        "GET /sessions",
        "DELETE /sessions/ses_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        let (method, path) = call.split_once(' ').unwrap();
        let refused = visitor.call(method, &format!("/v1/portal{path}")).await;
        assert_eq!((refused.status, refused.code()), (403, "mfa_enrolment_required"), "{call}");
    }
    assert_eq!(visitor.get(FACTOR).await.body["required"], true);
    let app = enrol(&portal, &mut visitor).await.app;
    assert_eq!(visitor.get("/v1/portal/status").await.status, 200, "in the same session");
    assert_eq!(visitor.get(SESSION).await.body["mfaEnrolmentRequired"], Value::Null);
    let mut second = challenged(&portal, "owner@shop.example").await;
    let opened = second.post(SECOND_STEP, code(&app.now(&portal.clock))).await;
    assert_eq!((opened.status, &opened.body["mfaEnrolmentRequired"]), (200, &Value::Null));
    assert_eq!(second.delete(FACTOR).await.status, 204);
    assert_eq!(visitor.get("/v1/portal/status").await.code(), "mfa_enrolment_required", "it is needed again");
}

#[tokio::test]
async fn other_roles_need_none_and_a_new_role_counts_at_once() {
    let portal = Portal::with_factors(&[("WAYBILL_MFA__REQUIRED_FOR_USERS", "developer")]).await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut member = portal.member(&mut owner, "dev@shop.example", "viewer").await;
    assert_eq!(member.get("/v1/portal/status").await.status, 200);
    let user = member.get(SESSION).await.body["userId"].as_str().unwrap().to_owned();
    let changed =
        owner.client.patch(&format!("/v1/portal/users/{user}"), json!({ "role": "developer" })).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_eq!(member.get("/v1/portal/status").await.code(), "mfa_enrolment_required");
}

#[tokio::test]
async fn a_person_whose_role_needs_a_factor_can_only_set_it_up() {
    let portal = Portal::with_factors(&[("WAYBILL_MFA__REQUIRED_FOR_STAFF", "administrator,finance")]).await;
    let (mut boss, _) = person(&portal, "boss@carrier.example", "administrator").await;
    assert_eq!(boss.get(staff::SESSION).await.body["mfaEnrolmentRequired"], true);
    for path in [BUSINESSES, STAFF, "/v1/operator/audit-log", "/v1/operator/orders?code=x"] {
        let refused = boss.get(path).await;
        assert_eq!((refused.status, refused.code()), (403, "mfa_enrolment_required"), "{path}");
    }
    for (call, body) in [
        ("PUT name", json!({ "name": "Eve" })),
        (
            "PUT password",
            json!({ "currentPassword": "battery staple", "newPassword": "other horse battery" }),
        ),
        ("GET sessions", json!({})),
        ("DELETE sessions/ses_x", json!({})),
        ("POST sessions/revoke-others", json!({})),
        ("POST sso/log-ins", json!({ "purpose": "link" })),
        ("DELETE second-factor", json!({})),
        ("POST second-factor/recovery-codes", json!({})),
    ] {
        let (method, path) = call.split_once(' ').unwrap();
        let path = format!("/v1/operator/{path}");
        let refused = match method {
            "PUT" => boss.put(&path, body).await,
            "POST" => boss.post(&path, body).await,
            method => boss.call(method, &path).await,
        };
        assert_eq!((refused.status, refused.code()), (403, "mfa_enrolment_required"), "{call}");
    }
    let confirm = json!({ "password": "battery staple" });
    assert_eq!(boss.post("/v1/operator/session/confirm", confirm).await.status, 204);
    assert_eq!(boss.get(CONSOLE_FACTOR).await.body["required"], true);
    let (mut leaving, _) = person(&portal, "ravi@carrier.example", "finance").await;
    assert_eq!(leaving.delete(staff::SESSION).await.status, 204);
    enrol_at(&portal, &mut boss, CONSOLE_FACTOR).await;
    assert_eq!(boss.get(STAFF).await.status, 200);
    assert_eq!(boss.get("/v1/operator/sessions").await.status, 200);
    assert_eq!(boss.put("/v1/operator/name", json!({ "name": "Asha Iyer" })).await.status, 204);
    assert_eq!(boss.get(staff::SESSION).await.body["mfaEnrolmentRequired"], Value::Null);
    let (mut viewer, _) = person(&portal, "viewer@carrier.example", "viewer").await;
    assert_eq!(viewer.get(BUSINESSES).await.status, 200);
    assert_eq!(portal.operator().get(STAFF).await.status, 200, "tokens have no second factor");
    portal.clock.advance(STEP);
}
