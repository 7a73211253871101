//! Money as a business sees it: a retried top-up, a low-balance webhook, the statement with its orders, a refund, and a
//! cash discrepancy.

use anyhow::Context;
use demo::clients::COD_DELIVERY;
use demo::{SAMPLE_CASH_PAISE, SAMPLE_FEE_PAISE as FEE, eventually, sample_order};
use local_stack::Stack;
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, PATIENCE};

/// The threshold is this far below the balance after the first order, and above the balance after the second.
const THRESHOLD_MARGIN: i64 = 1;

#[tokio::test(flavor = "multi_thread")]
async fn a_business_follows_its_money() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    // Before the first top-up, which the default threshold would call low.
    let threshold = json!({ "thresholdPaise": 2 * FEE - THRESHOLD_MARGIN });
    business.portal.put("/wallet/threshold", &threshold).await?;
    business.go_live(3 * FEE).await?;
    let (kept, cancelled) = a_low_balance_is_announced(&business).await?;
    a_refund_is_in_the_statement(&business, &cancelled).await?;
    business_and_operator_see_a_cash_discrepancy(&business, &kept).await?;
    a_bank_transfer_pays_the_cash_out(&business, &kept).await?;
    stack.shut_down().await
}

/// Returns the ids of the two orders that it places.
async fn a_low_balance_is_announced(business: &Business) -> anyhow::Result<(String, String)> {
    let mut events: Vec<Value> = DEFAULT.iter().map(|kind| json!(kind)).collect();
    events.push(json!("wallet.low_balance"));
    let endpoint = format!("/webhook-endpoints/{}", business.endpoint_id);
    business.portal.call(Method::PATCH, &endpoint, Some(&json!({ "events": events }))).await?.expect(200)?;

    let kept = business.place(&sample_order("kept")).await?;
    assert_eq!(business.portal.get("/status").await?["indicators"]["wallet"]["label"], "Funded");
    let cancelled = business.place(&sample_order("cancelled")).await?;
    assert_eq!(business.portal.get("/status").await?["indicators"]["wallet"]["label"], "Low balance");
    let low_balance = eventually("the webhook of a low balance", PATIENCE, || async {
        let low = business.inbox.received(|hook| hook.event.event == "wallet.low_balance");
        Ok((!low.is_empty()).then_some(low))
    })
    .await?;
    let body: Value = serde_json::from_slice(&low_balance[0].body)?;
    assert_eq!((low_balance.len(), &body["order"]), (1, &Value::Null));
    assert_eq!((&body["data"]["balancePaise"], &body["mode"]), (&json!(FEE), &json!("live")));
    Ok((kept, cancelled))
}

const DEFAULT: [&str; 10] = [
    "order.created",
    "driver.assigned",
    "order.picked_up",
    "order.out_for_delivery",
    "order.delivered",
    "order.failed",
    "order.cancelled",
    "cod.collected",
    "cod.handed_over",
    "cod.settled",
];

async fn a_refund_is_in_the_statement(business: &Business, order: &str) -> anyhow::Result<()> {
    let cancel = format!("/{order}/cancel");
    business.live()?.call(Method::POST, &cancel, Some(&json!({}))).await?.expect(200)?;
    eventually("the refund", PATIENCE, || async {
        Ok((business.entries_of(order).await?.len() == 2).then_some(()))
    })
    .await?;
    let page = business.portal.get("/wallet/entries?orderReference=cancelled").await?;
    let lines = page["data"].as_array().context("no lines")?;
    let seen: Vec<_> = lines
        .iter()
        .map(|line| {
            (&line["kind"], &line["amountPaise"], &line["balanceAfterPaise"], &line["orderReference"])
        })
        .collect();
    let (refund, taken) = (json!("refund"), json!("delivery_fee"));
    let (reference, plus, minus) = (json!("cancelled"), json!(FEE), json!(-FEE));
    let (high, low) = (json!(2 * FEE), json!(FEE));
    assert_eq!(seen, [(&refund, &plus, &high, &reference), (&taken, &minus, &low, &reference)]);
    for (filter, count) in [("kind=refund", 1), ("kind=delivery_fee", 2), ("until=2020-01-01T00:00:00Z", 0)] {
        let page = business.portal.get(&format!("/wallet/entries?{filter}")).await?;
        assert_eq!(page["data"].as_array().map(Vec::len), Some(count), "{filter}");
    }
    let none = business.portal.get("/wallet/entries?orderReference=never-placed").await?;
    assert_eq!(none, json!({ "data": [], "hasMore": false }));

    let export = business.portal.call(Method::GET, "/wallet/entries.csv", None).await?;
    assert_eq!(
        (export.status.as_u16(), export.header("content-type")),
        (200, Some("text/csv; charset=utf-8"))
    );
    let table: Vec<_> = export.text.lines().collect();
    assert_eq!(table.len(), 1 + 4, "a top-up, two fees, a refund: {table:?}");
    assert!(table[1].contains(&format!(",refund,{FEE},{},{order},cancelled,,", 2 * FEE)), "{table:?}");
    Ok(())
}

