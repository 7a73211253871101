//! The operator's audit log: actions and reads of personal data, with person, address and time.

use chrono::TimeDelta;
use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};
use test_kit::until;

use crate::answers;
use crate::client::Client;
use crate::peers::answer_of;
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{SESSION, STAFF, person};

const LOG: &str = "/v1/operator/audit-log";
const BUSINESSES: &str = "/v1/operator/businesses";
const ORDER: &str = "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const AT: &str = "2026-01-01T00:00:00Z";

async fn lines(portal: &Portal, query: &str) -> Vec<Value> {
    let answer = portal.operator().get(&format!("{LOG}?limit=100{query}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["data"].as_array().unwrap().clone()
}

async fn actions(portal: &Portal, query: &str) -> Vec<String> {
    lines(portal, query).await.iter().map(|line| line["action"].as_str().unwrap().to_owned()).collect()
}

fn behind_a_proxy() -> [(&'static str, &'static str); 1] {
    [("WAYBILL_LIMITS__TRUSTED_PROXIES", "127.0.0.0/8")]
}

fn order(business: &str) -> Value {
    let entropy = domain::Entropy::seeded(5);
    let code = domain::TrackingCode::generate(domain::Mode::Test, &entropy).to_string();
    json!({ "businessId": business, "order": {
        "id": ORDER, "serviceOrderId": ORDER, "orderReference": "shop-1", "orderSource": "business_website",
        "trackingCode": code, "trackingUrl": "http://t.test", "status": "created",
        "codStatus": "not_applicable", "mode": "test", "customer": { "name": "Asha Rao", "phone": "+919812345678" },
        "delivery": { "addressLine1": "12 MG Road" }, "pickup": {}, "package": {}, "payment": {}, "notes": {},
        "feeChargedPaise": 0, "driver": null, "reason": null, "codDiscrepancyPaise": null,
        "createdAt": AT, "updatedAt": AT,
    } })
}

#[tokio::test]
async fn actions_name_the_person_the_address_and_the_time() {
    let portal = Portal::with(&behind_a_proxy()).await;
    let mut owner = portal.owner("owner@shop.example").await;
    let (console, id) = person(&portal, "asha@carrier.example", "support").await;
    portal.clock.advance(TimeDelta::seconds(1));
    let mut console = console.with_header("x-forwarded-for", "6.6.6.6, 203.0.113.9");
    let path = format!("{BUSINESSES}/{}", owner.business);
    let changed = console.patch(&path, json!({ "status": "active" })).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let line = lines(&portal, "&action=business.changed").await.remove(0);
    assert_eq!(line["actor"], json!({ "type": "person", "id": id, "name": "asha@carrier.example" }));
    assert_eq!((&line["address"], &line["businessId"]), (&json!("203.0.113.9"), &json!(owner.business)));
    assert_eq!(line["at"], "2027-01-15T08:00:01.002Z");
    assert_eq!(
        (&line["requestId"], &line["details"]),
        (&json!(changed.header("request-id")), &json!({ "status": "active" }))
    );

    let log = format!("{path}/audit-log?action=business.changed");
    assert_eq!(
        console.get(&log).await.body["data"][0]["actor"],
        json!({ "type": "operator", "name": "asha@carrier.example" })
    );
    let own = owner.client.get("/v1/portal/audit-log?action=business.changed").await;
    assert_eq!(own.body["data"][0]["actor"], json!({ "type": "operator" }), "a business sees no person");
}

/// Every write of the operator leaves an entry, and the log holds no data of customers and no secrets.
#[tokio::test]
async fn every_action_is_recorded_and_nothing_secret() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "administrator").await;
    let path = format!("{BUSINESSES}/{business}");
    asha.patch(&path, json!({ "status": "active" })).await;
    let reset = asha.post(&format!("{path}/password-resets"), json!({ "email": "owner@shop.example" })).await;
    portal.peers.answer(
        format!("POST /wallet/internal/wallets/{business}/credits"),
        200,
        crate::office::credited(700, "invoice-7"),
    );
    let credit = json!({ "amountPaise": 700, "reference": "invoice-7" });
    for _ in 0..2 {
        assert_eq!(asha.post(&format!("{path}/wallet/credits"), credit.clone()).await.status, 201);
    }
    let erasure = json!({ "requestedAt": AT, "erased": 0, "notCompleted": 0, "completedAt": null });
    let begin = format!("POST /order-api/internal/businesses/{business}/personal-data-erasure");
    portal.peers.answer(begin, 202, erasure);
    asha.press(&format!("{path}/personal-data-erasure")).await;
    let invited =
        asha.post(STAFF, json!({ "email": "ravi@carrier.example", "name": "Ravi", "role": "viewer" })).await;
    let ravi = format!("{STAFF}/{}", invited.body["id"].as_str().unwrap());
    let link = asha.press(&format!("{ravi}/password-link")).await;
    asha.patch(&ravi, json!({ "role": "finance" })).await;
    asha.delete(&ravi).await;
    let token = asha.post("/v1/operator/tokens", json!({ "name": "robot", "role": "viewer" })).await;
    let robot = format!("/v1/operator/tokens/{}", token.body["id"].as_str().unwrap());
    let rotated = asha.post(&format!("{robot}/rotate"), json!({ "graceSeconds": 0 })).await;
    asha.press(&format!("{robot}/disable")).await;
    asha.delete(SESSION).await;

    // The clock stands still, so that entries have no order.
    let mut written = actions(&portal, "&actor=asha@carrier.example").await;
    written.sort_unstable();
    written.dedup();
    assert_eq!(
        written,
        [
            "business.changed",
            "business.personal_data_erasure_requested",
            "operator_token.created",
            "operator_token.disabled",
            "operator_token.rotated",
            "password.reset_issued",
            "session.closed",
            "session.opened",
            "staff.invited",
            "staff.link_issued",
            "staff.password_set",
            "staff.removed",
            "staff.role_changed",
            // The second call, which moved nothing.
            "wallet.credit_requested",
            "wallet.credited",
        ]
    );
    let credits = lines(&portal, "&action=wallet.credited").await;
    assert_eq!(credits[0]["details"], json!({ "amountPaise": 700, "reference": "invoice-7" }));
    let all = Value::from(lines(&portal, "").await).to_string();
    for answer in [&reset, &invited, &link] {
        let url = answer.body["url"].as_str().unwrap();
        assert!(!all.contains(url.split_once("token=").unwrap().1), "a link's token is in the log");
    }
    for answer in [&token, &rotated] {
        assert!(!all.contains(answer.body["token"].as_str().unwrap()), "a token is in the log");
    }
    for personal in ["owner@shop.example", "battery staple", OPERATOR_TOKEN] {
        assert!(!all.contains(personal), "{personal}");
    }
}

