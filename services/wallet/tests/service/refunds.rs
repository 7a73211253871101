//! Refunds by event.

use domain::{BusinessId, CodStatus, DeliveryStatus, EventId, EventKind, Mode, OrderId, Paise, TrackingCode};
use events::{Body, Envelope, OrderEvent, OrderSnapshot, ProgressData, queues};
use internal_api::wallet::DebitOutcome::Posted;
use messaging::Queue;
use test_kit::until;

use crate::broker::{dead_letters, publish};
use crate::harness::{Harness, answer};
use crate::invariants::assert_consistent;

/// The event of a delivery that ended before the pickup.
pub(crate) fn ended(harness: &Harness, event: EventKind, order: OrderId) -> OrderEvent {
    OrderEvent {
        event,
        sequence: 2,
        mode: Mode::Live,
        order: OrderSnapshot {
            id: order,
            order_reference: "shop-1".into(),
            tracking_code: TrackingCode::generate(Mode::Live, &harness.entropy),
            tracking_url: "https://track.example/x".into(),
            status: DeliveryStatus::Cancelled,
            cod_status: CodStatus::NotApplicable,
        },
        data: ProgressData::default(),
        // Not the debited amount, which counts.
        delivery_fee_paise: Paise::new(999_999),
        refund_due: true,
        cod_expected_paise: None,
        recorded_at: None,
    }
}

pub(crate) fn envelope(harness: &Harness, business_id: BusinessId, event: OrderEvent) -> Envelope {
    Envelope {
        id: EventId::generate(&harness.clock, &harness.entropy),
        business_id,
        occurred_at: harness.clock.now(),
        body: Body::Order(Box::new(event)),
    }
}

/// Waits until all earlier events are handled: publishes another refund and waits for it.
async fn await_refunds(harness: &Harness) {
    let (business, order) = (harness.funded(10).await, harness.order());
    harness.debit(business, order, 1, 10).await.expect("a debit");
    publish(harness, &[envelope(harness, business, ended(harness, EventKind::OrderFailed, order))]).await;
    until("the last refund", async || harness.balance(business).await == 10).await;
}

#[tokio::test]
async fn a_repeated_event_refunds_the_fee_once() {
    let harness = Harness::connected().await;
    let business = harness.funded(10_000).await;
    let orders = [harness.order(), harness.order()];
    for (order, fee) in orders.iter().zip([4_900, 100]) {
        harness.debit(business, *order, 1, fee).await.unwrap();
    }
    let first = envelope(&harness, business, ended(&harness, EventKind::OrderCancelled, orders[0]));
    let second = envelope(&harness, business, ended(&harness, EventKind::OrderFailed, orders[1]));
    // The same event twice, and another event of the same order.
    let other = envelope(&harness, business, ended(&harness, EventKind::OrderFailed, orders[0]));
    publish(&harness, &[first.clone(), second, first.clone()]).await;
    until("both fees are back", async || harness.balance(business).await == 10_000).await;
    publish(&harness, &[first, other]).await;
    await_refunds(&harness).await;
    // The inbox has each event once: those two, the other order's, and the last one.
    until("the other event", async || harness.number("SELECT count(*) FROM inbox").await == 4).await;
    assert_eq!(harness.balance(business).await, 10_000);

    let lines = harness.entries(business).await;
    let refunds: Vec<_> = lines.iter().filter(|line| line.kind == "refund").collect();
    assert_eq!(refunds.len(), 2);
    let refund = refunds.iter().find(|line| line.order_id == Some(orders[0])).unwrap();
    assert_eq!(refund.amount_paise.get(), 4_900);
    let of_order = harness.wallet.entries_of_order(business, orders[0]).await.unwrap();
    let of_order: Vec<_> =
        of_order.iter().map(|line| (line.kind.as_str(), line.amount_paise.get())).collect();
    assert_eq!(of_order, [("delivery_fee", -4_900), ("refund", 4_900)]);
    let reversed =
        "SELECT count(*) FROM transfers AS refund JOIN transfers AS fee ON refund.reverses = fee.id
        WHERE refund.kind = 'refund' AND fee.kind = 'delivery_fee' AND fee.order_id = refund.order_id";
    assert_eq!(harness.number(reversed).await, 3);
    // The debit does not change.
    assert_eq!(harness.debit(business, orders[0], 1, 4_900).await.unwrap(), answer(Posted, 5_100));
    assert_eq!(dead_letters(&harness, &Queue::shared(queues::REFUNDS)).await, 0);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_delivery_that_failed_after_the_pickup_keeps_its_fee() {
    let harness = Harness::connected().await;
    let (business, order) = (harness.funded(10_000).await, harness.order());
    harness.debit(business, order, 1, 4_900).await.unwrap();
    let late = OrderEvent { refund_due: false, ..ended(&harness, EventKind::OrderFailed, order) };
    publish(&harness, &[envelope(&harness, business, late)]).await;
    await_refunds(&harness).await;
    assert_eq!(harness.balance(business).await, 5_100);
    assert_eq!(dead_letters(&harness, &Queue::shared(queues::REFUNDS)).await, 0);
}

#[tokio::test]
async fn an_unpaid_order_is_not_refunded_and_becomes_a_dead_letter() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.funded(10_000).await, harness.funded(10_000).await);
    let orders = [harness.order(), harness.order(), harness.order(), harness.order()];
    harness.debit(business, orders[0], 1, 20_000).await.unwrap();
    harness.void(business, orders[1], 1, 100).await.unwrap();
    harness.debit(business, orders[2], 1, 4_900).await.unwrap();
    let event = |order| ended(&harness, EventKind::OrderCancelled, order);
    publish(
        &harness,
        &[
            // Rejected, voided, unknown, and of another business.
            envelope(&harness, business, event(orders[0])),
            envelope(&harness, business, event(orders[1])),
            envelope(&harness, business, event(orders[3])),
            envelope(&harness, other, event(orders[2])),
        ],
    )
    .await;
    until("all four are set aside", async || {
        dead_letters(&harness, &Queue::shared(queues::REFUNDS)).await == 4
    })
    .await;
    assert_eq!((harness.balance(business).await, harness.balance(other).await), (5_100, 10_000));
    assert_eq!(harness.number("SELECT count(*) FROM transfers WHERE kind = 'refund'").await, 0);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_refund_waits_while_its_database_is_damaged() {
    let harness = Harness::connected().await;
    let (business, order) = (harness.funded(10_000).await, harness.order());
    harness.debit(business, order, 1, 4_900).await.unwrap();
    harness.damage("BEFORE", "inbox").await;
    publish(&harness, &[envelope(&harness, business, ended(&harness, EventKind::OrderCancelled, order))])
        .await;
    until("the refund is repeated", async || harness.tries().await >= 3).await;
    harness.repair("inbox").await;
    until("the fee is back", async || harness.balance(business).await == 10_000).await;
    assert_eq!(dead_letters(&harness, &Queue::shared(queues::REFUNDS)).await, 0);
}
