//! The permission of every call of the operator, for every role of persons and tokens.

use serde_json::json;

use crate::client::Client;
use crate::portal::Portal;
use crate::staff::person;

const EVERYBODY: &[&str] = &["administrator", "finance", "support", "viewer"];
const SUPPORT: &[&str] = &["administrator", "support"];
const REVIEWERS: &[&str] = &["administrator", "finance", "support"];
const FINANCE: &[&str] = &["administrator", "finance"];
const ADMINISTRATORS: &[&str] = &["administrator"];

/// Calls, their permission and their roles, written down a second time.
pub(crate) const CALLS: &[(&str, &str, &[&str])] = &[
    ("GET /home", "read_businesses", EVERYBODY),
    ("GET /businesses", "read_businesses", EVERYBODY),
    ("GET /businesses/{business}", "read_businesses", EVERYBODY),
    ("GET /businesses/{business}/health", "read_businesses", EVERYBODY),
    ("GET /businesses/{business}/notes", "read_businesses", EVERYBODY),
    ("POST /businesses/{business}/notes", "change_businesses", SUPPORT),
    ("PUT /businesses/{business}/contact", "change_businesses", SUPPORT),
    ("POST /businesses/{business}/refusal", "change_businesses", SUPPORT),
    ("GET /businesses/{business}/closing", "read_businesses", EVERYBODY),
    ("POST /businesses/{business}/closing", "change_businesses", SUPPORT),
    ("DELETE /businesses/{business}/closing", "change_businesses", SUPPORT),
    ("POST /businesses/{business}/closing/complete", "change_businesses", SUPPORT),
    ("GET /businesses/{business}/personal-data-erasure", "read_businesses", EVERYBODY),
    ("GET /businesses/{business}/wallet/entries", "read_businesses", EVERYBODY),
    ("GET /businesses/{business}/wallet/entries.csv", "read_businesses", EVERYBODY),
    ("GET /businesses/{business}/wallet/entries.xlsx", "read_businesses", EVERYBODY),
    ("GET /businesses/{business}/wallet/entries/totals", "read_businesses", EVERYBODY),
    ("GET /businesses/{business}/cod", "read_cash", EVERYBODY),
    ("GET /businesses/{business}/orders", "read_orders", SUPPORT),
    ("GET /cod", "read_cash", EVERYBODY),
    ("GET /cod/discrepancies", "read_cash", EVERYBODY),
    ("GET /businesses/{business}/cod", "read_cash", EVERYBODY),
    ("GET /businesses/{business}/remittances", "read_cash", EVERYBODY),
    ("GET /businesses/{business}/remittances/rem_01ARZ3NDEKTSV4RRFFQ69G5FAV", "read_cash", EVERYBODY),
    (
        "GET /businesses/{business}/remittances/rem_01ARZ3NDEKTSV4RRFFQ69G5FAV/orders.csv",
        "read_cash",
        EVERYBODY,
    ),
    ("POST /businesses/{business}/orders/exports", "read_orders", SUPPORT),
    ("POST /businesses/{business}/cod/exports", "read_cash", EVERYBODY),
    ("GET /exports", "read_cash", EVERYBODY),
    ("GET /exports/exp_01ARZ3NDEKTSV4RRFFQ69G5FAV", "read_cash", EVERYBODY),
    ("DELETE /exports/exp_01ARZ3NDEKTSV4RRFFQ69G5FAV", "read_cash", EVERYBODY),
    ("GET /exports/exp_01ARZ3NDEKTSV4RRFFQ69G5FAV/file", "read_cash", EVERYBODY),
    ("POST /businesses/{business}/remittances", "credit_wallets", FINANCE),
    ("POST /businesses/{business}/remittances/check", "credit_wallets", FINANCE),
    ("PUT /businesses/{business}/cod/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/difference", "credit_wallets", FINANCE),
    ("PATCH /businesses/{business}", "change_businesses", SUPPORT),
    ("GET /businesses/{business}/users", "read_users", SUPPORT),
    ("GET /businesses/{business}/audit-log", "read_users", SUPPORT),
    ("POST /businesses/{business}/password-resets", "issue_password_resets", SUPPORT),
    (
        "POST /businesses/{business}/orders/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/reattempt",
        "change_businesses",
        SUPPORT,
    ),
    (
        "POST /businesses/{business}/orders/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/return",
        "change_businesses",
        SUPPORT,
    ),
    ("GET /orders?code=x", "read_orders", SUPPORT),
    ("GET /exceptions", "read_orders", SUPPORT),
    ("GET /orders/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/events", "read_orders", SUPPORT),
    ("GET /orders/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/evidence", "read_orders", SUPPORT),
    (
        "DELETE /businesses/{business}/users/usr_01ARZ3NDEKTSV4RRFFQ69G5FAV/second-factor",
        "issue_password_resets",
        SUPPORT,
    ),
    ("POST /businesses/{business}/wallet/credits", "credit_wallets", FINANCE),
    ("POST /businesses/{business}/personal-data-erasure", "erase_personal_data", ADMINISTRATORS),
    ("GET /staff", "manage_staff", ADMINISTRATORS),
    ("POST /staff", "manage_staff", ADMINISTRATORS),
    ("PATCH /staff/stf_01ARZ3NDEKTSV4RRFFQ69G5FAV", "manage_staff", ADMINISTRATORS),
    ("DELETE /staff/stf_01ARZ3NDEKTSV4RRFFQ69G5FAV", "manage_staff", ADMINISTRATORS),
    ("POST /staff/stf_01ARZ3NDEKTSV4RRFFQ69G5FAV/password-link", "manage_staff", ADMINISTRATORS),
    ("DELETE /staff/stf_01ARZ3NDEKTSV4RRFFQ69G5FAV/second-factor", "manage_staff", ADMINISTRATORS),
    ("DELETE /staff/stf_01ARZ3NDEKTSV4RRFFQ69G5FAV/sessions", "manage_staff", ADMINISTRATORS),
    ("GET /tokens", "manage_tokens", ADMINISTRATORS),
    ("POST /tokens", "manage_tokens", ADMINISTRATORS),
    ("POST /tokens/opt_01ARZ3NDEKTSV4RRFFQ69G5FAV/rotate", "manage_tokens", ADMINISTRATORS),
    ("POST /tokens/opt_01ARZ3NDEKTSV4RRFFQ69G5FAV/disable", "manage_tokens", ADMINISTRATORS),
    ("GET /approvals", "review_approvals", REVIEWERS),
    ("GET /approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV", "review_approvals", REVIEWERS),
    ("POST /approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/approve", "review_approvals", REVIEWERS),
    ("POST /approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/reject", "review_approvals", REVIEWERS),
    ("POST /approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/withdraw", "review_approvals", REVIEWERS),
    ("POST /approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/reset-link", "review_approvals", REVIEWERS),
    ("GET /audit-log", "read_audit_log", ADMINISTRATORS),
    ("GET /audit-log.csv", "read_audit_log", ADMINISTRATORS),
    ("GET /audit-log.jsonl", "read_audit_log", ADMINISTRATORS),
];