#[tokio::test]
async fn reads_of_personal_data_are_recorded_once_per_ten_minutes() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "support").await;
    portal.peers.answer("GET /order-api/internal/orders", 200, json!([order(&business)]));
    let timeline = format!("GET /order-api/internal/businesses/{business}/orders/{ORDER}/events");
    portal.peers.answer(timeline, 200, json!({ "data": [], "hasMore": false }));
    let evidence = format!("GET /order-api/internal/businesses/{business}/orders/{ORDER}/evidence");
    portal.peers.answer(evidence, 200, answer_of(&answers::evidence()));
    let path = format!("{BUSINESSES}/{business}");
    let reads = [
        (BUSINESSES.to_owned() + "?search=owner@shop.example", "businesses.read"),
        (path.clone(), "business.read"),
        (format!("{path}/users"), "users.read"),
        (format!("{path}/audit-log"), "audit_log.read"),
        ("/v1/operator/orders?code=%2B919812345678".to_owned(), "orders.read"),
        (format!("/v1/operator/orders/{ORDER}/events"), "order_timeline.read"),
        (format!("/v1/operator/orders/{ORDER}/evidence"), "order_evidence.read"),
    ];
    for _ in 0..2 {
        for (path, action) in &reads {
            let answer = asha.get(path).await;
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            let written = lines(&portal, &format!("&action={action}&actor=asha@carrier.example")).await;
            assert_eq!(written.len(), 1, "{action}");
            assert_eq!(written[0]["address"], "127.0.0.1", "{action}");
        }
    }
    let found = lines(&portal, "&action=orders.read").await;
    assert_eq!(found[0]["details"]["orders"], json!([ORDER]));
    for action in ["order_timeline.read", "order_evidence.read"] {
        assert_eq!(lines(&portal, &format!("&action={action}")).await[0]["target"]["id"], ORDER);
    }
    assert_eq!(lines(&portal, "&action=users.read").await[0]["businessId"], business);
    let all = Value::from(lines(&portal, "").await).to_string();
    for personal in ["owner@shop.example", "9812345678", "Asha Rao", "MG Road"] {
        assert!(!all.contains(personal), "{personal}");
    }
    assert_eq!(lines(&portal, &format!("&businessId={business}&actor=asha@carrier.example")).await.len(), 3);
    let changes = lines(&portal, "&withoutReads=true&actor=asha@carrier.example").await;
    assert!(!changes.is_empty() && !Value::from(changes).to_string().contains(".read"));
    assert!(lines(&portal, "&action=users.read").await[0]["businessName"].is_string());

    portal.clock.advance(TimeDelta::minutes(10) + TimeDelta::milliseconds(1));
    asha.get(&path).await;
    assert_eq!(lines(&portal, "&action=business.read&actor=asha@carrier.example").await.len(), 2);
    assert_eq!(asha.get(&format!("{BUSINESSES}/x/users")).await.status, 404);
    assert_eq!(lines(&portal, "&action=users.read").await.len(), 1, "nothing was read");
}

