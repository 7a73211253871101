//! Money as the portal shows it: the statement and its export, thresholds, retried top-ups, the provider's webhooks, cash.

use std::io::{Cursor, Read as _};

use reqwest::Method;
use serde_json::{Value, json};
use zip::ZipArchive;

use crate::portal::{Owner, Portal};

const ORDER: &str = "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const AT: &str = "2026-01-01T00:00:00Z";

fn entry(id: usize, order: Option<&str>, reference: Option<&str>) -> Value {
    json!({
        "id": id.to_string(), "transferId": "trf_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "kind": if order.is_some() { "delivery_fee" } else { "operator_credit" },
        "amountPaise": if order.is_some() { -4_900 } else { 10_000 }, "balanceAfterPaise": 5_100,
        "orderId": order, "reference": reference, "createdAt": AT,
    })
}

fn statement(portal: &Portal, owner: &Owner, lines: &[Value], has_more: bool) {
    let call = format!("GET /wallet/internal/wallets/{}/entries", owner.business);
    portal.peers.answer(call, 200, json!({ "data": lines, "hasMore": has_more }));
}

fn know_reference(portal: &Portal, owner: &Owner, reference: &str) -> String {
    let call = format!("POST /order-api/internal/businesses/{}/order-references", owner.business);
    portal.peers.answer(&call, 200, json!([{ "id": ORDER, "orderReference": reference }]));
    call
}

#[tokio::test]
async fn a_statement_names_the_order_behind_each_line() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    statement(&portal, &owner, &[entry(2, Some(ORDER), None), entry(1, None, Some("invoice"))], false);
    let seen = owner.client.get("/v1/portal/wallet/entries").await;
    assert_eq!((seen.status, seen.body["data"][0]["orderId"].as_str()), (200, Some(ORDER)));
    assert_eq!(seen.body["data"][0].get("orderReference"), Some(&Value::Null), "order-api does not answer");

    let call = know_reference(&portal, &owner, "shop-1");
    let seen = owner.client.get("/v1/portal/wallet/entries").await;
    assert_eq!(seen.body["data"][0]["orderReference"], "shop-1");
    // Of a line without an order both are there, and null.
    for name in ["orderId", "orderReference"] {
        assert_eq!(seen.body["data"][1].get(name), Some(&Value::Null), "{name}");
    }
    assert_eq!(portal.peers.asked(&call).last().unwrap().body, json!({ "ids": [ORDER] }));
}

#[tokio::test]
async fn an_order_reference_filters_a_statement() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let orders = format!("GET /order-api/internal/businesses/{}/orders", owner.business);
    portal.peers.answer(&orders, 200, json!({ "data": [], "hasMore": false }));
    let none = owner.client.get("/v1/portal/wallet/entries?orderReference=shop-9").await;
    assert_eq!((none.status, none.body), (200, json!({ "data": [], "hasMore": false })));
    assert!(portal.peers.asked(&orders)[0].query.contains("orderReference=shop-9"));
    assert!(portal.peers.asked(&orders)[0].query.contains("mode=live"));
    let entries = format!("GET /wallet/internal/wallets/{}/entries", owner.business);
    assert!(portal.peers.asked(&entries).is_empty(), "no other lines are read for it");
}

