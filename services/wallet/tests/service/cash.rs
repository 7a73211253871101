//! Cash on delivery: events about collecting, handing over and settling.

use domain::{BusinessId, CodStatus, DeliveryStatus, EventId, EventKind, Mode, OrderId, Paise, TrackingCode};
use events::{Body, Envelope, OrderEvent, OrderSnapshot, ProgressData, queues};
use internal_api::PageQuery;
use internal_api::cash::{CashOverview, CashQuery};
use messaging::Queue;
use test_kit::{refusal, until};

use crate::broker::{dead_letters, publish};
use crate::harness::Harness;
use crate::invariants::assert_consistent;

/// An event of a live order with ₹10 to collect.
pub(crate) fn event(
    harness: &Harness,
    business: BusinessId,
    order: OrderId,
    kind: EventKind,
    amount: Option<i64>,
) -> Envelope {
    let event = OrderEvent {
        event: kind,
        sequence: 7,
        mode: Mode::Live,
        order: OrderSnapshot {
            id: order,
            order_reference: "shop-1".into(),
            tracking_code: TrackingCode::generate(Mode::Live, &harness.entropy),
            tracking_url: "https://track.example/x".into(),
            status: DeliveryStatus::Delivered,
            cod_status: CodStatus::Pending,
        },
        data: ProgressData { cod_amount_paise: amount.map(Paise::new), ..ProgressData::default() },
        delivery_fee_paise: Paise::new(4_900),
        refund_due: false,
        cod_expected_paise: Some(Paise::new(1_000)),
        recorded_at: None,
    };
    Envelope {
        id: EventId::generate(&harness.clock, &harness.entropy),
        business_id: business,
        occurred_at: harness.clock.now(),
        body: Body::Order(Box::new(event)),
    }
}

const COLLECTED: EventKind = EventKind::CodCollected;
const HANDED_OVER: EventKind = EventKind::CodHandedOver;
const SETTLED: EventKind = EventKind::CodSettled;
const DELIVERED: EventKind = EventKind::OrderDelivered;

async fn overview(harness: &Harness, business: BusinessId) -> CashOverview {
    harness.wallet.cash(business, &CashQuery::default()).await.expect("an overview")
}

/// The balance of an account for one business.
async fn account(harness: &Harness, business: BusinessId, account: &str) -> i64 {
    let sum = format!(
        "SELECT coalesce(sum(amount_paise), 0) FROM entries
            WHERE business_id = '{business}' AND account = '{account}'"
    );
    harness.number(&sum).await
}

async fn accounts(harness: &Harness, business: BusinessId) -> [i64; 3] {
    let (payable, drivers, operator) = tokio::join!(
        account(harness, business, "cod_payable"),
        account(harness, business, "cod_with_drivers"),
        account(harness, business, "cod_with_operator"),
    );
    [payable, drivers, operator]
}

async fn await_events(harness: &Harness, count: i64) {
    let handled = "SELECT count(*) FROM inbox WHERE consumer = 'wallet.cash'";
    until("the events are handled", async || harness.number(handled).await == count).await;
}