async fn business_and_operator_see_a_cash_discrepancy(
    business: &Business,
    order: &str,
) -> anyhow::Result<()> {
    let expected = SAMPLE_CASH_PAISE;
    business.fleet.drive(order, &COD_DELIVERY[..4], 0).await?;
    business.fleet.report(order, "cod.collected", expected - 100).await?.expect(200)?;
    let cash = eventually("the cash to be in the ledger", PATIENCE, || async {
        let cash = business.portal.get("/cod").await?;
        Ok((cash["data"][0]["status"] == "collected").then_some(cash))
    })
    .await?;
    let line = &cash["data"][0];
    assert_eq!((&line["orderId"], &line["orderReference"]), (&json!(order), &json!("kept")));
    assert_eq!((&line["expectedPaise"], &line["collectedPaise"]), (&json!(expected), &json!(expected - 100)));
    assert_eq!((&line["discrepant"], &cash["totals"]["discrepancies"]), (&json!(true), &json!(1)));
    assert_eq!(cash["totals"]["withDriversPaise"], json!(expected - 100));
    // The age counts from the recording, whatever the fleet's clock says.
    assert_eq!(
        cash["totals"]["ages"][0],
        json!({ "days": "0-1", "orders": 1, "amountPaise": expected - 100 })
    );

    let operator = &business.operator;
    let all = operator.call(Method::GET, "/cod", &Value::Null).await?.expect(200)?;
    assert_eq!(all["data"][0]["businessId"], json!(business.portal.business_id));
    assert_eq!(all["data"][0]["outstandingPaise"], json!(expected - 100));
    let wrong = operator.call(Method::GET, "/cod/discrepancies", &Value::Null).await?.expect(200)?;
    assert_eq!(wrong["data"][0]["orderId"], json!(order));
    Ok(())
}

async fn a_bank_transfer_pays_the_cash_out(business: &Business, order: &str) -> anyhow::Result<()> {
    let collected = SAMPLE_CASH_PAISE - 100;
    business.fleet.report(order, "cod.handed_over", collected).await?.expect(200)?;
    let made = business.pay_out(order, "UTR 7").await?;
    assert_eq!((&made["orders"], &made["totalPaise"]), (&json!(1), &json!(collected)));
    assert_eq!(business.pay_out(order, "UTR 7").await?["alreadyRecorded"], json!(true));
    let settled = eventually("the webhook of the settlement", PATIENCE, || async {
        let settled = business.inbox.received(|hook| hook.event.event == "cod.settled");
        Ok((!settled.is_empty()).then_some(settled))
    })
    .await?;
    let body: Value = serde_json::from_slice(&settled[0].body)?;
    let remittance = json!({ "id": made["id"], "bankReference": "UTR 7", "paidOn": made["paidOn"] });
    assert_eq!(body["data"], json!({ "codAmountPaise": collected, "remittance": remittance }));
    let path = format!("/{order}");
    let view = business.live()?.call(Method::GET, &path, None).await?.expect(200)?;
    assert_eq!((&view["codStatus"], &view["codSettledPaise"]), (&json!("settled"), &json!(collected)));
    let cash = business.portal.get("/cod").await?;
    assert_eq!(
        (&cash["data"][0]["status"], &cash["data"][0]["remittance"]),
        (&json!("settled"), &remittance)
    );
    assert_eq!(cash["totals"]["outstandingPaise"], json!(0));
    let months = business.portal.get("/cod/months").await?;
    let sums = ["owedPaise", "settledPaise", "outstandingPaise"].map(|name| months[0][name].clone());
    assert_eq!(sums, [json!(collected), json!(collected), json!(0)]);
    let id = made["id"].as_str().context("an id")?;
    let file = business.portal.call(Method::GET, &format!("/remittances/{id}/orders.csv"), None).await?;
    assert!(file.text.contains(&format!("{order},kept,{collected},{collected},,")), "{}", file.text);
    Ok(())
}