#[tokio::test]
async fn an_export_has_every_line_and_no_formula() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    know_reference(&portal, &owner, "=cmd|' /C calc'!A0");
    let (mut debit, mut credit) = (entry(2, Some(ORDER), None), entry(1, None, Some("a,\"b\"")));
    debit["takesBack"] = json!({ "kind": "refund", "orderId": ORDER, "reference": null, "createdAt": AT });
    credit["leftPaise"] = json!(9_900);
    let mut fee = entry(3, Some(ORDER), Some(&format!("attempt-2-{ORDER}")));
    (fee["kind"], fee["amountPaise"]) = (json!("operator_debit"), json!(-3_000));
    statement(&portal, &owner, &[fee, debit, credit], false);
    let expected = format!(
        "id,createdAt,kind,amountPaise,balanceAfterPaise,orderId,orderReference,reference,transferId,reverses,\
         owedPaise,reason,createdAtLocal,kindLabel,amountRupees,owedRupees,balanceAfterRupees,\
         takesBack,leftPaise,leftRupees\r\n\
         3,2026-01-01T00:00:00Z,operator_debit,-3000,5100,{ORDER},'=cmd|' /C calc'!A0,attempt-2-{ORDER},\
         trf_01ARZ3NDEKTSV4RRFFQ69G5FAV,,0,,2026-01-01 05:30:00,Fee of another attempt,-30.00,0.00,51.00,,,\r\n\
         2,2026-01-01T00:00:00Z,delivery_fee,-4900,5100,{ORDER},'=cmd|' /C calc'!A0,,\
         trf_01ARZ3NDEKTSV4RRFFQ69G5FAV,,0,,2026-01-01 05:30:00,Delivery fee,-49.00,0.00,51.00,Refund {ORDER},,\r\n\
         1,2026-01-01T00:00:00Z,operator_credit,10000,5100,,,\"a,\"\"b\"\"\",\
         trf_01ARZ3NDEKTSV4RRFFQ69G5FAV,,0,,2026-01-01 05:30:00,Credit,100.00,0.00,51.00,,9900,99.00\r\n"
    );
    let by_name = owner.client.open("/v1/portal/wallet/entries.csv").await;
    assert_eq!(by_name.headers()["content-type"], "text/csv; charset=utf-8");
    let name = by_name.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(name.starts_with("attachment; filename=\"corner-shop-statement-to-20"), "{name}");
    assert_eq!(by_name.headers()["cache-control"], "no-store");
    assert_eq!(by_name.text().await.unwrap(), expected);
    let by_type = owner.client.clone().with_header("accept", "text/csv");
    assert_eq!(by_type.open("/v1/portal/wallet/entries").await.text().await.unwrap(), expected);
    let path = format!("/v1/operator/businesses/{}/wallet/entries.csv", owner.business);
    let by_operator = portal.operator().open(&path).await;
    assert_eq!(by_operator.headers()["content-disposition"], name);
    assert_eq!(by_operator.text().await.unwrap(), expected);

    let period = "?since=2026-01-31T18:30:00Z&until=2026-02-28T18:30:00Z";
    let february = owner.client.open(&format!("/v1/portal/wallet/entries.csv{period}")).await;
    assert_eq!(
        february.headers()["content-disposition"],
        "attachment; filename=\"corner-shop-statement-from-2026-02-01-to-2026-02-28.csv\""
    );

    // An empty statement has only the header. Errors have their usual response.
    statement(&portal, &owner, &[], false);
    let empty = owner.client.open("/v1/portal/wallet/entries.csv").await.text().await.unwrap();
    assert_eq!(empty.lines().count(), 1);
    let call = format!("GET /wallet/internal/wallets/{}/entries", owner.business);
    portal.peers.answer(call, 500, json!({ "code": "internal_error", "message": "no" }));
    let away = owner.client.get("/v1/portal/wallet/entries.csv").await;
    assert_eq!((away.status, away.code()), (503, "temporarily_unavailable"));
}

#[tokio::test]
async fn a_workbook_has_the_same_lines_for_people() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    know_reference(&portal, &owner, "=1+1");
    let mut owed = entry(3, None, Some(&format!("attempt-2-{ORDER}")));
    owed["kind"] = json!("operator_debit_shortfall");
    (owed["amountPaise"], owed["owedPaise"]) = (json!(0), json!(3_000));
    let (fee, mut credit) = (entry(2, Some(ORDER), None), entry(1, None, Some("invoice")));
    credit["leftPaise"] = json!(9_900);
    let call = format!("GET /wallet/internal/wallets/{}/entries", owner.business);
    let pages = [(json!([owed, fee]), true), (json!([credit]), false)];
    let answers = pages.map(|(data, more)| (200, json!({ "data": data, "hasMore": more })));
    portal.peers.answer_in_turn(call.as_str(), answers);
    let sent = owner.client.open("/v1/portal/wallet/entries.xlsx?kind=refund").await;
    assert_eq!(
        sent.headers()["content-type"],
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    );
    let name = sent.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(name.contains("corner-shop-statement-to-20") && name.ends_with(".xlsx\""), "{name}");
    let rows = sheet(&sent.bytes().await.unwrap());
    assert_eq!(rows.matches("<row ").count(), 4, "{rows}");
    for cell in [
        ">Time (IST)<",
        ">Amount (INR)<",
        ">Debt: fee of another attempt<",
        r#"<c r="E2" s="2"><v>30.00</v></c>"#,
        ">Delivery fee<",
        r#"<c r="D3" s="2"><v>-49.00</v></c>"#,
        ">=1+1<",
        ">invoice<",
        r#"<c r="L4" s="2"><v>99.00</v></c>"#,
    ] {
        assert!(rows.contains(cell), "{cell}: {rows}");
    }
    let asked = portal.peers.asked(&call);
    assert!(asked.iter().all(|one| one.query.contains("kind=refund")));
    assert!(asked[1].query.contains("startingAfter=2"), "{}", asked[1].query);

    statement(&portal, &owner, &[], false);
    let path = format!("/v1/operator/businesses/{}/wallet/entries.xlsx", owner.business);
    let empty = portal.operator().open(&path).await;
    assert_eq!(sheet(&empty.bytes().await.unwrap()).matches("<row ").count(), 1);
}

