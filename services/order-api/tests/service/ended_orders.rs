//! What an order shows that ended without its delivery, and how a business finds it by its last change.

use std::collections::BTreeSet;

use diesel_async::SimpleAsyncConnection;
use reference_shop::NewOrder;
use reqwest::Method;
use serde_json::{Value, json};

use crate::business::Business;
use crate::harness::{OrderApi, text};

const FEE: i64 = 4_900;

async fn view(business: &Business, order: &str) -> anyhow::Result<Value> {
    business.live()?.call(Method::GET, &format!("/{order}"), None).await?.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_cash_is_awaited_and_the_refund_is_shown() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let cancelled = business.place(&NewOrder::sample("ended-cancelled")).await?;
    let before = view(&business, &cancelled).await?;
    assert_eq!((&before["codStatus"], &before["refundedPaise"]), (&json!("pending"), &json!(0)));
    let cancel = format!("/{cancelled}/cancel");
    let answer = business.live()?.call(Method::POST, &cancel, None).await?.expect(200)?;
    assert_eq!(answer["codStatus"], "not_applicable");
    let returned = business.place(&NewOrder::sample("ended-returned")).await?;
    let way = ["driver.assigned", "order.picked_up", "order.failed", "order.returned"];
    business.fleet.drive(&returned, &way, 0).await?;

    // As the former release leaves an order that it cancels.
    let former = "UPDATE orders SET cod_status = 'pending' WHERE status = 'cancelled'";
    service.connection().await.batch_execute(former).await?;
    for (order, refunded) in [(&cancelled, before["feeChargedPaise"].clone()), (&returned, json!(0))] {
        let after = view(&business, order).await?;
        assert_eq!((&after["codStatus"], &after["refundedPaise"]), (&json!("not_applicable"), &refunded));
        assert_eq!(after["feeChargedPaise"], before["feeChargedPaise"]);
    }
    Ok(())
}

/// The time of an order's last change is the database's, which nothing but a change moves.
#[tokio::test(flavor = "multi_thread")]
async fn orders_are_found_by_their_last_change() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let moved = business.place(&NewOrder::sample("changed")).await?;
    let still = business.place(&NewOrder::sample("unchanged")).await?;
    let placed = text(&view(&business, &still).await?, "updatedAt");
    business.live()?.call(Method::POST, &format!("/{moved}/cancel"), None).await?.expect(200)?;
    let changed = text(&view(&business, &moved).await?, "updatedAt");
    let found = async |after: &str| {
        let query = format!("?updatedAfter={}", after.replace('+', "%2B"));
        business.live()?.call(Method::GET, &query, None).await?.expect(200)
    };
    let ids = |page: &Value| -> BTreeSet<String> {
        page["data"].as_array().into_iter().flatten().map(|order| text(order, "id")).collect()
    };
    let both = BTreeSet::from([moved.clone(), still.clone()]);
    assert_eq!(ids(&found(&placed).await?), BTreeSet::from([moved]));
    assert_eq!(ids(&found(&changed).await?), BTreeSet::new());
    assert_eq!(ids(&found("2000-01-01T00:00:00Z").await?), both);
    let refused = business.live()?.call(Method::GET, "?updatedAfter=yesterday", None).await?;
    assert_eq!((refused.status.as_u16(), &refused.body["errors"][0]["field"]), (400, &json!("updatedAfter")));
    Ok(())
}
