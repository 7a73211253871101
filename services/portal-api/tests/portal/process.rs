//! The program: it migrates, serves, stores and logs no secrets, and stops cleanly.

use std::process::Command;

use diesel::sql_types::{Nullable, Text};
use diesel_async::RunQueryDsl;
use serde_json::{Value, json};
use test_kit::{Program, service_command};

use crate::client::Client;
use crate::portal::{OPERATOR_TOKEN, Portal, sign_up_body};
use crate::profile::complete_profile;

/// The program with its most verbose log level.
fn command(portal: &Portal, argument: &str) -> Command {
    let program = env!("CARGO_BIN_EXE_portal-api");
    let mut command = service_command(program, argument, &portal.settings.database, &portal.settings.broker);
    command.env("WAYBILL_HTTP__PUBLIC", "127.0.0.1:0").env("WAYBILL_TELEMETRY__FILTER", "debug");
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_serves_keeps_secrets_and_stops_cleanly() {
    let portal = Portal::connected().await;
    assert!(command(&portal, "migrate").status().unwrap().success(), "migrating twice changes nothing");
    assert!(!command(&portal, "dance").status().unwrap().success());

    let program = Program::start(&mut command(&portal, "serve"));
    let public = program.next_address().socket_addrs(|| None).unwrap()[0];
    program.serves().await;
    let mut owner = Client::new(public);
    let created = owner.post("/v1/portal/accounts", sign_up_body("Owner@Shop.example")).await;
    assert_eq!(created.status, 201, "{created:?}");
    let token = created.header("set-cookie").split(['=', ';']).nth(1).unwrap().to_owned();
    assert_eq!(owner.put("/v1/portal/pickup-profile", complete_profile()).await.status, 200);
    let wrong = json!({ "email": "owner@shop.example", "password": "battery staple" });
    assert_eq!(owner.post("/v1/portal/session", wrong).await.status, 401);
    let right = json!({ "email": "owner@shop.example", "password": "correct horse" });
    let logged_in = Client::new(public).post("/v1/portal/session", right).await;
    assert_eq!(logged_in.status, 200, "{logged_in:?}");
    let next_token = logged_in.header("set-cookie").split(['=', ';']).nth(1).unwrap().to_owned();
    let mut operator = Client::new(public).with_bearer(OPERATOR_TOKEN);
    assert_eq!(operator.get("/v1/operator/businesses").await.status, 200);
    let mut console = Client::new(public);
    let opened = console.post("/v1/operator/session", json!({ "token": OPERATOR_TOKEN })).await;
    let console_token = opened.header("set-cookie").split(['=', ';']).nth(1).unwrap().to_owned();
    let unknown = json!({ "email": "nobody@shop.example", "password": "battery staple" });
    assert_eq!(owner.post("/v1/portal/session", unknown).await.status, 401);
    let mut wrong_token = Client::new(public).with_bearer("nobody's token");
    assert_eq!(wrong_token.get("/v1/operator/businesses").await.status, 401);
    let mut stream = owner.open("/v1/portal/orders/stream").await;
    assert!(stream.chunk().await.unwrap().is_some());

    let written = program.stop();
    while stream.chunk().await.expect("the open stream was ended, not cut off").is_some() {}
    assert!(written.contains("business signed up") && written.contains("stopped"), "{written}");

    check_audit_lines(&written, &created.body);
    let kept = everything_kept(&portal).await;
    assert!(kept.contains("Corner Shop"), "the tables were read");
    let tokens = [token.as_str(), next_token.as_str(), console_token.as_str(), OPERATOR_TOKEN];
    for secret in ["correct horse", "battery staple"].into_iter().chain(tokens) {
        assert!(!written.contains(secret), "in the log: {secret}");
        // Binary columns read as hexadecimal.
        let hexadecimal: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        for form in [secret, &hexadecimal] {
            assert!(!kept.contains(form), "in the database: {secret}");
        }
    }
    for personal in ["shop.example", "Shop.example", "+919876543210", "12 MG Road", "Asha Rao"] {
        assert!(!written.contains(personal), "in the log: {personal}");
    }
}

/// The lines for the operator's log system, one for each entry, and for refused calls that have none.
fn check_audit_lines(written: &str, account: &Value) {
    let lines: Vec<Value> = written.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let audit: Vec<_> = lines.iter().filter(|line| line["target"] == "waybill::audit").collect();
    let find = |log: &str, action: &str, reason: Value| {
        let found = audit.iter().find(|line| {
            line["log"] == log && line["action"] == action && (reason.is_null() || line["reason"] == reason)
        });
        *found.unwrap_or_else(|| panic!("no line of {log}: {action}: {audit:?}"))
    };
    let created = find("business", "account.created", Value::Null);
    assert_eq!((&created["business_id"], &created["actor_id"]), (&account["businessId"], &account["userId"]));
    assert_eq!((&created["address"], &created["target_type"]), (&json!("127.0.0.1"), &json!("business")));
    assert!(created["entry_id"].as_str().unwrap().starts_with("aud_"), "{created}");
    assert!(created["request_id"].as_str().unwrap().starts_with("req_"), "{created}");
    assert_eq!(find("operator", "businesses.read", Value::Null)["actor_type"], "configuration");
    for reason in ["unknown_account", "wrong_token"] {
        assert_eq!(find("refusal", "session.failed", json!(reason))["address"], "127.0.0.1");
    }
}

#[derive(diesel::QueryableByName)]
struct Found {
    #[diesel(sql_type = Nullable<Text>)]
    text: Option<String>,
}

/// All rows of all tables that the catalogue lists, as text.
async fn everything_kept(portal: &Portal) -> String {
    const TABLES: &str = "SELECT oid::regclass::text AS text FROM pg_class
        WHERE relkind IN ('r', 'p', 'm') AND relnamespace = 'public'::regnamespace ORDER BY relname";
    let mut conn = portal.connect().await;
    let tables: Vec<Found> = diesel::sql_query(TABLES).load(&mut conn).await.unwrap();
    let mut kept = String::new();
    for table in tables.into_iter().filter_map(|table| table.text) {
        let query = format!("SELECT string_agg(t::text, ' ') AS text FROM {table} t");
        let rows: Found = diesel::sql_query(query).get_result(&mut conn).await.unwrap();
        kept.push_str(&rows.text.unwrap_or_default());
    }
    kept
}
