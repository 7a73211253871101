//! Exports of users: the files, who sees them, and what becomes of writers that die.

use chrono::TimeDelta;
use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};
use test_kit::until;

use crate::answers::{ORDER, cash, order, page};
use crate::client::Client;
use crate::mail_folder::MailFolder;
use crate::mails::count;
use crate::peers::answer_of;
use crate::portal::{Owner, Portal};

pub(crate) const EXPORTS: &str = "/v1/portal/exports";
const OF_ORDERS: &str = "/v1/portal/orders/exports";
const OF_CASH: &str = "/v1/portal/cod/exports";
const MADE: &str = "exp_01ARZ3NDEKTSV4RRFFQ69G5FAV";

pub(crate) fn list_of(business: &str) -> String {
    format!("GET /order-api/internal/businesses/{business}/orders")
}

fn cash_of(business: &str) -> String {
    format!("GET /wallet/internal/wallets/{business}/cash")
}

/// A page with an order of a customer, whose reference is a formula.
pub(crate) fn orders() -> Value {
    let mut order = order();
    order.order_reference = "=1+1".to_owned();
    order.customer = json!({ "name": "Asha Rao", "phone": "+919876543210", "email": "asha@home.example" });
    order.delivery = json!({ "addressLine1": "12 MG Road", "city": "Bengaluru", "pincode": "560001" });
    order.payment = json!({ "paymentType": "cod", "codAmountPaise": 12_345 });
    page(order)
}

/// Waits for an export, and returns it.
pub(crate) async fn done(client: &mut Client, path: &str) -> Value {
    until("the export has ended", async || {
        let found = client.get(path).await.body;
        found["state"] == "done" || found["state"] == "failed"
    })
    .await;
    client.get(path).await.body
}

/// Asks for an export, and returns its path when it has ended.
async fn exported(client: &mut Client, call: &str) -> String {
    let begun = client.post(call, json!({})).await;
    assert_eq!((begun.status, &begun.body["yours"]), (202, &json!(true)), "{begun:?}");
    let path = format!("{EXPORTS}/{}", begun.body["id"].as_str().unwrap());
    assert_eq!(done(client, &path).await["state"], "done");
    path
}

/// An export that an instance began and did not end, with a part of its file. Its lease ends then.
async fn began(portal: &Portal, owner: &Owner, leased_until: TimeDelta) {
    let (business, now) = (&owner.business, portal.clock.now());
    let begin = format!(
        "INSERT INTO exports (id, business_id, realm, author, kind, format, filter, shows_customers, state, attempts,
            created_at, due_at, expires_at)
        SELECT '{MADE}', '{business}', 'user', id, 'orders', 'csv', '{{}}', true, 'running', 1, '{now}', '{due}', '{end}'
        FROM memberships WHERE business_id = '{business}';
        INSERT INTO export_chunks (business_id, export_id, position, content) VALUES ('{business}', '{MADE}', 0, 'half')",
        due = now + leased_until,
        end = now + TimeDelta::hours(24),
    );
    portal.connect().await.batch_execute(&begin).await.unwrap();
}