#[tokio::test]
async fn cash_is_owed_from_its_collection_until_its_settlement() {
    let harness = Harness::connected().await;
    let (business, order) = (harness.business(), harness.order());
    let step = |kind, amount| event(&harness, business, order, kind, amount);

    let delivered = step(DELIVERED, None);
    publish(&harness, std::slice::from_ref(&delivered)).await;
    await_events(&harness, 1).await;
    let seen = overview(&harness, business).await;
    assert_eq!((seen.totals.outstanding_paise.get(), seen.totals.pending_paise.get()), (1_000, 1_000));
    assert_eq!((seen.data[0].status.as_str(), seen.data[0].order_reference.as_str()), ("pending", "shop-1"));
    assert_eq!(accounts(&harness, business).await, [0, 0, 0]);

    let collected = step(COLLECTED, Some(1_000));
    publish(&harness, &[collected.clone(), delivered, collected.clone()]).await;
    await_events(&harness, 2).await;
    let seen = overview(&harness, business).await;
    assert_eq!((seen.totals.with_drivers_paise.get(), seen.totals.pending_paise.get()), (1_000, 0));
    assert_eq!(accounts(&harness, business).await, [1_000, -1_000, 0]);

    publish(&harness, &[step(HANDED_OVER, Some(1_000))]).await;
    await_events(&harness, 3).await;
    assert_eq!(overview(&harness, business).await.totals.with_operator_paise.get(), 1_000);
    assert_eq!(accounts(&harness, business).await, [1_000, 0, -1_000]);

    publish(&harness, &[step(SETTLED, Some(1_000)), collected]).await;
    await_events(&harness, 4).await;
    let seen = overview(&harness, business).await;
    assert_eq!((seen.totals.outstanding_paise.get(), seen.totals.settled_recently_paise.get()), (0, 1_000));
    assert_eq!((seen.totals.discrepancies, seen.data[0].status.as_str()), (0, "settled"));
    assert!(!seen.data[0].discrepant);
    assert_eq!(accounts(&harness, business).await, [0, 0, 0]);
    assert_eq!(harness.number("SELECT count(*) FROM transfers").await, 3);
    assert_eq!(harness.balance(business).await, 0, "cash is in no wallet");
    assert_eq!(dead_letters(&harness, &Queue::shared(queues::CASH)).await, 0);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn missing_cash_stays_visible() {
    let harness = Harness::connected().await;
    let (business, short, none) = (harness.business(), harness.order(), harness.order());
    publish(
        &harness,
        &[
            event(&harness, business, short, COLLECTED, Some(1_000)),
            event(&harness, business, short, HANDED_OVER, Some(900)),
            event(&harness, business, none, COLLECTED, Some(0)),
        ],
    )
    .await;
    await_events(&harness, 3).await;
    // ₹1 is still with a driver.
    assert_eq!(accounts(&harness, business).await, [1_000, -100, -900]);
    let seen = overview(&harness, business).await;
    let held = (seen.totals.with_drivers_paise.get(), seen.totals.with_operator_paise.get());
    assert_eq!((held, seen.totals.handed_over_short_paise.get()), ((100, 900), 100));
    assert_eq!((seen.totals.discrepancies, seen.totals.outstanding_paise.get()), (2, 1_000));
    assert!(
        seen.data.iter().all(|order| order.discrepant && order.expected_paise == Some(Paise::new(1_000)))
    );

    let other = harness.business();
    let fine = harness.order();
    publish(&harness, &[event(&harness, other, fine, COLLECTED, Some(1_000))]).await;
    await_events(&harness, 4).await;
    let all = PageQuery { limit: 1, starting_after: None };
    let page = harness.wallet.cash_discrepancies(&all).await.unwrap();
    assert!(page.has_more);
    let next = PageQuery { limit: 1, starting_after: Some(page.data[0].order_id.to_string()) };
    let rest = harness.wallet.cash_discrepancies(&next).await.unwrap();
    assert!(!rest.has_more);
    let mut seen = [page.data[0].order_id, rest.data[0].order_id];
    seen.sort_unstable();
    let mut expected = [short, none];
    expected.sort_unstable();
    assert_eq!(seen, expected);
    assert_consistent(&harness).await;
}

/// The totals equal the balances of the ledger, whatever amounts were reported.
#[tokio::test]
async fn cash_that_is_settled_short_is_still_owed() {
    let harness = Harness::connected().await;
    let mut events = 0;
    for (collected, handed_over, settled, ages) in [
        (900, 900, 850, (1, 50)),
        (1_000, 900, 800, (1, 200)),
        (900, 900, 900, (0, 0)),
        (900, 900, 1_000, (1, -100)),
    ] {
        let (business, order) = (harness.business(), harness.order());
        let steps_of = [(COLLECTED, collected), (HANDED_OVER, handed_over), (SETTLED, settled)];
        for (kind, amount) in steps_of {
            publish(&harness, &[event(&harness, business, order, kind, Some(amount))]).await;
            events += 1;
            await_events(&harness, events).await;
            let totals = overview(&harness, business).await.totals;
            let reported = [totals.outstanding_paise, totals.with_drivers_paise, totals.with_operator_paise];
            let [payable, drivers, operator] = accounts(&harness, business).await;
            assert_eq!(reported.map(Paise::get), [payable, -drivers, -operator], "{kind} {amount}");
            assert_eq!(totals.pending_paise, Paise::ZERO);
        }
        let totals = overview(&harness, business).await.totals;
        assert_eq!((totals.outstanding_paise.get(), totals.ages[0].orders), (ages.1, ages.0));
        assert_eq!(totals.ages[0].amount_paise.get(), ages.1);
        assert_eq!(totals.discrepancies, 1);
    }
    // The operator sees three of them: the one that was only collected short has no outstanding cash.
    let all = harness.wallet.cash_of_all(&PageQuery { limit: 10, starting_after: None }).await.unwrap();
    let mut owed: Vec<_> = all.data.iter().map(|of| of.totals.outstanding_paise.get()).collect();
    owed.sort_unstable();
    assert_eq!(owed, [-100, 50, 200]);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn steps_may_arrive_in_any_order() {
    let harness = Harness::connected().await;
    let kinds = [(DELIVERED, None), (COLLECTED, Some(900)), (HANDED_OVER, Some(900)), (SETTLED, Some(900))];
    let mut published = 0;
    for rotation in 0..4 {
        let (business, order) = (harness.business(), harness.order());
        let mut events: Vec<_> =
            kinds.iter().map(|(kind, amount)| event(&harness, business, order, *kind, *amount)).collect();
        events.rotate_left(rotation);
        events.reverse();
        for event in &events {
            publish(&harness, std::slice::from_ref(event)).await;
            published += 1;
            await_events(&harness, published).await;
        }
        let seen = overview(&harness, business).await;
        assert_eq!((seen.data[0].status.as_str(), seen.totals.discrepancies), ("settled", 1));
        assert!(seen.data[0].delivered_at.is_some());
        assert_eq!(accounts(&harness, business).await, [0, 0, 0], "booked as reported");
    }
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn contradicting_events_become_dead_letters() {
    let harness = Harness::connected().await;
    let (business, other, order) = (harness.business(), harness.business(), harness.order());
    publish(&harness, &[event(&harness, business, order, COLLECTED, Some(1_000))]).await;
    await_events(&harness, 1).await;
    let mut prepaid = event(&harness, business, harness.order(), DELIVERED, None);
    if let Body::Order(event) = &mut prepaid.body {
        event.order.cod_status = CodStatus::NotApplicable;
    }
    publish(
        &harness,
        &[
            event(&harness, business, order, COLLECTED, Some(900)),
            event(&harness, other, order, HANDED_OVER, Some(1_000)),
            event(&harness, business, order, HANDED_OVER, None),
            event(&harness, business, order, HANDED_OVER, Some(-1)),
            prepaid,
        ],
    )
    .await;
    let queue = Queue::shared(queues::CASH);
    until("four dead letters", async || dead_letters(&harness, &queue).await == 4).await;
    assert_eq!(accounts(&harness, business).await, [1_000, -1_000, 0]);
    assert_eq!(harness.number("SELECT count(*) FROM cash").await, 1);
    // The database enforces this too.
    for change in
        ["UPDATE cash SET collected_paise = 1", "DELETE FROM cash", "UPDATE cash SET collected_at = NULL"]
    {
        let refused = harness.script(change).await.expect_err(change);
        let words = ["stays", "cash_steps_are_whole", "permission denied"];
        assert!(words.iter().any(|words| refused.contains(words)), "{change}: {refused}");
    }
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn totals_are_by_business_and_age_and_lists_are_filtered() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.business(), harness.business());
    let mut orders = Vec::new();
    for (days, kind, amount) in [
        (0, DELIVERED, None),
        (2, COLLECTED, Some(1_000)),
        (5, HANDED_OVER, Some(900)),
        (9, COLLECTED, Some(1_000)),
        (40, SETTLED, Some(1_000)),
    ] {
        let order = harness.order();
        let mut report = event(&harness, business, order, kind, amount);
        let recorded_at = report.occurred_at - chrono::TimeDelta::days(days);
        if let Body::Order(order) = &mut report.body {
            order.recorded_at = Some(recorded_at);
        }
        // Ages do not depend on the fleet's clock.
        report.occurred_at -= chrono::TimeDelta::days(300);
        publish(&harness, &[report]).await;
        orders.push(order);
    }
    publish(&harness, &[event(&harness, other, harness.order(), COLLECTED, Some(300))]).await;
    await_events(&harness, 6).await;

    let totals = overview(&harness, business).await.totals;
    let ages: Vec<_> =
        totals.ages.iter().map(|age| (age.days.as_str(), age.orders, age.amount_paise.get())).collect();
    assert_eq!(ages, [("0-1", 1, 1_000), ("1-3", 1, 1_000), ("3-7", 1, 1_000), ("7+", 1, 1_000)]);
    let held = (totals.with_drivers_paise.get(), totals.with_operator_paise.get());
    assert_eq!(
        (totals.outstanding_paise.get(), totals.pending_paise.get(), held),
        (4_000, 1_000, (2_100, 900))
    );
    assert_eq!((totals.settled_recently_paise.get(), totals.discrepancies), (0, 1), "that was 40 days ago");

    let list = async |status: Option<&str>, discrepant: Option<&str>| -> Vec<OrderId> {
        let query = CashQuery {
            status: status.map(Into::into),
            discrepant: discrepant.map(Into::into),
            ..CashQuery::default()
        };
        let seen = harness.wallet.cash(business, &query).await.unwrap();
        seen.data.into_iter().map(|order| order.order_id).collect()
    };
    assert_eq!(list(Some("pending"), None).await, [orders[0]]);
    assert_eq!(list(Some("collected"), None).await, [orders[3], orders[1]]);
    assert_eq!(list(Some("handed_over"), None).await, [orders[2]]);
    assert_eq!(list(Some("settled"), Some("false")).await, [orders[4]]);
    assert_eq!(list(None, Some("true")).await, [orders[2]]);
    assert_eq!(list(None, Some("false")).await, [orders[4], orders[3], orders[1], orders[0]]);

    let due = async |from: Option<i64>, until: Option<i64>| -> Vec<OrderId> {
        let time = |days: i64| {
            let time = harness.clock.now() - chrono::TimeDelta::days(days) - chrono::TimeDelta::hours(12);
            time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
        };
        let query =
            CashQuery { due_from: from.map(time), due_until: until.map(time), ..CashQuery::default() };
        let seen = harness.wallet.cash(business, &query).await.unwrap();
        seen.data.into_iter().map(|order| order.order_id).collect()
    };
    assert_eq!(due(Some(8), Some(1)).await, [orders[2], orders[1]]);
    assert_eq!(due(Some(5), None).await, [orders[2], orders[1], orders[0]]);
    assert_eq!(due(None, Some(5)).await, [orders[4], orders[3]]);

    let page = harness.wallet.cash_of_all(&PageQuery { limit: 1, starting_after: None }).await.unwrap();
    assert!(page.has_more);
    let mut both = [business, other];
    both.sort_unstable();
    assert_eq!(page.data[0].business_id, both[0]);
    let after = PageQuery { limit: 1, starting_after: Some(both[0].to_string()) };
    let rest = harness.wallet.cash_of_all(&after).await.unwrap();
    assert_eq!((rest.data[0].business_id, rest.has_more), (both[1], false));

    // An order of another business is not a valid cursor.
    let foreign = CashQuery { starting_after: Some(orders[0].to_string()), ..CashQuery::default() };
    assert_eq!(refusal(harness.wallet.cash(other, &foreign).await).status, 400);
}

#[tokio::test]
async fn a_wrong_filter_is_named() {
    let harness = Harness::connected().await;
    let business = harness.business();
    for (field, query) in [
        ("status", CashQuery { status: Some("lost".into()), ..CashQuery::default() }),
        ("discrepant", CashQuery { discrepant: Some("perhaps".into()), ..CashQuery::default() }),
        ("dueFrom", CashQuery { due_from: Some("monday".into()), ..CashQuery::default() }),
        ("dueUntil", CashQuery { due_until: Some("sunday".into()), ..CashQuery::default() }),
        // The first time that chrono can hold, and one that PostgreSQL cannot.
        ("dueFrom", CashQuery { due_from: Some("-262143-01-01T00:00:00Z".into()), ..CashQuery::default() }),
        ("dueUntil", CashQuery { due_until: Some("-200000-01-01T00:00:00Z".into()), ..CashQuery::default() }),
        ("differs", CashQuery { differs: Some("perhaps".into()), ..CashQuery::default() }),
        ("orderId", CashQuery { order_id: Some("shop-1".into()), ..CashQuery::default() }),
        (
            "startingAfter",
            CashQuery { starting_after: Some(harness.order().to_string()), ..CashQuery::default() },
        ),
        ("startingAfter", CashQuery { starting_after: Some("x".into()), ..CashQuery::default() }),
    ] {
        let refused = refusal(harness.wallet.cash(business, &query).await);
        assert_eq!((refused.status, &refused.rest["errors"][0]["field"]), (400, &serde_json::json!(field)));
    }
}
