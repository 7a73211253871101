//! A business is locked while one of its live orders is being paid: the order is either placed and charged once, or
//! refused with 403 and never charged for that attempt.

use demo::clients::Reply;
use demo::eventually;
use domain::GoLiveItem;
use internal_api::wallet::DebitOutcome::{Posted, Voided};
use serde_json::json;
use test_kit::{PATIENCE, smallest_order, until};
use tokio::task::JoinHandle;

use crate::business::Business;
use crate::harness::OrderApi;
use crate::peers::Debits;

const FEE: i64 = 4_900;
const BALANCE: i64 = 10 * FEE;

/// Sends the order in the background.
fn send(business: &Business) -> anyhow::Result<JoinHandle<anyhow::Result<Reply>>> {
    let live = business.live()?;
    Ok(tokio::spawn(async move { live.create("suspended", &smallest_order("suspended")).await }))
}

async fn lock(service: &OrderApi, business: &Business) -> anyhow::Result<()> {
    service.set_missing(business, &[GoLiveItem::BusinessActive]).await;
    let live = business.live()?;
    eventually("live orders to be locked", PATIENCE, || async {
        Ok((live.create("locked", &json!({})).await?.status == 403).then_some(()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_paid_before_the_lock_is_placed_and_charged_once() -> anyhow::Result<()> {
    let service = OrderApi::connected().await;
    let business = service.business(BALANCE);
    service.peers.hold_debits(Debits::HeldAfter);
    let first = send(&business)?;
    until("the debit is posted", async || service.peers.outcomes() == [Posted]).await;
    lock(&service, &business).await?;

    let retried = send(&business)?.await??;
    assert_eq!(retried.status, 201, "{}", retried.text);
    service.peers.hold_debits(Debits::Answered);
    let first = first.await??;
    assert_ne!(first.status, 403, "it is paid: {}", first.text);
    assert_eq!((service.peers.outcomes(), business.balance()), (vec![Posted], BALANCE - FEE));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_the_lock_voids_is_not_charged() -> anyhow::Result<()> {
    let service = OrderApi::connected().await;
    let business = service.business(BALANCE);
    service.peers.hold_debits(Debits::HeldBefore);
    let first = send(&business)?;
    let pending = "orders WHERE placement = 'pending_payment'";
    until("the order waits for its payment", async || service.count(pending).await == 1).await;
    lock(&service, &business).await?;

    let retried = send(&business)?.await??;
    assert_eq!((retried.status.as_u16(), retried.code()), (403, "live_api_locked"), "{}", retried.text);
    service.peers.hold_debits(Debits::Answered);
    let first = first.await??;
    assert_ne!(first.status, 201, "it is voided: {}", first.text);
    assert_eq!((service.peers.outcomes(), business.balance()), (vec![Voided], BALANCE));

    service.set_missing(&business, &[]).await;
    eventually("the retry to be placed", PATIENCE, || async {
        Ok((send(&business)?.await??.status == 201).then_some(()))
    })
    .await?;
    assert_eq!((service.peers.outcomes(), business.balance()), (vec![Voided, Posted], BALANCE - FEE));
    Ok(())
}
