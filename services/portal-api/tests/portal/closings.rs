//! Closing a business: who begins, withdraws and completes it, what must be settled first, and what a failure leaves behind.

use chrono::TimeDelta;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use serde_json::{Value, json};
use test_kit::until;

use crate::answers::{self, ENDPOINT, KEY, ORDER, page};
use crate::client::Client;
use crate::office::Office;
use crate::peers::answer_of;
use crate::portal::{Owner, Portal};

pub(crate) const CLOSING: &str = "/v1/portal/business/closing";
const KEYS: &str = "/v1/portal/api-keys";
/// As in `erase_closed`.
const CALLS_MAX: usize = 20;

pub(crate) fn of_operator(business: &str) -> String {
    format!("/v1/operator/businesses/{business}")
}

fn nothing() -> Value {
    json!({ "data": [], "hasMore": false })
}

pub(crate) fn far(service: &str, call: &str, business: &str, rest: &str) -> String {
    format!("{call} /{service}/internal/businesses/{business}/{rest}")
}

fn open_orders(on_their_way: i64, failed: i64, cash: i64) -> Value {
    json!({ "onTheirWay": on_their_way, "failed": failed, "cash": cash })
}

/// All services answer that nothing is open but `balance`.
pub(crate) fn settled(portal: &Portal, business: &str, balance: i64) {
    let peers = &portal.peers;
    let orders = |rest: &str| far("order-api", "GET", business, rest);
    peers.answer(orders("open-orders"), 200, open_orders(0, 0, 0));
    let quiet = json!({ "lastAt": null, "last24h": 0, "pending": 0 });
    peers.answer(orders("orders/activity"), 200, json!({ "live": quiet, "test": quiet }));
    peers.wallet(business, balance, true);
    cash_totals(portal, business, 0, 0);
    peers.answer(far("key-management", "GET", business, "api-keys"), 200, nothing());
    peers.answer(far("webhook-dispatcher", "GET", business, "webhook-endpoints"), 200, nothing());
}

fn cash_totals(portal: &Portal, business: &str, discrepancies: i64, outstanding: i64) {
    let mut cash = answer_of(&answers::cash());
    cash["data"] = json!([]);
    cash["totals"]["discrepancies"] = json!(discrepancies);
    cash["totals"]["outstandingPaise"] = json!(outstanding);
    portal.peers.answer(format!("GET /wallet/internal/wallets/{business}/cash"), 200, cash);
}

/// One key and one endpoint, which the owners list until the second look of a completion.
pub(crate) fn has_access(portal: &Portal, business: &str) {
    let in_turn = |one: Value| [(200, one.clone()), (200, one), (200, nothing())];
    let keys = far("key-management", "GET", business, "api-keys");
    portal.peers.answer_in_turn(keys, in_turn(page(answers::key())));
    let endpoints = far("webhook-dispatcher", "GET", business, "webhook-endpoints");
    portal.peers.answer_in_turn(endpoints, in_turn(page(answers::endpoint())));
    portal.peers.answer(revocation(business), 200, answer_of(&answers::revoked_key()));
    portal.peers.answer(deletion(business), 200, Value::Null);
}

pub(crate) fn revocation(business: &str) -> String {
    far("key-management", "POST", business, &format!("api-keys/{KEY}/revoke"))
}

pub(crate) fn deletion(business: &str) -> String {
    far("webhook-dispatcher", "DELETE", business, &format!("webhook-endpoints/{ENDPOINT}"))
}

/// A transaction that holds the business, so that nothing of it changes.
pub(crate) async fn lock(portal: &Portal, business: &str) -> AsyncPgConnection {
    let mut conn = portal.connect().await;
    let lock = format!("BEGIN; SELECT FROM businesses WHERE id = '{business}' FOR NO KEY UPDATE");
    conn.batch_execute(&lock).await.unwrap();
    conn
}

pub(crate) async fn live_access(operator: &mut Client, business: &str) -> Value {
    operator.get(&of_operator(business)).await.body["liveAccess"].clone()
}

