//! Announcements of erasures.

use chrono::TimeDelta;
use domain::OrderId;
use internal_api::orders::OrdersClient;
use reqwest::Method;
use serde_json::json;
use test_kit::{smallest_order, until};

use crate::harness::{OrderApi, text};

const FEE: i64 = 4_900;

/// An order that was never placed was never announced. After a top-up, a retry takes it over under the same id:
/// services that believed it to be erased would drop the personal data of the placed order.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_erasure_of_a_placed_order_is_announced() -> anyhow::Result<()> {
    let service = OrderApi::connected().await;
    let received = service.listen().await;
    let business = service.business(0);
    let live = business.live()?;
    let order = smallest_order("refused");
    live.create("refused", &order).await?.expect(402)?;
    // Ids follow the clock, and what is erased together is announced in the order of the ids.
    service.clock.advance(TimeDelta::seconds(1));
    service.peers.set_balance(business.id, FEE);
    let placed: OrderId =
        text(&live.create("placed", &smallest_order("placed")).await?.expect(201)?, "id").parse()?;
    live.call(Method::POST, &format!("/{placed}/cancel"), Some(&json!({}))).await?.expect(200)?;
    service.clock.advance(TimeDelta::seconds(1));

    let internal = test_kit::url(service.internal);
    let orders = OrdersClient(test_kit::peer("order-api", &internal, &service.settings.internal.token));
    orders.begin_erasure(business.id).await?;
    until("both are erased", async || {
        service.count("orders WHERE personal_data_erased_at IS NOT NULL").await == 2
    })
    .await;
    until("an erasure is announced", async || received.erased().contains(&placed)).await;
    assert_eq!(received.erased(), [placed]);

    service.peers.set_balance(business.id, FEE);
    let taken_over = text(&live.create("refused", &order).await?.expect(201)?, "id");
    let whole = format!("orders WHERE id = '{taken_over}' AND personal_data_erased_at IS NULL");
    assert_eq!(service.count(&whole).await, 1);
    Ok(())
}

/// Most test orders never end.
#[tokio::test(flavor = "multi_thread")]
async fn all_orders_of_a_closed_business_are_erased_in_any_state() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let (business, other) = (service.business(FEE * 10), service.business(FEE));
    business.test()?.create("test", &smallest_order("test")).await?.expect(201)?;
    other.test()?.create("other", &smallest_order("other")).await?.expect(201)?;
    let failed = business.place("failed").await?;
    business.fleet.drive(&failed, &["driver.assigned", "order.picked_up", "order.failed"], 0).await?;
    business.place("placed").await?;
    service.clock.advance(TimeDelta::seconds(1));

    let internal = test_kit::url(service.internal);
    let orders = OrdersClient(test_kit::peer("order-api", &internal, &service.settings.internal.token));
    let done = async || {
        until("the erasure is completed", async || {
            let latest = orders.latest_erasure(business.id).await.unwrap().erasure;
            latest.is_some_and(|erasure| erasure.completed_at.is_some())
        })
        .await;
        orders.latest_erasure(business.id).await.map(|latest| latest.erasure)
    };
    orders.begin_erasure(business.id).await?;
    let completed = done().await?.map(|erasure| (erasure.everything, erasure.erased, erasure.not_completed));
    assert_eq!(completed, Some((false, 0, 3)));
    service.clock.advance(TimeDelta::seconds(1));
    assert!(orders.begin_whole_erasure(business.id).await?.everything);
    let whole = done().await?.map(|erasure| (erasure.everything, erasure.erased, erasure.not_completed));
    assert_eq!(whole, Some((true, 3, 0)));
    assert_eq!(
        service.count("orders WHERE personal_data_erased_at IS NULL").await,
        1,
        "of the other business"
    );
    Ok(())
}