#[tokio::test]
async fn a_workbook_that_cannot_have_all_lines_is_refused_before_it_begins() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    statement(&portal, &owner, &[entry(1_048_576, None, Some("newest"))], false);
    let refused = owner.client.get("/v1/portal/wallet/entries.xlsx").await;
    assert_eq!((refused.status, &refused.body["errors"][0]["field"]), (400, &json!("since")));
    for other in ["entries.csv", "entries.xlsx?since=2026-01-01T00:00:00Z", "entries.xlsx?kind=top_up"] {
        let sent = owner.client.open(&format!("/v1/portal/wallet/{other}")).await;
        assert_eq!(sent.status(), 200, "{other}");
        sent.bytes().await.unwrap();
    }
    statement(&portal, &owner, &[entry(1_048_575, None, Some("newest"))], false);
    assert_eq!(owner.client.open("/v1/portal/wallet/entries.xlsx").await.status(), 200);
}

/// The only sheet of a workbook.
fn sheet(workbook: &[u8]) -> String {
    let mut parts = ZipArchive::new(Cursor::new(workbook)).unwrap();
    let mut text = String::new();
    parts.by_name("xl/worksheets/sheet1.xml").unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The next page starts after the last entry. A failing page closes the connection.
#[tokio::test]
async fn an_export_goes_on_page_by_page_and_is_never_cut_short_in_silence() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    statement(&portal, &owner, &[entry(2, None, Some("more"))], true);
    let mut endless = owner.client.open("/v1/portal/wallet/entries.csv").await;
    let mut read = Vec::new();
    while read.len() < 2_000 {
        read.extend_from_slice(&endless.chunk().await.unwrap().expect("it goes on"));
    }
    let call = format!("GET /wallet/internal/wallets/{}/entries", owner.business);
    let asked = portal.peers.asked(&call);
    assert!(asked[0].query.contains("limit=100") && !asked[0].query.contains("startingAfter"));
    assert!(asked[1].query.contains("startingAfter=2"), "{}", asked[1].query);
    portal.peers.answer(call, 500, json!({ "code": "internal_error", "message": "no" }));
    let end = loop {
        match endless.chunk().await {
            Ok(Some(_)) => {}
            end => break end,
        }
    };
    assert!(end.is_err(), "{end:?}");
}

#[tokio::test]
async fn a_threshold_is_passed_on() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let call = format!("PUT /wallet/internal/wallets/{}/threshold", owner.business);
    let wallet = json!({
        "balancePaise": 5, "owedPaise": 0, "currency": "INR", "fundedAt": AT, "lowBalanceThresholdPaise": 700,
    });
    portal.peers.answer(&call, 200, wallet.clone());
    let body = json!({ "thresholdPaise": 700 });
    let set = owner.client.put("/v1/portal/wallet/threshold", body.clone()).await;
    assert_eq!((set.status, set.body), (200, wallet));
    assert_eq!(portal.peers.asked(&call)[0].body, body);
}