/// Named tokens never grant access.
fn may(role: &str, is_token: bool, permission: &str, roles: &[&str]) -> bool {
    roles.contains(&role) && !(is_token && permission.starts_with("manage_"))
}

async fn check(client: &mut Client, (role, is_token): (&str, bool), business: &str) {
    for (call, permission, roles) in CALLS {
        let (method, path) = call.split_once(' ').unwrap();
        let path = format!("/v1/operator{}", path.replace("{business}", business));
        let answer = client.call(method, &path).await;
        if may(role, is_token, permission, roles) {
            assert_ne!(answer.status, 403, "{role}: {call}: {answer:?}");
            let nothing_there = answer.status == 405 || answer.code() == "not_found";
            assert!(!nothing_there, "{call} is no call: {answer:?}");
        } else {
            assert_eq!((answer.status, answer.code()), (403, "permission_missing"), "{role}: {call}");
            assert_eq!(answer.body["requiredPermission"], *permission, "{role}: {call}");
        }
    }
}

#[tokio::test]
async fn each_role_may_do_what_it_is_for() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    for role in EVERYBODY {
        let (mut console, _) = person(&portal, &format!("{role}@carrier.example"), role).await;
        check(&mut console, (role, false), &business).await;
        let body = json!({ "name": format!("{role} robot"), "role": role });
        let token = portal.operator().post("/v1/operator/tokens", body).await;
        let mut robot = portal.stranger().with_bearer(token.body["token"].as_str().unwrap());
        check(&mut robot, (role, true), &business).await;
        let session = console.get("/v1/operator/session").await.body;
        let told = session["permissions"].as_array().unwrap();
        for (_, permission, roles) in CALLS {
            assert_eq!(told.contains(&json!(permission)), roles.contains(role), "{role}: {permission}");
        }
    }
    check(&mut portal.operator(), ("administrator", false), &business).await;
    for (call, ..) in CALLS {
        let (method, path) = call.split_once(' ').unwrap();
        let path = format!("/v1/operator{}", path.replace("{business}", &business));
        assert_eq!(portal.stranger().call(method, &path).await.status, 401, "{call}");
    }
}

#[tokio::test]
async fn encoded_paths_need_the_same_permission() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let (mut viewer, _) = person(&portal, "viewer@carrier.example", "viewer").await;
    for path in ["/v1/operator/st%61ff", "/v1/oper%61tor/staff"] {
        let refused = viewer.get(path).await;
        assert_eq!((refused.status, refused.code()), (403, "permission_missing"), "{path}");
    }
    let refused = viewer.get(&format!("/v1/operator/businesses/{business}/us%65rs")).await;
    assert_eq!(refused.status, 403);
    for path in ["/v1/operator/staff/", "/v1/operator//staff", "/v1/operator/nothing-here"] {
        assert_eq!(viewer.get(path).await.status, 404, "{path}");
    }
    let unknown = viewer.delete("/v1/operator/businesses").await;
    assert_eq!((unknown.status, unknown.header("allow")), (405, "GET, HEAD"));
}