/// An owner whose business has live access.
async fn live_owner(portal: &Portal) -> Owner {
    let owner = portal.owner("owner@shop.example").await;
    let on = json!({ "status": "active", "liveAccess": "active" });
    assert_eq!(portal.operator().patch(&of_operator(&owner.business), on).await.status, 200);
    owner
}

/// An owner who has begun the closing, with nothing that must be settled.
pub(crate) async fn closing_owner(portal: &Portal) -> Owner {
    let mut owner = live_owner(portal).await;
    assert_eq!(owner.client.post(CLOSING, json!({})).await.status, 204);
    settled(portal, &owner.business, 0);
    owner
}

#[tokio::test]
async fn an_owner_begins_and_withdraws_it_and_live_access_is_as_before() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (live_owner(&portal).await, portal.operator());
    let mut other = portal.owner("owner@other.example").await;
    settled(&portal, &owner.business, 0);
    let before = owner.client.get(CLOSING).await.body;
    assert_eq!((&before["state"], &before["canComplete"]), (&json!("not_begun"), &json!(false)), "{before}");

    for _ in 0..2 {
        let begun = owner.client.post(CLOSING, json!({ "reason": "We move to Pune." })).await;
        assert_eq!(begun.status, 204, "{begun:?}");
    }
    let open = owner.client.get(CLOSING).await.body;
    assert_eq!((&open["state"], &open["begunBy"]), (&json!("open"), &json!("owner")), "{open}");
    assert_eq!((&open["reason"], &open["canComplete"]), (&json!("We move to Pune."), &json!(true)));
    assert_eq!(live_access(&mut operator, &owner.business).await, "inactive");
    let path = of_operator(&owner.business);
    let on = operator.patch(&path, json!({ "liveAccess": "active" })).await;
    assert_eq!((on.status, on.code()), (409, "business_closing"), "{on:?}");
    for call in [
        ("POST", KEYS.to_owned()),
        ("POST", format!("{KEYS}/{KEY}/rotate")),
        ("POST", "/v1/portal/webhook-endpoints".to_owned()),
        ("PUT", "/v1/portal/subscription".to_owned()),
    ] {
        let refused = owner.client.call(call.0, &call.1).await;
        assert_eq!((refused.status, refused.code()), (409, "business_closing"), "{call:?}");
    }
    let session = owner.client.get("/v1/portal/session").await.body["memberships"][0].clone();
    let status = owner.client.get("/v1/portal/status").await.body;
    let of_operator = operator.get(&path).await.body;
    for seen in [session, status, of_operator, portal.ordering(&owner.business).await] {
        assert_eq!(seen["closing"], true, "{seen}");
    }
    // What it owes is paid by a top-up.
    let top_up = owner.client.call("POST", "/v1/portal/wallet/top-ups").await;
    assert_ne!(top_up.status, 409, "{top_up:?}");
    assert_ne!(other.client.call("POST", KEYS).await.code(), "business_closing", "another business");

    for _ in 0..2 {
        assert_eq!(owner.client.delete(CLOSING).await.status, 204);
    }
    assert_eq!(live_access(&mut operator, &owner.business).await, "active");
    assert_eq!(portal.ordering(&owner.business).await["closing"], false);
    let log = owner.client.get("/v1/portal/audit-log").await.body;
    let entries = log["data"].as_array().unwrap();
    for action in ["business.closing_begun", "business.closing_withdrawn"] {
        let found = entries.iter().filter(|entry| entry["action"] == action).count();
        assert_eq!(found, 1, "{action}: {log}");
    }
}

