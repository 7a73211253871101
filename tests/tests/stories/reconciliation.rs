//! Reconciliation with a whole stack: it is clean after orders of every kind; the command and the running wallet find
//! damage in either service's database; and without order-api the result is never clean.

use std::time::Duration;

use anyhow::Context;
use demo::clients::COD_DELIVERY;
use demo::{SAMPLE_CASH_PAISE, SAMPLE_FEE_PAISE, eventually, sample_order};
use local_stack::{Servers, Service, Stack, StackOptions};
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, PATIENCE, smallest_order, wait_until_quiet};

/// More than the wallet holds after its first top-up.
const LARGE_FEE: i64 = 1_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn orders_and_ledger_agree_and_differences_are_reported() -> anyhow::Result<()> {
    let directory = Stack::test_directory()?;
    let options = StackOptions::on_test_servers(&directory, Servers::for_tests().await?).variable(
        Service::Wallet,
        "WAYBILL_RECONCILIATION__INTERVAL_SECONDS",
        "1",
    );
    let stack = Stack::start_for_test(options).await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(3 * SAMPLE_FEE_PAISE).await?;
    let cancelled = orders_of_every_kind(&business).await?;
    wait_until_quiet(&stack).await?;
    wait_for_refund(&business, &cancelled).await?;

    // A top-up twice, four fees, a refund, three steps of cash. A run leaves out changes that are not older than all open
    // transactions.
    let lines = ["wallets: 1", "transfers: 10", "cash: 1", "top_ups: 2", "orders: 4"];
    eventually("all rows to be checked", PATIENCE, || async {
        let text = reconcile(&stack, &[], 0).await?;
        assert!(text.ends_with("clean\n"), "{text}");
        Ok(lines.iter().all(|line| text.contains(&format!("  {line}\n"))).then_some(()))
    })
    .await?;
    let text = reconcile(&stack, &["--since", "2026-01-01T00:00:00Z"], 0).await?;
    assert!(text.contains("  order_transfers: 10\n"), "{text}");

    damage_is_found(&stack, &cancelled).await?;
    only_services_may_call(&stack).await?;
    stack.stop(Service::OrderApi).await?;
    let text = reconcile(&stack, &[], 2).await?;
    assert!(text.contains("order-api is unavailable"), "{text}");
    stack.shut_down().await
}

/// Runs the command, asserts its exit code, and returns its output.
async fn reconcile(stack: &Stack, arguments: &[&str], code: i32) -> anyhow::Result<String> {
    let arguments = [&["reconcile"], arguments].concat();
    let output = stack.run(Service::Wallet, &arguments).await?;
    let text = String::from_utf8(output.stdout)?;
    assert_eq!(output.status.code(), Some(code), "{text}");
    Ok(text)
}

/// Places orders of every kind: delivered for cash, cancelled, in delivery, test, and refused for a low balance before
/// it is placed. Returns the cancelled one's id.
async fn orders_of_every_kind(business: &Business) -> anyhow::Result<String> {
    let delivered = business.place(&sample_order("delivered")).await?;
    business.fleet.drive(&delivered, &COD_DELIVERY, SAMPLE_CASH_PAISE).await?;
    let cancelled = business.place(&sample_order("cancelled")).await?;
    let under_way = business.place(&sample_order("under-way")).await?;
    business.fleet.drive(&under_way, &COD_DELIVERY[..2], 0).await?;

    let expensive = || {
        let mut order = smallest_order("refused");
        order["payment"]["deliveryFeePaise"] = json!(LARGE_FEE);
        order
    };
    let live = business.live()?;
    live.create("refused", &expensive()).await?.expect(402)?;
    business.top_up(LARGE_FEE).await?;
    live.create("refused", &expensive()).await?.expect(201)?;
    live.call(Method::POST, &format!("/{cancelled}/cancel"), Some(&json!({}))).await?.expect(200)?;
    Ok(cancelled)
}

async fn wait_for_refund(business: &Business, order: &str) -> anyhow::Result<()> {
    eventually("the refund", PATIENCE, || async {
        Ok((business.entries_of(order).await?.len() == 2).then_some(()))
    })
    .await?;
    eventually("the cash to be settled", PATIENCE, || async {
        let cash = business.portal.get("/cod").await?;
        Ok((cash["data"][0]["status"] == "settled").then_some(()))
    })
    .await
}

