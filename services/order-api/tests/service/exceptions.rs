//! The orders of all businesses that need attention, for the operator.

use chrono::TimeDelta;
use domain::BusinessId;
use internal_api::orders::ExceptionKind::{Failed, Stuck, Unassigned};

use crate::after_failure::{failed, portal};
use crate::harness::OrderApi;

const BALANCE: i64 = 50_000;

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_sees_the_orders_of_all_businesses_or_of_one() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let (first, second) = (service.business(BALANCE), service.business(BALANCE));
    let orders = portal(&service)?;
    failed(&first, "failed").await?;
    service.clock.advance(TimeDelta::seconds(1));
    failed(&second, "failed-later").await?;
    first.place("waiting").await?;
    let moving = second.place("moving").await?;
    second.fleet.drive(&moving, &["driver.assigned"], 0).await?;
    service.clock.advance(TimeDelta::hours(5));
    first.place("new").await?;

    let all: [(_, _, &[(&str, BusinessId)]); 6] = [
        (Failed, None, &[("failed-later", second.id), ("failed", first.id)]),
        (Unassigned, None, &[("waiting", first.id)]),
        (Stuck, None, &[("moving", second.id)]),
        (Failed, Some(first.id), &[("failed", first.id)]),
        (Unassigned, Some(second.id), &[]),
        (Stuck, Some(second.id), &[("moving", second.id)]),
    ];
    for (kind, business, expected) in all {
        let page = orders.exceptions_anywhere(kind, business).await?;
        let found = page.data.iter().map(|one| (one.order.order_reference.as_str(), one.business_id));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{kind:?} of {business:?}");
        assert_eq!((page.attempts_max, page.has_more), (3, false));
        let wanted = if business.is_some() { 1 } else { 2 };
        assert_eq!(page.counts.failed, wanted, "{business:?}");
    }
    let counts = orders.exception_counts().await?;
    assert_eq!((counts.failed, counts.unassigned, counts.stuck), (2, 1, 1));
    Ok(())
}