#[tokio::test]
async fn orders_of_a_search_are_exported_with_all_filters() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.peers.answer(list_of(&owner.business), 200, orders());
    let filter = "status=delivered&codStatus=settled&paymentType=cod&mode=live&createdFrom=2026-01-01T00:00:00Z&search=asha";
    let path = exported(&mut owner.client, &format!("{OF_ORDERS}?format=csv&{filter}")).await;
    let file = owner.client.get(&format!("{path}/file")).await;
    assert_eq!((file.status, file.header("content-type")), (200, "text/csv; charset=utf-8"));
    assert_eq!(
        file.header("content-disposition"),
        "attachment; filename=\"corner-shop-orders-from-2026-01-01-to-2027-01-15.csv\""
    );
    let shown = owner.client.get(&path).await.body;
    let filters =
        json!({ "mode": "live", "status": "delivered", "codStatus": "settled", "paymentType": "cod" });
    assert_eq!((&shown["filters"], &shown["ofSearch"]), (&filters, &json!(true)));
    assert!(!shown.to_string().contains("asha"), "{shown}");
    let rows: Vec<_> = file.body.as_str().unwrap().split("\r\n").collect();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows[0].starts_with("\u{feff}Order,Reference,Tracking code,Mode,Status,"), "{}", rows[0]);
    assert!(rows[0].ends_with(",Placed (IST),Updated (IST),Fees of further attempts (INR)"), "{}", rows[0]);
    assert!(rows[1].starts_with(&format!("{ORDER},'=1+1,")), "{}", rows[1]);
    assert!(rows[1].contains(",cod,,123.45,"), "{}", rows[1]);
    assert!(rows[1].contains(",Asha Rao,'+919876543210,asha@home.example,12 MG Road,"), "{}", rows[1]);
    assert!(rows[1].ends_with(",2026-01-01 05:30:00,2026-01-01 05:30:00,0.00"), "{}", rows[1]);
    let asked = portal.peers.asked(&list_of(&owner.business)).pop().unwrap().query;
    for part in [
        "limit=100",
        "status=delivered",
        "codStatus=settled",
        "paymentType=cod",
        "mode=live",
        "search=asha",
        "seesPhones=true",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let log = owner.client.get("/v1/portal/audit-log").await.body;
    let entry = |action: &str| {
        let entries = log["data"].as_array().unwrap();
        entries.iter().find(|entry| entry["action"] == action).unwrap()
    };
    assert_eq!(entry("export.downloaded")["target"], entry("export.created")["target"]);
    let filters = json!(["format", "status", "codStatus", "paymentType", "mode", "createdFrom", "search"]);
    let details = &entry("export.created")["details"];
    assert_eq!(details, &json!({ "kind": "orders", "format": "csv", "filters": filters }));
}

#[tokio::test]
async fn cash_is_exported_as_a_workbook_in_pages() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let more = {
        let mut more = cash();
        more.has_more = true;
        answer_of(&more)
    };
    let answers = [more.clone(), more, answer_of(&cash())].map(|body| (200, body));
    portal.peers.answer_in_turn(cash_of(&owner.business), answers);
    let path = exported(&mut owner.client, &format!("{OF_CASH}?format=xlsx&late=true")).await;
    let export = owner.client.get(&path).await.body;
    assert_eq!(
        (&export["rows"], &export["percent"], &export["kind"]),
        (&json!(2), &json!(100), &json!("cash"))
    );
    let asked = portal.peers.asked(&cash_of(&owner.business));
    assert_eq!(asked.len(), 3);
    assert!(
        asked[2].query.contains(&format!("startingAfter={ORDER}")) && asked[2].query.contains("late=true")
    );
    let file = owner.client.open(&format!("{path}/file")).await;
    let name = file.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(name.ends_with("corner-shop-cash-to-2027-01-15.xlsx\""), "{name}");
    assert!(file.headers()["content-type"].to_str().unwrap().ends_with("spreadsheetml.sheet"));
    let bytes = file.bytes().await.unwrap();
    assert!(bytes.starts_with(b"PK\x03\x04") && bytes.len() > 1_000, "{} bytes", bytes.len());
}

#[tokio::test]
async fn wrong_filters_are_refused_before_a_file_begins() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.peers.answer(list_of(&owner.business), 200, orders());
    for (query, fields) in [
        ("format=pdf&limit=5", vec!["format", "limit"]),
        ("format=csv&format=csv", vec!["format"]),
        ("startingAfter=x&dryRun=true&mode=both", vec!["dryRun", "mode", "startingAfter"]),
        ("search=", vec!["search"]),
    ] {
        let refused = owner.client.post(&format!("{OF_ORDERS}?{query}"), json!({})).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, fields), "{query}");
    }
    let of_owner = json!({
        "code": "invalid_request", "message": "Invalid.",
        "errors": [{ "field": "status", "code": "invalid_value", "message": "Unknown." }],
    });
    portal.peers.answer(list_of(&owner.business), 400, of_owner);
    let refused = owner.client.post(&format!("{OF_ORDERS}?status=lost"), json!({})).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["status"]));
    assert_eq!(owner.client.get(EXPORTS).await.body, json!({ "data": [] }));
    for id in [MADE, "exp_1", "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        assert_eq!(owner.client.get(&format!("{EXPORTS}/{id}")).await.code(), "export_not_found");
    }
}

