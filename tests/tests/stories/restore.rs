//! Databases restored from real dumps: if one alone goes back, the differences are named order by order; if all five go
//! back to the same moment, there are none and everything continues.

use std::collections::BTreeSet;

use demo::clients::COD_DELIVERY;
use demo::{SAMPLE_CASH_PAISE, eventually, sample_order};
use local_stack::{Service, Stack};
use reqwest::Method;
use serde_json::json;
use waybill_tests::restoring::{ALL, differences, dump, restore};
use waybill_tests::{Business, PATIENCE, smallest_order, text, wait_until_quiet};

#[tokio::test(flavor = "multi_thread")]
async fn a_partial_restore_has_findings_and_a_consistent_one_has_none() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(1_000_000).await?;
    let (cash, cancelled) =
        (business.place(&sample_order("cash")).await?, business.place(&sample_order("cancelled")).await?);
    wait_until_quiet(&stack).await?;
    let earlier = dump(&stack, "earlier")?;

    let live = business.live()?;
    let mut later = Vec::new();
    for reference in ["later-1", "later-2"] {
        later.push(text(&live.create(reference, &smallest_order(reference)).await?.expect(201)?, "id")?);
    }
    business.fleet.drive(&cash, &COD_DELIVERY, SAMPLE_CASH_PAISE).await?;
    live.call(Method::POST, &format!("/{cancelled}/cancel"), Some(&json!({}))).await?.expect(200)?;
    wait_for_the_money(&business, &cancelled).await?;
    wait_until_quiet(&stack).await?;
    // Recent changes might be in progress, so these are made older.
    stack
        .query(Service::OrderApi, "UPDATE orders SET updated_at = updated_at - interval '2 minutes'")
        .await?;
    let now = dump(&stack, "now")?;
    assert_eq!(differences(&stack, Service::Wallet, 0).await?, BTreeSet::new());

    let named = |check: &str, order: &str| format!("{check} {order}");
    restore(&stack, &earlier, &[Service::OrderApi]).await?;
    let wanted = BTreeSet::from([
        named("debit_without_order", &later[0]),
        named("debit_without_order", &later[1]),
        named("refund_not_due", &cancelled),
        named("cash_differs_from_order", &cash),
    ]);
    assert_eq!(differences(&stack, Service::Wallet, 1).await?, wanted, "only order-api was restored");

    restore(&stack, &now, &[Service::OrderApi]).await?;
    restore(&stack, &earlier, &[Service::Wallet]).await?;
    let wanted = BTreeSet::from([
        named("order_without_debit", &later[0]),
        named("order_without_debit", &later[1]),
        named("refund_missing", &cancelled),
        named("cash_missing", &cash),
    ]);
    assert_eq!(differences(&stack, Service::Wallet, 1).await?, wanted, "only wallet was restored");

    restore(&stack, &earlier, &ALL).await?;
    assert_eq!(
        differences(&stack, Service::Wallet, 0).await?,
        BTreeSet::new(),
        "all were restored to the same moment"
    );
    orders_and_webhooks_continue(&business, &cash, &later[0]).await?;
    wait_until_quiet(&stack).await?;
    assert_eq!(differences(&stack, Service::Wallet, 0).await?, BTreeSet::new());
    stack.shut_down().await
}

async fn wait_for_the_money(business: &Business, cancelled: &str) -> anyhow::Result<()> {
    eventually("the refund and the settled cash", PATIENCE, || async {
        let back = business.entries_of(cancelled).await?.len() == 2;
        let cash = business.portal.get("/cod").await?;
        Ok((back && cash["data"][0]["status"] == "settled").then_some(()))
    })
    .await
}

/// The shop retries an order that it knows and the service forgot; common orders continue; and the webhooks arrive.
async fn orders_and_webhooks_continue(
    business: &Business,
    known: &str,
    forgotten: &str,
) -> anyhow::Result<()> {
    let live = business.live()?;
    let again = live.create("later-1", &smallest_order("later-1")).await?;
    assert_eq!(again.header("Idempotent-Replayed"), None, "the service has forgotten it");
    assert_ne!(text(&again.expect(201)?, "id")?, forgotten);
    business.fleet.drive(known, &["driver.assigned"], 0).await?;
    let logged = format!(
        "/webhook-endpoints/{}/deliveries?event=driver.assigned&status=succeeded",
        business.endpoint_id
    );
    eventually("the webhook to arrive", PATIENCE, || async {
        let log = business.portal.get(&logged).await?;
        Ok((log["data"].as_array().map(Vec::len) == Some(1)).then_some(()))
    })
    .await
}