async fn damage_is_found(stack: &Stack, cancelled: &str) -> anyhow::Result<()> {
    until_shown(stack, "a first turn", |metrics| {
        value_of(metrics, "wallet_reconciliation_completed_timestamp_seconds") > Some(0.0)
    })
    .await?;
    let revived = |status: &str| format!("UPDATE orders SET status = '{status}' WHERE id = '{cancelled}'");
    let to_bring = |change: &str| {
        format!("UPDATE orders SET cod_amount_paise = cod_amount_paise {change} WHERE cod_status = 'settled'")
    };
    stack.query(Service::OrderApi, &revived("created")).await?;
    stack.query(Service::OrderApi, &to_bring("+ 1")).await?;
    stack.query(Service::Wallet, "ALTER TABLE wallets DISABLE TRIGGER USER").await?;
    stack.query(Service::Wallet, "UPDATE wallets SET balance_paise = balance_paise + 1").await?;
    let text = reconcile(stack, &[], 1).await?;
    assert!(text.contains(&format!("\nrefund_not_due {cancelled}: ")), "{text}");
    assert!(text.contains("\nwallet_balance_wrong biz_"), "{text}");
    assert!(text.contains("\ncash_differs_from_order ord_"), "{text}");
    assert!(text.ends_with("\n3 findings\n"), "{text}");
    let findings =
        |check: &str| format!("wallet_reconciliation_findings{{service=\"wallet\",check=\"{check}\"}}");
    let all =
        [findings("refund_not_due"), findings("wallet_balance_wrong"), findings("cash_differs_from_order")];
    until_shown(stack, "all findings", |metrics| all.iter().all(|name| value_of(metrics, name) == Some(1.0)))
        .await?;

    stack.query(Service::OrderApi, &revived("cancelled")).await?;
    stack.query(Service::OrderApi, &to_bring("- 1")).await?;
    stack.query(Service::Wallet, "UPDATE wallets SET balance_paise = balance_paise - 1").await?;
    until_shown(stack, "no finding", |metrics| all.iter().all(|name| value_of(metrics, name) == Some(0.0)))
        .await?;
    reconcile(stack, &[], 0).await?;
    Ok(())
}

/// Waits until the running wallet's metrics have these values.
async fn until_shown(stack: &Stack, what: &str, shown: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let url = format!("{}/metrics", stack.management_url(Service::Wallet));
    eventually(what, PATIENCE, || async {
        let metrics = reqwest::get(&url).await?.text().await?;
        Ok(shown(&metrics).then_some(()))
    })
    .await
}

/// The value of the first metric whose line starts so.
fn value_of(metrics: &str, name: &str) -> Option<f64> {
    let line = metrics.lines().find(|line| line.starts_with(name))?;
    line.rsplit_once(' ')?.1.parse().ok()
}

/// The endpoints that the wallet calls: internal, and strict about their input.
async fn only_services_may_call(stack: &Stack) -> anyhow::Result<()> {
    let http = reqwest::Client::builder().timeout(Duration::from_secs(20)).build()?;
    let url = format!("{}/internal/orders/payments", stack.internal_url(Service::OrderApi));
    assert_eq!(http.get(&url).send().await?.status(), 401);
    assert_eq!(http.post(&url).json(&json!({ "ids": [] })).send().await?.status(), 401);
    let token = stack.internal_token();
    let page = http.get(format!("{url}?limit=1")).bearer_auth(&token).send().await?.json::<Value>().await?;
    assert_eq!((page["data"].as_array().map(Vec::len), &page["hasMore"]), (Some(1), &json!(true)), "{page}");
    let first = page["data"][0].as_object().context("an order")?;
    let known = [
        "id",
        "businessId",
        "mode",
        "placed",
        "deliveryFeePaise",
        "codAmountPaise",
        "codStatus",
        "refundDue",
        "delivered",
        "changedAt",
    ]
    .into_iter();
    assert!(first.keys().all(|name| known.clone().any(|known| known == name)), "nothing personal: {page}");
    for bad in ["limit=0", "limit=1001", "changedAfter=yesterday", "startingAfter=x", "business=x"] {
        let answer = http.get(format!("{url}?{bad}")).bearer_auth(&token).send().await?;
        assert_eq!(answer.status(), 400, "{bad}");
    }
    for bad in [json!({ "ids": ["x"] }), json!({ "ids": "x" }), json!([])] {
        let answer = http.post(&url).bearer_auth(&token).json(&bad).send().await?;
        assert_eq!(answer.status(), 400, "{bad}");
    }
    Ok(())
}
