//! The wallet announces orders whose cash it has paid out. Each is settled once.

use chrono::NaiveDate;
use demo::SAMPLE_CASH_PAISE;
use demo::clients::COD_DELIVERY;
use domain::{CodStatus, EventKind, OrderId, Paise, RemittanceId};
use events::{Body, CashRemitted, Remittance, queues};
use messaging::Queue;
use reqwest::Method;
use serde_json::json;
use test_kit::until;

use crate::business::Business;
use crate::harness::OrderApi;

const CASH: i64 = SAMPLE_CASH_PAISE;

fn remitted(service: &OrderApi, order: &str, paise: i64) -> CashRemitted {
    CashRemitted {
        order_id: order.parse::<OrderId>().unwrap(),
        amount_paise: Paise::new(paise),
        remittance: Remittance {
            id: RemittanceId::generate(&service.clock, &service.entropy),
            bank_reference: "UTR 7".into(),
            paid_on: NaiveDate::default(),
        },
    }
}

/// An order whose cash the operator holds.
async fn handed_over(business: &Business, reference: &str) -> anyhow::Result<String> {
    let order = business.place(reference).await?;
    business.fleet.drive(&order, &COD_DELIVERY[..4], 0).await?;
    business.fleet.report(&order, "cod.collected", CASH).await?.expect(200)?;
    business.fleet.report(&order, "cod.handed_over", CASH).await?.expect(200)?;
    Ok(order)
}

async fn handled(service: &OrderApi, count: i64) {
    let seen = "inbox WHERE consumer = 'order-api.remittances'";
    until("the events are handled", async || service.count(seen).await == count).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn remitted_cash_settles_its_order_once() -> anyhow::Result<()> {
    let service = OrderApi::connected().await;
    let received = service.listen().await;
    let business = service.business(1_000_000);
    let order = handed_over(&business, "remitted").await?;
    let paid = remitted(&service, &order, CASH - 100);
    service.publish(business.id, Body::CashRemitted(paid.clone())).await;
    handled(&service, 1).await;
    // Another event about the same order.
    service.publish(business.id, Body::CashRemitted(paid.clone())).await;
    handled(&service, 2).await;

    let view = business.live()?.call(Method::GET, &format!("/{order}"), None).await?.expect(200)?;
    assert_eq!((&view["codStatus"], &view["codSettledPaise"]), (&json!("settled"), &json!(CASH - 100)));
    let events = received.of("remitted", 8).await;
    let last = &events[7];
    assert_eq!((last.event, last.order.cod_status), (EventKind::CodSettled, CodStatus::Settled));
    let told = (last.data.cod_amount_paise, last.data.remittance.clone());
    assert_eq!(told, (Some(paid.amount_paise), Some(paid.remittance.clone())));
    let timeline =
        business.live()?.call(Method::GET, &format!("/{order}/events"), None).await?.expect(200)?;
    assert!(timeline.to_string().contains("UTR 7"), "{timeline}");
    // The fleet's late report is refused.
    let late = business.fleet.report(&order, "cod.settled", CASH).await?;
    assert_eq!(late.status.as_u16(), 409);
    Ok(())
}

/// Whichever arrives first: the order has the amount of the bank transfer, and its last `cod.settled` tells it. Wallet's half:
/// `the_bank_transfer_counts_unless_the_fleet_was_first`.
#[tokio::test(flavor = "multi_thread")]
async fn a_bank_transfer_counts_more_than_a_settlement_of_the_fleet() -> anyhow::Result<()> {
    let service = OrderApi::connected().await;
    let received = service.listen().await;
    let business = service.business(1_000_000);
    let mut published = 0;
    for (reference, is_fleet_first, paid, settlements) in [
        ("fleet-same", true, CASH, 1),
        ("fleet-other", true, CASH - 100, 2),
        ("bank-same", false, CASH, 1),
        ("bank-other", false, CASH - 100, 1),
    ] {
        let order = handed_over(&business, reference).await?;
        if is_fleet_first {
            business.fleet.report(&order, "cod.settled", CASH).await?.expect(200)?;
        }
        let paid = remitted(&service, &order, paid);
        for _ in 0..2 {
            service.publish(business.id, Body::CashRemitted(paid.clone())).await;
            published += 1;
            handled(&service, published).await;
        }
        if !is_fleet_first {
            let late = business.fleet.report(&order, "cod.settled", CASH).await?;
            assert_eq!(late.status.as_u16(), 409, "{reference}");
        }
        let view = business.live()?.call(Method::GET, &format!("/{order}"), None).await?.expect(200)?;
        let told = (&view["codStatus"], &view["codSettledPaise"]);
        assert_eq!(told, (&json!("settled"), &json!(paid.amount_paise)), "{reference}");
        let events = received.of(reference, 7 + settlements).await;
        let last = &events[6 + settlements];
        let told = (last.event, last.order.cod_status, last.data.cod_amount_paise);
        let expected = (EventKind::CodSettled, CodStatus::Settled, Some(paid.amount_paise));
        assert_eq!(told, expected, "{reference}");
        let transfer = (reference != "fleet-same").then_some(paid.remittance);
        assert_eq!(last.data.remittance, transfer, "{reference}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn cash_that_cannot_be_settled_becomes_a_dead_letter() -> anyhow::Result<()> {
    let service = OrderApi::connected().await;
    let (business, other) = (service.business(1_000_000), service.business(0));
    let order = handed_over(&business, "elsewhere").await?;
    let early = business.place("early").await?;
    // An order of another business, an order that is not delivered, and no order.
    service.publish(other.id, Body::CashRemitted(remitted(&service, &order, CASH))).await;
    service.publish(business.id, Body::CashRemitted(remitted(&service, &early, CASH))).await;
    let unknown = OrderId::generate(&service.clock, &service.entropy).to_string();
    service.publish(business.id, Body::CashRemitted(remitted(&service, &unknown, CASH))).await;
    let queue = Queue::shared(queues::REMITTANCES);
    until("three dead letters", async || {
        service.broker.backlog(&queue).await.is_ok_and(|backlog| backlog.dead_letters == 3)
    })
    .await;
    let view = business.live()?.call(Method::GET, &format!("/{order}"), None).await?.expect(200)?;
    assert_eq!(view["codStatus"], json!("handed_over"));
    Ok(())
}
