//! The live orders that keep a business from being closed.

use demo::SAMPLE_CASH_PAISE;
use demo::clients::COD_DELIVERY;
use internal_api::orders::OrdersClient;
use internal_api::orders::open::OpenOrders;
use reqwest::Method;
use serde_json::json;
use test_kit::smallest_order;

use crate::harness::OrderApi;

/// A decision about a failed delivery moves no parcel, and a delivered order is open until its cash is settled.
#[tokio::test(flavor = "multi_thread")]
async fn the_orders_that_keep_a_business_from_being_closed_are_counted() -> anyhow::Result<()> {
    const FAILED: [&str; 3] = ["driver.assigned", "order.picked_up", "order.failed"];
    let service = OrderApi::start().await;
    let business = service.business(1_000_000);
    let internal = test_kit::url(service.internal);
    let orders = OrdersClient(test_kit::peer("order-api", &internal, &service.settings.internal.token));

    let moved = async |reference: &str, events: &[&str]| -> anyhow::Result<String> {
        let order = business.place(reference).await?;
        business.fleet.drive(&order, events, SAMPLE_CASH_PAISE).await?;
        Ok(order)
    };
    moved("on-its-way", &FAILED[..2]).await?;
    moved("undecided", &FAILED).await?;
    for (reference, decision) in [("again", "reattempt"), ("back", "return")] {
        let order = moved(reference, &FAILED).await?;
        let path = format!("/{order}/{decision}");
        business.live()?.call(Method::POST, &path, Some(&json!({}))).await?.expect(200)?;
    }
    // Delivered, collected, handed over, settled.
    let mut delivered = Vec::new();
    for steps in 4..=7 {
        delivered.push(moved(&format!("delivered-{steps}"), &COD_DELIVERY[..steps]).await?);
    }
    // Nothing is left of these.
    moved("failed-early", &["order.failed"]).await?;
    moved("cancelled", &["order.cancelled"]).await?;
    moved("returned", &[&FAILED[..], &["order.returned"]].concat()).await?;
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
