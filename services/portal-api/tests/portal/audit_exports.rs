//! The audit logs as files, how long they are kept, and the lines for the operator's log system.

use chrono::TimeDelta;
use diesel_async::SimpleAsyncConnection;
use domain::AuditEntryId;
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::until;

use crate::client::Client;
use crate::portal::Portal;
use crate::staff::person;

const LOG: &str = "/v1/portal/audit-log";
const OPERATOR_LOG: &str = "/v1/operator/audit-log";

async fn lines(client: &mut Client, path: &str) -> Vec<Value> {
    let answer = client.get(path).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["data"].as_array().unwrap().clone()
}

/// The objects of a JSON Lines file.
async fn exported(client: &Client, path: &str) -> Vec<Value> {
    let response = client.open(path).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/x-ndjson; charset=utf-8");
    let name = response.headers()["content-disposition"].to_str().unwrap();
    let owner = if path.starts_with(LOG) { "corner-shop" } else { "operator" };
    assert!(name.starts_with(&format!("attachment; filename=\"{owner}-audit-log-to-20")), "{name}");
    let text = response.text().await.unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// So many entries of a user whose e-mail address is a formula. They are recent: old ones would be pruned.
async fn fill(portal: &Portal, business: &str, count: usize) {
    let first = AuditEntryId::first_of(portal.clock.now()).to_string();
    let now = &first[.."aud_".len() + 10];
    let insert = format!(
        "INSERT INTO audit_log (id, business_id, at, action, actor_type, actor_user_id, actor_email, details)
        SELECT '{now}' || lpad(n::text, 16, '0'), '{business}', now(), 'user.joined', 'user',
            'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', '=1+1@shop.example', '{{\"role\": \"a,b\"}}'
        FROM generate_series(1, {count}) AS n"
    );
    portal.connect().await.batch_execute(&insert).await.unwrap();
}

#[tokio::test]
async fn a_filtered_log_is_exported_completely() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    fill(&portal, &owner.business, 1_203).await;
    let all = exported(&owner.client, &format!("{LOG}.jsonl?action=user.joined")).await;
    assert_eq!(all.len(), 1_203, "several pages");
    let ids: Vec<_> = all.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted_by(|newer, older| newer > older), "newest first, none twice");
    assert_eq!(
        all[..20],
        lines(&mut owner.client, &format!("{LOG}?action=user.joined")).await,
        "as in the list"
    );

    let file =
        owner.client.get(&format!("{LOG}.csv?actor=%3D1%2B1@shop.example&until=2100-01-01T00:00:00Z")).await;
    assert_eq!((file.status, file.header("content-type")), (200, "text/csv; charset=utf-8"));
    let name = "attachment; filename=\"corner-shop-audit-log-to-2100-01-01.csv\"";
    assert_eq!(file.header("content-disposition"), name);
    let text = file.body.as_str().unwrap();
    let rows: Vec<_> = text.split("\r\n").filter(|row| !row.is_empty()).collect();
    assert_eq!(rows.len(), 1_204);
    assert!(rows[0].starts_with("id,at,action,actorType,actorUserId,actorEmail,address,"), "{}", rows[0]);
    assert!(rows[1].contains(",'=1+1@shop.example,"), "a formula is neutralised: {}", rows[1]);
    assert!(rows[0].ends_with(",details,atLocal"), "{}", rows[0]);
    assert!(rows[1].contains(r#","{""role"":""a,b""}",20"#), "{}", rows[1]);

    let audited = lines(&mut owner.client, &format!("{LOG}?action=audit_log.exported")).await;
    let details: Vec<_> = audited.iter().map(|line| line["details"].clone()).collect();
    let csv = json!({ "format": "csv", "filters": ["actor", "until"] });
    let json_lines = json!({ "format": "jsonl", "filters": ["action"] });
    assert!(details.len() == 2 && details.contains(&csv) && details.contains(&json_lines), "{details:?}");
    assert_eq!(audited[0]["actor"]["email"], "owner@shop.example");

    let wrong = "?action=nothing.done&userId=x&since=today&until=1&limit=5&startingAfter=x&address=y";
    for path in [format!("{LOG}.csv{wrong}"), format!("{LOG}.jsonl{wrong}")] {
        let refused = owner.client.get(&path).await;
        let fields = ["action", "address", "limit", "since", "startingAfter", "until", "userId"];
        assert_eq!((refused.status, refused.invalid_fields()), (400, fields.to_vec()), "{path}");
    }
    assert_eq!(lines(&mut owner.client, &format!("{LOG}?action=audit_log.exported")).await.len(), 2);
}

#[tokio::test]
async fn each_business_exports_its_own_log_and_roles_apply() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let other = portal.owner("owner@other.example").await;
    fill(&portal, &other.business, 3).await;
    let own = exported(&owner.client, &format!("{LOG}.jsonl")).await;
    let actions: Vec<_> = own.iter().map(|line| line["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["audit_log.exported", "account.created"]);
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    for path in [format!("{LOG}.csv"), format!("{LOG}.jsonl")] {
        assert_eq!(viewer.get(&path).await.code(), "role_insufficient");
        assert_eq!(portal.stranger().get(&path).await.status, 401);
        assert_eq!(owner.client.raw(Method::POST, &path, "application/json", "{}").await.status, 405);
    }
}

#[tokio::test]
async fn the_operators_log_is_exported_by_administrators() {
    let portal = Portal::start().await;
    let (mut support, _) = person(&portal, "support@carrier.example", "support").await;
    let (mut admin, id) = person(&portal, "admin@carrier.example", "administrator").await;
    for path in [format!("{OPERATOR_LOG}.csv"), format!("{OPERATOR_LOG}.jsonl")] {
        assert_eq!(support.get(&path).await.code(), "permission_missing");
    }
    let opened =
        exported(&admin, &format!("{OPERATOR_LOG}.jsonl?action=session.opened&address=127.0.0.1")).await;
    assert_eq!(opened.len(), 2);
    assert_eq!(lines(&mut admin, &format!("{OPERATOR_LOG}?address=203.0.113.9")).await.len(), 0);
    let file = admin.get(&format!("{OPERATOR_LOG}.csv?actor=admin@carrier.example")).await;
    let text = file.body.as_str().unwrap();
    assert!(
        text.starts_with("id,at,action,actorType,actorId,actorName,address,businessId,businessName,"),
        "{text}"
    );
    assert!(
        text.contains(&format!(",session.opened,person,{id},admin@carrier.example,127.0.0.1,")),
        "{text}"
    );
    let audited = lines(&mut admin, &format!("{OPERATOR_LOG}?action=audit_log.exported")).await;
    assert_eq!((audited.len(), &audited[0]["actor"]["id"]), (2, &json!(id)));
    let refused = admin.get(&format!("{OPERATOR_LOG}.csv?businessId=x&address=&limit=1")).await;
    assert_eq!(refused.invalid_fields(), ["address", "businessId", "limit"]);
}

#[tokio::test]
async fn an_export_is_not_sent_without_its_entry() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    for table in ["audit_log", "operator_audit_log"] {
        let broken = format!(
            "ALTER TABLE {table} ADD CONSTRAINT broken CHECK (action <> 'audit_log.exported') NOT VALID"
        );
        portal.connect().await.batch_execute(&broken).await.unwrap();
    }
    let answer = owner.client.get(&format!("{LOG}.csv")).await;
    assert!(answer.status == 500 && !answer.body.to_string().contains("account.created"), "{answer:?}");
    assert_eq!(portal.operator().get(&format!("{OPERATOR_LOG}.csv")).await.status, 500);
}

#[tokio::test]
async fn entries_are_kept_as_long_as_the_settings_say() {
    let portal = Portal::with(&[
        ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
        ("WAYBILL_AUDIT__BUSINESS_DAYS", "30"),
        ("WAYBILL_AUDIT__OPERATOR_DAYS", "0"),
    ])
    .await;
    let mut owner = portal.owner("owner@shop.example").await;
    person(&portal, "asha@carrier.example", "viewer").await;
    fill(&portal, &owner.business, 2_500).await;
    let written = lines(&mut portal.operator(), OPERATOR_LOG).await.len();
    portal.clock.advance(TimeDelta::days(30));
    let right = json!({ "email": "owner@shop.example", "password": "correct horse" });
    assert_eq!(owner.client.post("/v1/portal/session", right).await.status, 200);
    until("entries of more than 30 days are deleted", async || {
        portal.clock.advance(TimeDelta::milliseconds(1));
        prune(&portal).await;
        lines(&mut owner.client.clone(), LOG).await.len() == 1
    })
    .await;
    assert_eq!(lines(&mut portal.operator(), OPERATOR_LOG).await.len(), written, "forever");
}

/// Another instance prunes when it starts.
async fn prune(portal: &Portal) {
    portal.another();
}

/// An export keeps a connection while its client reads slowly, or not at all.
#[tokio::test]
async fn exports_at_once_are_limited_per_user_and_business() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    fill(&portal, &owner.business, 60_000).await;
    let path = format!("{LOG}.csv");
    let mut unread = Vec::new();
    for email in ["one@shop.example", "two@shop.example"] {
        let mut developer = portal.member(&mut owner, email, "developer").await;
        for _ in 0..2 {
            unread.push(developer.open(&path).await);
        }
        let refused = developer.get(&path).await;
        assert_eq!((refused.status, refused.code()), (429, "too_many_exports"), "{refused:?}");
        assert_eq!(refused.header("retry-after"), "15");
    }
    assert!(unread.iter().all(|response| response.status() == 200));
    let refused = owner.client.get(&format!("{LOG}.jsonl")).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_exports"), "four of the business");
    assert_eq!(
        lines(&mut owner.client, &format!("{LOG}?action=audit_log.exported")).await.len(),
        4,
        "no entry"
    );
    let other = portal.owner("owner@other.example").await;
    assert_eq!(exported(&other.client, &format!("{LOG}.jsonl")).await.len(), 2, "another business");
    drop(unread);
    until("the places are free", async || owner.client.clone().get(&path).await.status == 200).await;
}