#[tokio::test]
async fn what_the_operator_switches_off_or_begins_stays_off_for_owners() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (live_owner(&portal).await, portal.operator());
    let path = of_operator(&owner.business);
    assert_eq!(owner.client.post(CLOSING, json!({})).await.status, 204);
    assert_eq!(operator.patch(&path, json!({ "liveAccess": "inactive" })).await.status, 200);
    assert_eq!(owner.client.delete(CLOSING).await.status, 204);
    assert_eq!(live_access(&mut operator, &owner.business).await, "inactive", "switched off meanwhile");

    assert_eq!(operator.patch(&path, json!({ "liveAccess": "active" })).await.status, 200);
    let closing = format!("{path}/closing");
    assert_eq!(operator.post(&closing, json!({})).await.invalid_fields(), ["reason"]);
    assert_eq!(operator.post(&closing, json!({ "reason": "Contract ended" })).await.status, 204);
    let refused = owner.client.delete(CLOSING).await;
    assert_eq!((refused.status, refused.code()), (409, "closing_of_operator"), "{refused:?}");
    assert_eq!(operator.delete(&closing).await.status, 204);
    assert_eq!(live_access(&mut operator, &owner.business).await, "active");

    // The operator takes over the closing of an owner, once.
    assert_eq!(owner.client.post(CLOSING, json!({ "reason": "We move." })).await.status, 204);
    for reason in ["Fraud", "Another reason"] {
        assert_eq!(operator.post(&closing, json!({ "reason": reason })).await.status, 204);
    }
    assert_eq!(owner.client.post(CLOSING, json!({})).await.status, 204, "of the operator, still");
    settled(&portal, &owner.business, 0);
    let taken = operator.get(&closing).await.body;
    assert_eq!((&taken["begunBy"], &taken["reason"]), (&json!("operator"), &json!("Fraud")), "{taken}");
    assert_eq!(owner.client.delete(CLOSING).await.code(), "closing_of_operator");
    let log = operator.get(&format!("/v1/operator/audit-log?businessId={}", owner.business)).await.body;
    let begun = log["data"].as_array().unwrap().iter();
    let begun = begun.filter(|entry| entry["action"] == "business.closing_begun").count();
    assert_eq!(begun, 2, "its own, and the one that it took over: {log}");
    assert_eq!(operator.delete(&closing).await.status, 204);
    assert_eq!(live_access(&mut operator, &owner.business).await, "active", "as before the owner's");

    let unknown = of_operator("biz_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    for (method, rest) in [("GET", ""), ("POST", ""), ("DELETE", ""), ("POST", "/complete")] {
        assert_eq!(operator.call(method, &format!("{unknown}/closing{rest}")).await.status, 404, "{method}");
    }
}

#[tokio::test]
async fn only_owners_see_what_is_open() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    assert_eq!(owner.client.post(CLOSING, json!({ "reason": "x".repeat(501) })).await.status, 400);
    assert_eq!(owner.client.post(CLOSING, json!({})).await.status, 204);
    let seen = viewer.get(CLOSING).await;
    assert_eq!((seen.status, &seen.body["state"], &seen.body["open"]), (200, &json!("open"), &Value::Null));
    settled(&portal, &owner.business, 700);
    let seen = owner.client.get(CLOSING).await.body;
    assert_eq!((&seen["open"]["balancePaise"], &seen["unsettled"]), (&json!(700), &json!(["balance"])));
    // A service that does not answer is no settled business.
    portal.peers.answer(far("key-management", "GET", &owner.business, "api-keys"), 503, json!({}));
    assert_eq!(owner.client.get(CLOSING).await.status, 503);
}