#[tokio::test]
async fn a_role_exports_what_its_lists_show_and_keeps_no_more_than_that() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.peers.answer(list_of(&owner.business), 200, orders());
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    let mut support = portal.member(&mut owner, "support@shop.example", "support").await;
    let masked = exported(&mut viewer, OF_ORDERS).await;
    let text = viewer.get(&format!("{masked}/file")).await.body.as_str().unwrap().to_owned();
    assert!(text.contains(",Asha Rao,••••••3210,,,,Bengaluru,,560001,"), "{text}");
    assert!(!text.contains("MG Road") && !text.contains("asha@home"), "{text}");
    assert_eq!(support.post(OF_CASH, json!({})).await.code(), "role_insufficient");

    // Others' exports are for owners only.
    let complete = exported(&mut support, OF_ORDERS).await;
    for path in [complete.clone(), format!("{complete}/file")] {
        assert_eq!(viewer.get(&path).await.code(), "export_not_found");
    }
    assert_eq!(viewer.delete(&complete).await.status, 404);
    let listed = owner.client.get(EXPORTS).await.body;
    let yours: Vec<_> = listed["data"].as_array().unwrap().iter().map(|one| &one["yours"]).collect();
    assert_eq!(yours, [&json!(false), &json!(false)]);
    assert_eq!(owner.client.get(&format!("{complete}/file")).await.status, 200);

    // The role of the author was lowered since.
    let lower = "UPDATE memberships SET role = 'developer' WHERE role = 'support'";
    portal.connect().await.batch_execute(lower).await.unwrap();
    let refused = support.get(&format!("{complete}/file")).await;
    assert_eq!((refused.status, refused.code()), (403, "role_insufficient"));
    assert_eq!(support.delete(&complete).await.status, 204);
    assert_eq!(owner.client.get(&complete).await.status, 404);
}

#[tokio::test]
async fn another_business_sees_nothing_of_an_export() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut other = portal.owner("owner@other.example").await.client;
    portal.peers.answer(list_of(&owner.business), 200, orders());
    let path = exported(&mut owner.client, OF_ORDERS).await;
    assert_eq!(other.get(EXPORTS).await.body, json!({ "data": [] }));
    for answer in
        [other.get(&path).await, other.get(&format!("{path}/file")).await, other.delete(&path).await]
    {
        assert_eq!((answer.status, answer.code()), (404, "export_not_found"));
    }
    assert_eq!(portal.operator().get(&path.replace("portal", "operator")).await.status, 404);
    assert_eq!(owner.client.get(&format!("{path}/file")).await.status, 200);
}

#[tokio::test]
async fn a_file_whose_writer_died_is_written_again_by_another() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.peers.answer(list_of(&owner.business), 200, orders());
    began(&portal, &owner, TimeDelta::seconds(100)).await;
    // One file of a business is written at a time.
    let second = owner.client.post(OF_ORDERS, json!({})).await.body["id"].as_str().unwrap().to_owned();
    let path = format!("{EXPORTS}/{MADE}");
    let file = owner.client.get(&format!("{path}/file")).await;
    assert_eq!((file.status, file.code()), (409, "export_not_ready"));
    portal.clock.advance(TimeDelta::seconds(99));
    let third = owner.client.post(OF_ORDERS, json!({})).await;
    assert_eq!(third.status, 202, "wakes the worker");
    let states = owner.client.get(EXPORTS).await.body;
    let states: Vec<_> = states["data"].as_array().unwrap().iter().map(|one| one["state"].clone()).collect();
    assert!(
        states.iter().all(|state| state == "waiting" || state == "running") && states.len() == 3,
        "{states:?}"
    );

    portal.clock.advance(TimeDelta::seconds(2));
    let _instance = portal.another();
    assert_eq!(done(&mut owner.client, &path).await["state"], "done");
    let text = owner.client.get(&format!("{path}/file")).await.body.as_str().unwrap().to_owned();
    assert!(text.starts_with("\u{feff}Order,") && !text.contains("half"), "{text}");
    assert_eq!(done(&mut owner.client, &format!("{EXPORTS}/{second}")).await["rows"], 1);
}