#[tokio::test]
async fn what_the_staff_asks_for_after_a_failure_is_in_both_logs() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "support").await;
    for (call, action) in [("reattempt", "order.reattempt_requested"), ("return", "order.return_requested")] {
        let of = format!("businesses/{}/orders/{ORDER}/{call}", owner.business);
        portal.peers.answer(format!("POST /order-api/internal/{of}"), 200, answer_of(&answers::order()));
        let asked = asha.press(&format!("/v1/operator/{of}")).await;
        assert_eq!((asked.status, &asked.body["id"]), (200, &json!(ORDER)), "{asked:?}");
        assert_eq!(portal.peers.asked(&format!("POST /order-api/internal/{of}"))[0].query, "by=operator");
        let written = lines(&portal, &format!("&action={action}&actor=asha@carrier.example")).await;
        assert_eq!((written.len(), &written[0]["target"]["id"]), (1, &json!(ORDER)), "{call}");
        let seen = owner.client.get(&format!("/v1/portal/audit-log?action={action}")).await;
        assert_eq!(seen.body["data"][0]["target"]["id"], ORDER, "{call}");
    }
    let of = format!("/v1/operator/businesses/{}/orders/{ORDER}/return", owner.business);
    assert_eq!(asha.press(&format!("{of}?seen=yesterday")).await.invalid_fields(), ["seen"]);
    let nowhere = format!("/v1/operator/businesses/biz_01ARZ3NDEKTSV4RRFFQ69G5FAV/orders/{ORDER}/return");
    assert_eq!(asha.press(&nowhere).await.code(), "business_not_found");
}

#[tokio::test]
async fn personal_data_is_not_sent_without_its_entry() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "support").await;
    let broken =
        "ALTER TABLE operator_audit_log ADD CONSTRAINT broken CHECK (action NOT LIKE '%.read') NOT VALID";
    portal.connect().await.batch_execute(broken).await.unwrap();
    let answer = asha.get(&format!("{BUSINESSES}/{business}/users")).await;
    assert_eq!(answer.status, 500, "{answer:?}");
    assert!(!answer.body.to_string().contains("owner@shop.example"), "{answer:?}");
    assert_eq!(asha.get(&format!("{BUSINESSES}/{business}/health")).await.status, 200, "no personal data");
}

#[tokio::test]
async fn refusals_and_failed_log_ins_are_recorded() {
    let portal = Portal::start().await;
    let (mut viewer, id) = person(&portal, "viewer@carrier.example", "viewer").await;
    for _ in 0..3 {
        assert_eq!(viewer.get(STAFF).await.status, 403);
    }
    let refused = lines(&portal, "&action=access.refused").await;
    let details = json!({ "permission": "manage_staff", "call": "GET /v1/operator/staff" });
    assert_eq!((refused.len(), &refused[0]["details"]), (1, &details));
    let business = portal.owner("owner@shop.example").await.business;
    assert_eq!(viewer.get(&format!("{BUSINESSES}/{business}/users")).await.status, 403);
    let refused = lines(&portal, &format!("&action=access.refused&businessId={business}")).await;
    let call = "GET /v1/operator/businesses/{id}/users";
    let details = json!({ "permission": "read_users", "call": call, "ids": [business] });
    assert_eq!((refused.len(), &refused[0]["details"]), (1, &details));
    let wrong = json!({ "email": "viewer@carrier.example", "password": "wrong" });
    assert_eq!(portal.stranger().post(SESSION, wrong).await.status, 401);
    until("the failure is recorded", async || !actions(&portal, "&action=session.failed").await.is_empty())
        .await;
    let failed = lines(&portal, "&action=session.failed").await;
    assert_eq!((&failed[0]["actor"]["type"], &failed[0]["target"]["id"]), (&json!("unknown"), &json!(id)));
}