#[tokio::test]
async fn it_is_completed_once_everything_is_settled() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (live_owner(&portal).await, portal.operator());
    let business = owner.business.clone();
    let complete = format!("{}/closing/complete", of_operator(&business));
    let early = operator.post(&complete, json!({})).await;
    assert_eq!((early.status, early.code()), (409, "closing_not_begun"));
    assert_eq!(owner.client.post(CLOSING, json!({})).await.status, 204);

    settled(&portal, &business, 700);
    has_access(&portal, &business);
    let orders = far("order-api", "GET", &business, "open-orders");
    portal.peers.answer(orders.clone(), 200, open_orders(1, 1, 0));
    let cash = format!("GET /wallet/internal/wallets/{business}/cash");
    portal.peers.answer(cash.clone(), 200, answer_of(&answers::cash()));
    let refused = operator.post(&complete, json!({})).await;
    assert_eq!((refused.status, refused.code()), (409, "closing_not_settled"), "{refused:?}");
    let expected = ["live_orders", "failed_deliveries", "cash", "cash_discrepancies", "balance"];
    assert_eq!(refused.body["unsettled"], json!(expected));
    let asked: Vec<String> = portal.peers.asked(&cash).into_iter().map(|asked| asked.query).collect();
    for status in ["pending", "collected", "handed_over"] {
        assert!(asked.iter().any(|query| query.contains(&format!("status={status}"))), "{asked:?}");
    }
    assert!(!asked.iter().any(|query| query.contains("settled")), "{asked:?}");
    // The wallet has not heard of the delivery yet.
    settled(&portal, &business, 0);
    portal.peers.answer(orders, 200, open_orders(0, 0, 1));
    let early = operator.post(&complete, json!({})).await;
    assert_eq!(early.body["unsettled"], json!(["cash"]), "{early:?}");
    assert_eq!(portal.peers.asked(&revocation(&business)).len(), 0, "nothing is switched off");

    settled(&portal, &business, 0);
    has_access(&portal, &business);
    let closed = operator.post(&complete, json!({})).await;
    assert_eq!(closed.status, 204, "{closed:?}");
    assert_eq!(operator.post(&complete, json!({})).await.status, 204, "repeated");
    for call in [revocation(&business), deletion(&business)] {
        assert_eq!(portal.peers.asked(&call).len(), 1, "{call}");
    }
    let read = owner.client.get(CLOSING).await.body;
    assert_eq!((&read["state"], &read["canComplete"]), (&json!("completed"), &json!(false)), "{read}");
    // The clock of the tests begins on 2027-01-15.
    assert_eq!(&read["eraseAfter"].as_str().unwrap()[..7], "2036-01", "{read}");
    let closing = format!("{}/closing", of_operator(&business));
    let top_up = "/v1/portal/wallet/top-ups";
    for refused in [
        owner.client.call("POST", top_up).await,
        owner.client.call("POST", KEYS).await,
        operator.patch(&of_operator(&business), json!({ "liveAccess": "active" })).await,
        owner.client.delete(CLOSING).await,
        operator.delete(&closing).await,
        owner.client.post(CLOSING, json!({})).await,
        operator.post(&closing, json!({ "reason": "Fraud" })).await,
    ] {
        assert_eq!((refused.status, refused.code()), (409, "business_closed"), "{refused:?}");
    }
    assert_eq!(owner.client.get("/v1/portal/session").await.body["memberships"][0]["closed"], true);
    assert_eq!(operator.get(&of_operator(&business)).await.body["closed"], true);
    assert_eq!(operator.get("/v1/operator/businesses?status=active").await.body["data"], json!([]));
    let page = operator.get("/v1/operator/businesses?status=closed").await.body;
    assert_eq!(page["data"][0]["id"], json!(business));
    let log = operator.get(&format!("/v1/operator/audit-log?businessId={business}")).await.body;
    for action in ["business.closed", "api_key.revoked", "webhook_endpoint.deleted"] {
        let entries = log["data"].as_array().unwrap().iter();
        assert_eq!(entries.filter(|entry| entry["action"] == action).count(), 1, "{action}: {log}");
    }
}

#[tokio::test]
async fn a_completion_that_failed_at_a_step_goes_on() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (closing_owner(&portal).await, portal.operator());
    let business = owner.business.clone();
    let complete = format!("{}/closing/complete", of_operator(&business));
    for failing in [revocation(&business), deletion(&business)] {
        has_access(&portal, &business);
        portal.peers.answer(failing.clone(), 503, json!({}));
        assert_eq!(operator.post(&complete, json!({})).await.status, 503, "{failing}");
        settled(&portal, &business, 0);
        assert_eq!(owner.client.get(CLOSING).await.body["state"], "open", "{failing}");
    }
    // An order was placed, or a key made, by a call that was on its way.
    has_access(&portal, &business);
    let keys = far("key-management", "GET", &business, "api-keys");
    portal.peers.answer(keys, 200, page(answers::key()));
    let refused = operator.post(&complete, json!({})).await;
    assert_eq!((refused.code(), &refused.body["unsettled"]), ("closing_not_settled", &json!(["keys"])));
    // Somebody has deleted the endpoint meanwhile.
    has_access(&portal, &business);
    let gone = json!({ "code": "webhook_endpoint_not_found", "message": "" });
    portal.peers.answer(deletion(&business), 404, gone);
    assert_eq!(operator.post(&complete, json!({})).await.status, 204);
}