#[tokio::test]
async fn outages_and_refusals_are_retried() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let list = list_of(&owner.business);
    let down = json!({ "code": "unavailable", "message": "Later." });
    portal.peers.answer_in_turn(&list, [(200, orders()), (503, down), (200, orders())]);
    let begun = owner.client.post(OF_ORDERS, json!({})).await.body;
    let path = format!("{EXPORTS}/{}", begun["id"].as_str().unwrap());
    let ended = "exports WHERE state = 'waiting' AND attempts = 1";
    until("the first attempt has ended", async || count(&portal, ended).await == 1).await;
    portal.clock.advance(TimeDelta::seconds(20));
    // An instance looks when it starts, and otherwise every few seconds.
    let _second = portal.another();
    let ended = done(&mut owner.client, &path).await;
    assert_eq!((&ended["state"], &ended["rows"]), (&json!("done"), &json!(1)));

    // A refusal of another instance may pass, until the last attempt.
    let refusal = json!({ "code": "invalid_request", "message": "No." });
    portal.peers.answer_in_turn(&list, [(200, orders()), (400, refusal)]);
    let begun = owner.client.post(OF_ORDERS, json!({})).await.body;
    let waiting = "exports WHERE state = 'waiting' AND attempts = 1";
    until("the first attempt has ended", async || count(&portal, waiting).await == 1).await;
    let last = "UPDATE exports SET attempts = 4 WHERE state = 'waiting'";
    portal.connect().await.batch_execute(last).await.unwrap();
    portal.clock.advance(TimeDelta::seconds(20));
    let _third = portal.another();
    let ended = done(&mut owner.client, &format!("{EXPORTS}/{}", begun["id"].as_str().unwrap())).await;
    assert_eq!((&ended["state"], &ended["failure"]), (&json!("failed"), &json!("refused")));
}

#[tokio::test]
async fn exports_are_bounded_and_deleted_after_a_day() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.peers.answer(list_of(&owner.business), 200, orders());
    let first = exported(&mut owner.client, OF_ORDERS).await;
    for _ in 1..12 {
        portal.clock.advance(TimeDelta::milliseconds(1));
        exported(&mut owner.client, OF_ORDERS).await;
    }
    assert_eq!(owner.client.get(&first).await.status, 200, "a year by month");
    portal.clock.advance(TimeDelta::milliseconds(1));
    exported(&mut owner.client, OF_ORDERS).await;
    assert_eq!(owner.client.get(&first).await.status, 404, "the oldest one has made room");
    let hold = "UPDATE exports SET state = 'waiting', completed_at = NULL, due_at = expires_at";
    portal.connect().await.batch_execute(hold).await.unwrap();
    let refused = owner.client.post(OF_ORDERS, json!({})).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_exports"));
    let listed = owner.client.get(EXPORTS).await.body["data"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 12);

    portal.clock.advance(TimeDelta::hours(24));
    let log_in = json!({ "email": "owner@shop.example", "password": "correct horse" });
    assert_eq!(owner.client.post("/v1/portal/session", log_in).await.status, 200);
    assert_eq!(owner.client.get(EXPORTS).await.body, json!({ "data": [] }));
    let path = format!("{EXPORTS}/{}/file", listed[0]["id"].as_str().unwrap());
    assert_eq!(owner.client.get(&path).await.code(), "export_not_found");
    let _prunes_at_its_start = portal.another();
    until("the files are deleted", async || count(&portal, "export_chunks").await == 0).await;
}

#[tokio::test]
async fn the_author_of_a_long_export_gets_a_mail_without_data() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut long = cash();
    long.data = vec![long.data[0].clone(); 100];
    long.has_more = true;
    let more = answer_of(&long);
    long.has_more = false;
    let pages = std::iter::repeat_n(more, 101).chain([answer_of(&long)]);
    portal.peers.answer_in_turn(cash_of(&owner.business), pages.map(|page| (200, page)));
    let path = exported(&mut owner.client, OF_CASH).await;
    assert_eq!(owner.client.get(&path).await.body["rows"], 10_100);
    let mail = folder.wait_for(1).await.remove(0);
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), ("owner@shop.example", "Your export is ready"));
    assert!(
        mail.text.contains("10,100 rows") && mail.text.contains("http://portal.test/exports"),
        "{}",
        mail.text
    );
    let file = owner.client.get(&format!("{path}/file")).await;
    assert_eq!(file.body.as_str().unwrap().lines().count(), 10_101, "all chunks");
    exported(&mut owner.client, OF_CASH).await;
    assert_eq!(folder.mails().len(), 1, "a short export has no mail");
}
