//! The orders that need attention: those of a business, and of all businesses for the operator.

use chrono::TimeDelta;
use domain::BusinessId;
use internal_api::CallError;
use internal_api::orders::DecisionFilter;
use internal_api::orders::ExceptionKind::{Failed, Stuck, Unassigned};
use serde_json::json;
use test_kit::smallest_order;

use crate::after_failure::{again, failed, portal, post};
use crate::business::Business;
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
        let page = orders.exceptions_anywhere(kind, None, business, None).await?;
        let found = page.data.iter().map(|one| (one.order.order.order_reference.as_str(), one.business_id));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{kind:?} of {business:?}");
        assert_eq!((page.attempts_max, page.has_more), (3, false));
        let wanted = if business.is_some() { 1 } else { 2 };
        assert_eq!(page.counts.failed, wanted, "{business:?}");
    }
    // All go to one address, in Bengaluru.
    for (area, wanted) in
        [("bengal", 2), ("5600", 2), ("560038", 2), ("560 038", 2), ("engal", 0), ("560039", 0), ("%", 0)]
    {
        let page = orders.exceptions_anywhere(Failed, None, None, Some(area.to_owned())).await?;
        let found = (i64::try_from(page.data.len())?, page.counts.failed);
        assert_eq!(found, (wanted, wanted), "{area}");
    }
    let counts = orders.exception_counts().await?;
    assert_eq!((counts.failed, counts.unassigned, counts.stuck), (2, 1, 1));
    // All orders that ever failed are many.
    let explain = "SET enable_seqscan = off; SET enable_bitmapscan = off;
        EXPLAIN (COSTS OFF) SELECT id FROM orders
        WHERE mode = 'live' AND placement = 'placed' AND status = 'failed' AND picked_up
            AND (after_failure->'decided' IS NULL OR after_failure #>> '{decided,on}' < '2026-01-01')
        ORDER BY updated_at DESC, id DESC LIMIT 100";
    let plan = local_stack::query(service.settings.database.url.expose(), explain).await?;
    assert!(plan.contains("orders_failed") && !plan.contains("Sort"), "{plan}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_that_do_not_move_on_need_attention() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let (business, stranger) = (service.business(BALANCE), service.business(BALANCE));
    let portal = portal(&service)?;
    let seen = async |of: &Business| -> Result<_, CallError> {
        let mut seen = Vec::new();
        for kind in [Failed, Unassigned, Stuck] {
            let page = portal.exceptions(of.id, kind, None).await?;
            let counts = [page.counts.failed, page.counts.unassigned, page.counts.stuck];
            assert_eq!(counts[seen.len()], i64::try_from(page.data.len()).unwrap(), "{kind:?}");
            assert_eq!((page.attempts_max, page.has_more), (3, false));
            let references: Vec<_> = page.data.into_iter().map(|found| found.order.order_reference).collect();
            seen.push(references.join(" "));
        }
        Ok(seen)
    };
    failed(&business, "undecided").await?;
    service.clock.advance(TimeDelta::seconds(1));
    let decided = failed(&business, "decided").await?;
    post(&business, &decided, "reattempt", json!({ "date": "2027-01-16" })).await?.expect(200)?;
    service.clock.advance(TimeDelta::seconds(1));
    let back = failed(&business, "back").await?;
    post(&business, &back, "return", json!({})).await?.expect(200)?;
    business.fleet.drive(&business.place("early").await?, &["order.failed"], 0).await?;
    let waiting = business.place("waiting").await?;
    let moving = business.place("moving").await?;
    business.fleet.drive(&moving, &["driver.assigned"], 0).await?;
    business.test()?.create("test", &smallest_order("test")).await?.expect(201)?;
    stranger.place("of-a-stranger").await?;

    let by = async |of: &Business, kind, decision| -> Result<String, CallError> {
        let found = portal.exceptions(of.id, kind, Some(decision)).await?.data.into_iter();
        Ok(found.map(|found| found.order.order_reference).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(seen(&business).await?, ["undecided", "", ""], "nothing else is late");
    assert_eq!(by(&business, Failed, DecisionFilter::Pending).await?, "back decided", "newest first");
    assert_eq!(by(&stranger, Failed, DecisionFilter::Pending).await?, "");
    service.clock.advance(TimeDelta::minutes(31));
    assert_eq!(seen(&business).await?, ["undecided", "waiting", ""]);
    service.clock.advance(TimeDelta::hours(4));
    assert_eq!(seen(&business).await?, ["back undecided", "waiting", "moving"], "newest first");
    service.clock.advance(TimeDelta::days(2));
    assert_eq!(seen(&business).await?, ["back decided undecided", "waiting", "moving"]);
    assert_eq!(seen(&stranger).await?, ["", "of-a-stranger", ""]);
    for order in [&moving, &waiting, &back] {
        let phone = json!({ "phone": "+919812300000" });
        post(&business, order, "delivery-details", phone).await?.expect(200)?;
    }
    let corrected = ["back decided undecided", "waiting", "moving"];
    assert_eq!(seen(&business).await?, corrected, "a correction is no news of the fleet");
    for (decision, expected) in [
        (DecisionFilter::Asked, "back decided"),
        (DecisionFilter::None, "undecided"),
        (DecisionFilter::Pending, "back decided"),
    ] {
        assert_eq!(by(&business, Failed, decision).await?, expected);
        let all = portal.exceptions_anywhere(Failed, Some(decision), None, None).await?.data.into_iter();
        let all: Vec<_> = all.map(|found| found.order.order.order_reference).collect();
        assert_eq!(all.join(" "), expected);
    }
    let page = portal.exceptions(business.id, Failed, None).await?;
    let back = page.data.iter().find(|found| found.order.id.to_string() == back).expect("the order");
    assert!(back.since.is_some_and(|since| since < back.order.updated_at - TimeDelta::days(2)));
    assert_eq!(page.limits.map(|limits| limits.unassigned_minutes), Some(30));
    business.fleet.drive(&moving, &["order.picked_up"], 0).await?;
    assert_eq!(seen(&business).await?, ["back decided undecided", "waiting", ""]);
    // An attempt that began keeps its decision, and waits for nothing.
    again(&business, &decided, 2, "driver.assigned").await?;
    service.clock.advance(TimeDelta::hours(5));
    assert_eq!(by(&business, Failed, DecisionFilter::Pending).await?, "back");
    assert_eq!(by(&business, Stuck, DecisionFilter::Asked).await?, "decided");
    assert_eq!(by(&business, Stuck, DecisionFilter::Pending).await?, "");
    Ok(())
}