#[tokio::test]
async fn a_top_up_carries_its_idempotency_key() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let call = format!("POST /wallet/internal/wallets/{}/top-ups", owner.business);
    let checkout = json!({ "keyId": "rzp", "orderId": "order_1", "amountPaise": 100, "currency": "INR" });
    let top_up = json!({
        "id": "top_01ARZ3NDEKTSV4RRFFQ69G5FAV", "amountPaise": 100, "status": "pending",
        "provider": "razorpay", "balancePaise": 0, "createdAt": AT, "checkout": checkout,
    });
    portal.peers.answer(&call, 201, top_up.clone());
    let body = json!({ "amountPaise": 100 });
    let mut retrying = owner.client.clone().with_header("idempotency-key", "top-up-7");
    let answer = retrying.post("/v1/portal/wallet/top-ups", body.clone()).await;
    assert_eq!((answer.status, &answer.body), (201, &top_up));
    assert_eq!(portal.peers.asked(&call)[0].idempotency_key.as_deref(), Some("top-up-7"));
    owner.client.post("/v1/portal/wallet/top-ups", body.clone()).await;
    assert_eq!(portal.peers.asked(&call)[1].idempotency_key, None);
    let mut bad = owner.client.clone().with_header("idempotency-key", &"x".repeat(256));
    let refused = bad.post("/v1/portal/wallet/top-ups", body).await;
    assert_eq!((refused.status, refused.code()), (400, "idempotency_key_invalid"));
    // A pending top-up does not fund the wallet.
    let missing = portal.ordering(&owner.business).await["missing"].clone();
    assert!(missing.as_array().unwrap().contains(&json!("wallet_funded")), "{missing}");
}

#[tokio::test]
async fn what_the_payment_provider_posts_reaches_wallet_byte_for_byte() {
    let portal = Portal::start().await;
    let call = "POST /wallet/internal/payments/razorpay/notices";
    portal.peers.answer(call, 200, json!({ "outcome": "credited" }));
    let path = "/v1/payments/razorpay/webhook";
    // Neither sorted nor spaced as we would write it; the signature is over these very bytes.
    let body = "{\"event\" : \"order.paid\",\n \"b\":1,\"a\":\"\u{20b9}\\u20b9\"}";
    let provider = portal.stranger().with_header("x-razorpay-signature", "abcd");
    let mut provider = provider.with_header("x-razorpay-event-id", "ev_1");
    let taken = provider.raw(Method::POST, path, "application/json", body).await;
    assert_eq!((taken.status, taken.body), (200, json!({ "received": true, "outcome": "credited" })));
    let expected = json!({ "signature": "abcd", "body": body });
    assert_eq!(portal.peers.asked(call)[0].body, expected);

    let unsigned = portal.stranger().raw(Method::POST, path, "application/json", body).await;
    assert_eq!((unsigned.status, unsigned.code()), (401, "payment_signature_invalid"));
    let large = "x".repeat(70 * 1024);
    assert_eq!(provider.raw(Method::POST, path, "application/json", &large).await.status, 413);
    let other = provider.raw(Method::POST, "/v1/payments/stripe/webhook", "application/json", body).await;
    assert_eq!((other.status, other.code()), (404, "payment_provider_not_found"));
    assert_eq!(portal.peers.asked(call).len(), 1);
    let refusal = json!({ "code": "payment_signature_invalid", "message": "Not the provider's." });
    portal.peers.answer(call, 401, refusal);
    assert_eq!(provider.raw(Method::POST, path, "application/json", body).await.status, 401);
    portal.peers.answer(call, 503, json!({ "code": "temporarily_unavailable", "message": "Later." }));
    assert_eq!(
        provider.raw(Method::POST, path, "application/json", body).await.status,
        503,
        "it is sent again"
    );
}

#[tokio::test]
async fn the_operator_sees_the_cash_of_all() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let page = json!({
        "data": [{
            "businessId": owner.business, "outstandingPaise": 5, "pendingPaise": 5, "withDriversPaise": 0,
            "handedOverShortPaise": 0,
            "withOperatorPaise": 0, "settledRecentlyPaise": 0, "discrepancies": 0, "lateOrders": 0, "latePaise": 0, "ages": [],
        }],
        "hasMore": true,
    });
    portal.peers.answer("GET /wallet/internal/cash", 200, page.clone());
    let none = json!({ "data": [], "hasMore": false });
    portal.peers.answer("GET /wallet/internal/cash/discrepancies", 200, none.clone());
    let mut operator = portal.operator();
    let seen = operator.get("/v1/operator/cod?limit=1").await;
    assert_eq!((seen.status, seen.body), (200, page));
    let seen = operator.get("/v1/operator/cod/discrepancies").await;
    assert_eq!((seen.status, seen.body), (200, none));
    let mut client = owner.client;
    for path in ["/v1/operator/cod", "/v1/operator/cod/discrepancies"] {
        assert_eq!(client.get(path).await.status, 401, "{path}");
    }
}
