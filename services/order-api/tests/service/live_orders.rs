//! The counts of live orders on the home page of a business.

use chrono::{DateTime, TimeDelta, Utc};
use demo::SAMPLE_CASH_PAISE;
use demo::clients::COD_DELIVERY;
use domain::{BusinessId, DeliveryStatus};
use internal_api::orders::{
    ExceptionCounts, ExceptionLimits, LiveOrders, OpenOrders, OrdersClient, StatusCount,
};
use reqwest::Method;
use serde_json::json;
use test_kit::smallest_order;

use crate::business::Business;
use crate::harness::{OrderApi, text};

/// Places an order and reports these events.
async fn moved(business: &Business, reference: &str, events: &[&str]) -> anyhow::Result<()> {
    let placed = business.live()?.create(reference, &smallest_order(reference)).await?.expect(201)?;
    for event in events {
        business.fleet.report(&text(&placed, "id"), event, 0).await?.expect(200)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn live_orders_are_counted_by_day_and_by_what_they_need() -> anyhow::Result<()> {
    const ASSIGNED: &str = "driver.assigned";
    const PICKED_UP: &str = "order.picked_up";
    const OUT: &str = "order.out_for_delivery";
    let service = OrderApi::start().await;
    let business = service.business(1_000_000);
    let internal = test_kit::url(service.internal);
    let orders = OrdersClient(test_kit::peer("order-api", &internal, &service.settings.internal.token));
    let today = |clock: &domain::Clock| clock.now() - TimeDelta::hours(6);
    let live = async |id: BusinessId, since: DateTime<Utc>| orders.live(id, since).await;

    let none = live(business.id, today(&service.clock)).await?;
    let attention = ExceptionCounts { failed: 0, unassigned: 0, stuck: 0 };
    let attention_limits = Some(ExceptionLimits { unassigned_minutes: 30, silent_minutes: 240 });
    let empty =
        LiveOrders { last_at: None, today: Vec::new(), ended: 0, delivered: 0, attention, attention_limits };
    assert_eq!(none, empty);

    // Nine days ago: too old for the rate, but it failed with the driver.
    moved(&business, "old-failed", &[ASSIGNED, PICKED_UP, "order.failed"]).await?;
    service.clock.advance(TimeDelta::days(7));
    moved(&business, "delivered", &[ASSIGNED, PICKED_UP, OUT, "order.delivered"]).await?;
    moved(&business, "returned", &[ASSIGNED, PICKED_UP, "order.failed", "order.returned"]).await?;
    moved(&business, "failed-early", &["order.failed"]).await?;
    moved(&business, "cancelled", &["order.cancelled"]).await?;
    moved(&business, "stuck", &[ASSIGNED, PICKED_UP]).await?;
    service.clock.advance(TimeDelta::days(2));
    moved(&business, "new", &[]).await?;
    moved(&business, "moving", &[ASSIGNED]).await?;
    business.test()?.create("test", &smallest_order("test")).await?.expect(201)?;

    let seen = live(business.id, today(&service.clock)).await?;
    let count = |status| StatusCount { status, orders: 1 };
    let expected = LiveOrders {
        last_at: Some(service.clock.now()),
        today: vec![count(DeliveryStatus::Created), count(DeliveryStatus::DriverAssigned)],
        ended: 3,
        delivered: 1,
        attention: ExceptionCounts { failed: 1, unassigned: 0, stuck: 1 },
        attention_limits,
    };
    assert_eq!(seen, expected);

    // A longer day counts more, and another business sees nothing of it.
    let all = live(business.id, service.clock.now() - TimeDelta::days(30)).await?;
    assert_eq!(all.today.iter().map(|count| count.orders).sum::<i64>(), 8);
    let other = service.business(1_000_000);
    assert_eq!(live(other.id, today(&service.clock)).await?, empty);

    // Of several businesses at once.
    let mut listed = orders.activity_of(&[business.id, other.id]).await?;
    listed.sort_by_key(|one| one.recent);
    let shown: Vec<_> = listed.iter().map(|one| (one.business_id, one.recent, one.last_at)).collect();
    assert_eq!(shown, [(other.id, 0, None), (business.id, 8, Some(service.clock.now()))]);

    let url = internal.join(&format!("internal/businesses/{}/orders/live?since=today", business.id))?;
    let token = service.settings.internal.token.expose();
    let refused = reqwest::Client::new().get(url).bearer_auth(token).send().await?;
    assert_eq!(refused.status(), 400);
    Ok(())
}

/// A decision about a failed delivery moves no parcel, and a delivered order is open until its cash is settled.
#[tokio::test(flavor = "multi_thread")]
async fn the_orders_that_keep_a_business_from_being_closed_are_counted() -> anyhow::Result<()> {
    const FAILED: [&str; 3] = ["driver.assigned", "order.picked_up", "order.failed"];
    let service = OrderApi::start().await;
    let business = service.business(1_000_000);
    let internal = test_kit::url(service.internal);
    let orders = OrdersClient(test_kit::peer("order-api", &internal, &service.settings.internal.token));

    moved(&business, "on-its-way", &FAILED[..2]).await?;
    moved(&business, "undecided", &FAILED).await?;
    for (reference, decision) in [("again", "reattempt"), ("back", "return")] {
        let order = business.place(reference).await?;
        business.fleet.drive(&order, &FAILED, 0).await?;
        let path = format!("/{order}/{decision}");
        business.live()?.call(Method::POST, &path, Some(&json!({}))).await?.expect(200)?;
    }
    // Delivered, collected, handed over, settled.
    let mut delivered = Vec::new();
    for steps in 4..=7 {
        let order = business.place(&format!("delivered-{steps}")).await?;
        business.fleet.drive(&order, &COD_DELIVERY[..steps], SAMPLE_CASH_PAISE).await?;
        delivered.push(order);
    }
    // Nothing is left of these.
    moved(&business, "failed-early", &["order.failed"]).await?;
    moved(&business, "cancelled", &["order.cancelled"]).await?;
    moved(&business, "returned", &[&FAILED[..], &["order.returned"]].concat()).await?;
    business.test()?.create("test", &smallest_order("test")).await?.expect(201)?;

    let open = OpenOrders { on_their_way: 1, failed: 3, cash: 3 };
    assert_eq!(orders.open(business.id).await?, open);
    assert_eq!(orders.open(service.business_id()).await?, OpenOrders::default());
    for (steps, order) in (4..=6).zip(&delivered) {
        business.fleet.drive(order, &COD_DELIVERY[steps..], SAMPLE_CASH_PAISE).await?;
    }
    assert_eq!(orders.open(business.id).await?, OpenOrders { cash: 0, ..open });
    Ok(())
}