/// Its steps have audit entries, which a client that goes away must not lose.
#[tokio::test]
async fn a_completion_outlives_its_client() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (closing_owner(&portal).await, portal.operator());
    let business = owner.business.clone();
    let complete = format!("{}/closing/complete", of_operator(&business));
    has_access(&portal, &business);
    let orders = far("order-api", "GET", &business, "open-orders");
    let mut conn = lock(&portal, &business).await;
    tokio::select! {
        answer = operator.post(&complete, json!({})) => panic!("the business is locked: {answer:?}"),
        () = until("the first look runs", async || !portal.peers.asked(&orders).is_empty()) => {}
    }
    conn.batch_execute("COMMIT").await.unwrap();
    until("the last step runs", async || !portal.peers.asked(&deletion(&business)).is_empty()).await;
    until("the business is closed", async || owner.client.get(CLOSING).await.body["state"] == "completed")
        .await;
}

#[tokio::test]
async fn requests_that_wait_for_a_second_person_are_open() {
    let mut office = Office::open().await;
    let (business, path) = (office.business.clone(), office.path("/closing"));
    office.requested_credit().await;
    settled(&office.portal, &business, 0);
    assert_eq!(office.ravi.post(&path, json!({ "reason": "Contract ended" })).await.status, 204);
    let open = office.ravi.get(&path).await.body;
    assert_eq!((&open["open"]["approvals"], &open["unsettled"]), (&json!(1), &json!(["approvals"])));
}

#[tokio::test]
async fn a_closed_business_is_erased_when_the_law_no_longer_keeps_its_books() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (live_owner(&portal).await, portal.operator());
    portal.owner("owner@other.example").await;
    let (business, path) = (owner.business.clone(), of_operator(&owner.business));
    let contact = json!({ "name": "Asha Rao", "phone": "+919876543210" });
    assert_eq!(owner.client.put("/v1/portal/business/contact", contact).await.status, 204);
    assert_eq!(owner.client.post(CLOSING, json!({ "reason": "Asha retires." })).await.status, 204);
    settled(&portal, &business, 0);
    assert_eq!(operator.post(&format!("{path}/closing/complete"), json!({})).await.status, 204);
    let (notes, note) = (format!("{path}/notes"), json!({ "text": "Asha prefers calls." }));
    assert_eq!(operator.post(&notes, note.clone()).await.status, 201);
    let erasure = far("order-api", "POST", &business, "personal-data-erasure");
    let erasing = |completed_at: Option<&str>| {
        let requested_at = "2026-01-01T00:00:00Z";
        json!({
            "requestedAt": requested_at, "erased": 0, "notCompleted": 0, "completedAt": completed_at, "everything": true,
        })
    };
    portal.peers.answer(erasure.clone(), 202, erasing(None));
    let latest = far("order-api", "GET", &business, "personal-data-erasure");
    portal.peers.answer(latest.clone(), 200, json!({ "erasure": null }));

    // Each instance looks at its start.
    portal.clock.advance(TimeDelta::days(3_288));
    wait_for_money(&portal, &business).await;
    let _begins = portal.another();
    until("order-api erases", async || !portal.peers.asked(&erasure).is_empty()).await;
    let begun = portal.peers.asked(&erasure).into_iter().map(|asked| asked.body);
    assert_eq!(begun.collect::<Vec<_>>(), [json!({ "everything": true })]);
    let kept = operator.get(&format!("{path}/closing")).await.body;
    assert_eq!(kept["erasedAt"], Value::Null, "order-api is not done: {kept}");

    portal.peers.answer(latest, 200, json!({ "erasure": erasing(Some("2026-01-02T00:00:00Z")) }));
    // An instance of release 1.0.0 made a key and an endpoint after the completion.
    has_access(&portal, &business);
    wait_for_services(&portal, &mut operator, &business).await;
    let _ends = portal.another();
    until("the business is erased", async || {
        operator.get(&format!("{path}/closing")).await.body["erasedAt"].is_string()
    })
    .await;
    let read = operator.get(&format!("{path}/closing")).await.body;
    assert_eq!((&read["state"], &read["reason"]), (&json!("completed"), &Value::Null), "{read}");
    for call in [revocation(&business), deletion(&business)] {
        assert!(!portal.peers.asked(&call).is_empty(), "{call}");
    }
    let difference = format!("{path}/cod/{ORDER}/difference");
    let assigned = json!({ "owner": "Ravi" });
    for refused in [operator.post(&notes, note).await, operator.put(&difference, assigned).await] {
        assert_eq!((refused.status, refused.code()), (409, "business_closed"), "{refused:?}");
    }
    assert_eq!(operator.get(&notes).await.body["data"], json!([]));
    assert_eq!(operator.get(&path).await.status, 404, "it has no users");
    let log_in = |email: &str| json!({ "email": email, "password": "correct horse" });
    let session = "/v1/portal/session";
    assert_eq!(portal.stranger().post(session, log_in("owner@shop.example")).await.status, 401);
    assert_eq!(portal.stranger().post(session, log_in("owner@other.example")).await.status, 200);
}

