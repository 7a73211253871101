//! Recovery of abandoned orders, while the wallet refuses one of them.

use chrono::TimeDelta;
use test_kit::{metrics, smallest_order, until};

use crate::business::Business;
use crate::harness::OrderApi;
use crate::peers::Debits;

const BALANCE: i64 = 49_000;

/// Places a live order whose debit gets no answer.
async fn abandon(service: &OrderApi, business: &Business, pending: i64) -> anyhow::Result<()> {
    let live = business.live()?;
    tokio::spawn(async move { live.create("abandoned", &smallest_order("abandoned")).await });
    until("the order waits for its payment", async || count(service, "pending_payment").await == pending)
        .await;
    Ok(())
}

async fn count(service: &OrderApi, placement: &str) -> i64 {
    service.count(&format!("orders WHERE placement = '{placement}'")).await
}

async fn until_refused(orders: usize) {
    let line = format!("orders_recovery_refused{{service=\"order-api\"}} {orders}\n");
    until(&line, async || metrics("order-api").render().contains(&line)).await;
}

/// An unpaid order may be released, so its id and tracking code must not be returned.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_names_no_id_of_an_unpaid_order() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(BALANCE);
    service.peers.hold_debits(Debits::HeldBefore);
    abandon(&service, &business, 1).await?;
    let refused = business.live()?.create("abandoned", &smallest_order("another")).await?;
    assert_eq!(
        (refused.status.as_u16(), refused.code()),
        (422, "idempotency_key_reused"),
        "{}",
        refused.text
    );
    assert!(refused.body["order"].is_null() && !refused.text.contains("ord_"), "{}", refused.text);
    assert!(refused.text.contains("abandoned, which is still being paid"), "{}", refused.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_the_wallet_refuses_delays_no_other() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let (refused, other) = (service.business(BALANCE), service.business(BALANCE));
    service.peers.hold_debits(Debits::HeldBefore);
    service.peers.refuse_voids_of(refused.id, true);
    // Recovery begins with the oldest.
    abandon(&service, &refused, 1).await?;
    service.clock.advance(TimeDelta::seconds(1));
    abandon(&service, &other, 2).await?;
    until_refused(0).await;

    service.clock.advance(TimeDelta::seconds(7));
    until("the other order is released", async || count(&service, "released").await == 1).await;
    assert_eq!(count(&service, "pending_payment").await, 1);
    until_refused(1).await;

    service.peers.refuse_voids_of(refused.id, false);
    service.clock.advance(TimeDelta::seconds(61));
    until("the refused order is released too", async || count(&service, "released").await == 2).await;
    until_refused(0).await;
    Ok(())
}