#[tokio::test]
async fn lines_are_found_by_action_actor_business_and_time_and_never_change() {
    let portal = Portal::start().await;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "administrator").await;
    portal.clock.advance(TimeDelta::minutes(30));
    let middle = portal.clock.now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let mut robot: Client = portal.operator();
    robot.post(STAFF, json!({ "email": "ravi@carrier.example", "name": "Ravi", "role": "viewer" })).await;
    assert_eq!(actions(&portal, &format!("&since={middle}")).await, ["staff.invited"]);
    let by_robot = actions(&portal, &format!("&actor=configuration&until={middle}")).await;
    assert_eq!(by_robot, ["staff.invited"]);
    let page = asha.get(&format!("{LOG}?limit=2")).await;
    assert_eq!(page.body["hasMore"], true);
    let last = page.body["data"][1]["id"].as_str().unwrap();
    assert_eq!(lines(&portal, &format!("&startingAfter={last}")).await.len(), 2);
    let refused = asha
        .get(&format!(
            "{LOG}?action=nothing.done&businessId=x&since=today&until=1&limit=0&page=2&actor=&withoutReads=x"
        ))
        .await;
    assert_eq!(
        refused.invalid_fields(),
        ["action", "actor", "businessId", "limit", "page", "since", "until", "withoutReads"]
    );
    let mut conn = portal.connect().await;
    for rewriting in ["UPDATE operator_audit_log SET actor_name = 'x'", "TRUNCATE operator_audit_log"] {
        assert!(conn.batch_execute(rewriting).await.is_err(), "{rewriting}");
    }
}

#[tokio::test]
async fn an_erasure_is_recorded_before_it_begins_and_with_its_outcome() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let path = format!("{BUSINESSES}/{business}/personal-data-erasure");
    let call = format!("POST /order-api/internal/businesses/{business}/personal-data-erasure");
    portal.peers.answer(&call, 500, json!({ "code": "internal_error", "message": "no" }));
    assert_eq!(portal.operator().press(&path).await.status, 503);
    let written = actions(&portal, &format!("&businessId={business}")).await;
    assert_eq!(written, ["business.personal_data_erasure_failed"], "with its outcome, one entry");
    let broken = "ALTER TABLE operator_audit_log ADD CONSTRAINT broken CHECK (action NOT LIKE '%_attempted') NOT VALID";
    portal.connect().await.batch_execute(broken).await.unwrap();
    assert_eq!(portal.operator().press(&path).await.status, 500);
    assert_eq!(portal.peers.asked(&call).len(), 1, "no erasure without its entry");
}

/// The wallet credits a reference once. So is the entry, however often and from wherever the call is repeated. The other calls
/// are entries without an outcome.
#[tokio::test]
async fn a_repeated_credit_is_one_entry() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let call = format!("POST /wallet/internal/wallets/{business}/credits");
    let credit = json!({ "amountPaise": 700, "reference": "invoice-7" });
    portal.peers.answer(&call, 200, crate::office::credited(700, "invoice-7"));
    let path = format!("{BUSINESSES}/{business}/wallet/credits");
    let (mut one, mut other, mut third) = (portal.operator(), portal.operator(), portal.operator());
    let (one, other, third) = tokio::join!(
        one.post(&path, credit.clone()),
        other.post(&path, credit.clone()),
        third.post(&path, credit.clone())
    );
    assert_eq!([one.status, other.status, third.status], [201; 3]);
    assert_eq!(portal.operator().post(&path, credit).await.status, 201);
    let written = actions(&portal, &format!("&businessId={business}")).await;
    let count = |action: &str| written.iter().filter(|one| *one == action).count();
    assert_eq!((count("wallet.credited"), count("wallet.credit_requested")), (1, 3), "{written:?}");
    let own = format!("{BUSINESSES}/{business}/audit-log?action=wallet.credited");
    assert_eq!(portal.operator().get(&own).await.body["data"].as_array().unwrap().len(), 1);
}