/// A balance, and cash that is not settled. At the end there is none.
async fn wait_for_money(portal: &Portal, business: &str) {
    let wallet = format!("GET /wallet/internal/wallets/{business}");
    let cash = format!("{wallet}/cash");
    for (balance, discrepancies, outstanding, call) in
        [(700, 0, 0, &wallet), (0, 1, 0, &cash), (0, 0, 700, &cash)]
    {
        portal.peers.wallet(business, balance, true);
        cash_totals(portal, business, discrepancies, outstanding);
        look(portal, call, 1).await;
    }
    cash_totals(portal, business, 0, 0);
}

/// Another instance begins, and asks the service so often.
async fn look(portal: &Portal, call: &str, times: usize) {
    let asked = portal.peers.asked(call).len() + times;
    let _instance = portal.another();
    until("the service is asked", async || portal.peers.asked(call).len() >= asked).await;
}

/// One after the other has not erased everything yet. At the end all have.
async fn wait_for_services(portal: &Portal, operator: &mut Client, business: &str) {
    let keys = far("key-management", "POST", business, "erasure");
    let wallet = format!("POST /wallet/internal/wallets/{business}/erasure");
    let webhooks = far("webhook-dispatcher", "POST", business, "erasure");
    let done = || json!({ "complete": true });
    for call in [&keys, &wallet, &webhooks] {
        portal.peers.answer(call.as_str(), 200, done());
    }
    // Release 1.0.0 does not know the call.
    let unknown = json!({ "code": "not_found", "message": "There is nothing at this address." });
    let part = || json!({ "complete": false });
    let closing = format!("{}/closing", of_operator(business));
    // Each instance asks only if the one before it has not erased the business, hence two at the end.
    for (call, status, answer, times) in [
        (&keys, 404, unknown, 1),
        (&wallet, 200, part(), CALLS_MAX),
        (&webhooks, 503, json!({}), 1),
        (&webhooks, 200, part(), CALLS_MAX),
        (&webhooks, 200, part(), CALLS_MAX),
    ] {
        portal.peers.answer(call.as_str(), status, answer);
        look(portal, call, times).await;
        let kept = operator.get(&closing).await.body;
        assert_eq!(kept["erasedAt"], Value::Null, "{call} is not done: {kept}");
        portal.peers.answer(call.as_str(), 200, done());
    }
}
