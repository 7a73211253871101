//! Inconsistencies between orders and the ledger, and incomplete checks.

use chrono::TimeDelta;
use domain::{Mode, Paise};

use super::scene::{Scene, Watch};
use test_kit::until;

#[tokio::test]
async fn inconsistent_orders_and_debits_are_found() {
    let scene = Scene::start_with(|settings| settings.reconciliation.chunk_rows = 2).await;
    let harness = &scene.harness;
    let (business, other) = (harness.funded(10_000).await, harness.funded(10_000).await);
    let mut paid = Vec::new();
    for _ in 0..8 {
        paid.push(scene.paid_order(business).await);
    }
    let fee = scene.fee_of(paid[5]).await;
    let mut watch = Watch::begin(&scene).await;

    let unpaid = harness.order();
    scene.orders.place(unpaid, business, 100, harness.clock.now());
    watch.expect("an order without a debit", &[("order_without_debit", &unpaid)]).await;
    scene.orders.forget(paid[0]);
    watch.expect("a debit without an order", &[("debit_without_order", &paid[0])]).await;
    scene.orders.change(paid[1], |order| order.delivery_fee_paise = Paise::new(101));
    watch.expect("another amount", &[("debit_differs_from_order", &paid[1])]).await;
    scene.orders.change(paid[2], |order| order.business_id = other);
    watch.expect("another business", &[("debit_differs_from_order", &paid[2])]).await;
    scene.orders.change(paid[3], |order| order.refund_due = true);
    watch.expect("a missing refund", &[("refund_missing", &paid[3])]).await;
    scene.post(business, "refund", &format!("'{}', NULL, '{fee}'", paid[5]), 100).await;
    watch.expect("a refund too many", &[("refund_not_due", &paid[5])]).await;
    scene.orders.change(paid[6], |order| order.mode = Mode::Test);
    watch.expect("a test order that paid", &[("test_order_debited", &paid[6])]).await;
    let tested = harness.order();
    scene.orders.place(tested, business, 100, harness.clock.now());
    scene.orders.change(tested, |order| order.mode = Mode::Test);
    watch.expect("a test order", &[]).await;
    harness.void(business, tested, 1, 100).await.expect("a tombstone");
    watch.expect("a test order that was to pay", &[("test_order_debited", &tested)]).await;
}

#[tokio::test]
async fn inconsistent_orders_and_cash_are_found() {
    let scene = Scene::start_with(|settings| settings.reconciliation.chunk_rows = 2).await;
    let harness = &scene.harness;
    let (business, other) = (harness.funded(10_000).await, harness.business());
    let mut orders = Vec::new();
    for _ in 0..4 {
        let order = scene.paid_order(business).await;
        scene
            .sql(&format!(
                "INSERT INTO cash (order_id, business_id, order_reference, expected_paise, delivered_at)
                    VALUES ('{order}', '{business}', 'x', 700, now())"
            ))
            .await;
        orders.push(order);
    }
    let mut watch = Watch::begin(&scene).await;
    // The database refuses to change the amount that the delivery reported.
    let change = format!("UPDATE cash SET expected_paise = 600 WHERE order_id = '{}'", orders[0]);
    let refused = harness.script(&change).await.expect_err("the expected amount stays");
    assert!(refused.contains("stays"), "{refused}");
    scene.disarm().await;
    scene.sql(&change).await;
    watch.expect("another amount", &[("cash_differs_from_order", &orders[0])]).await;
    scene.orders.change(orders[1], |order| order.cod_amount_paise = Paise::ZERO);
    watch.expect("a prepaid order", &[("cash_differs_from_order", &orders[1])]).await;
    let moved = format!("UPDATE cash SET business_id = '{other}' WHERE order_id = '{}'", orders[2]);
    scene.sql(&moved).await;
    watch.expect("another business", &[("cash_differs_from_order", &orders[2])]).await;
    scene.sql(&format!("DELETE FROM cash WHERE order_id = '{}'", orders[3])).await;
    scene.orders.change(orders[3], |order| order.delivered = true);
    watch.expect("a delivered order without cash", &[("cash_missing", &orders[3])]).await;
    let nowhere = harness.order();
    let invented = format!(
        "INSERT INTO cash (order_id, business_id, order_reference, delivered_at)
            VALUES ('{nowhere}', '{business}', 'x', now())"
    );
    scene.sql(&invented).await;
    watch.expect("cash without an order", &[("cash_differs_from_order", &nowhere)]).await;
}

/// The age of the transfer counts, not that of the order.
#[tokio::test]
async fn an_old_order_with_a_new_debit_counts_as_new() {
    let scene = Scene::start().await;
    let business = scene.harness.funded(10_000).await;
    let clock = domain::Clock::manual(scene.harness.clock.now() - TimeDelta::days(90));
    let old = domain::OrderId::generate(&clock, &scene.harness.entropy);
    scene.harness.debit(business, old, 3, 100).await.expect("a debit");
    let since = (scene.harness.clock.now() - TimeDelta::hours(1)).to_rfc3339();
    let (code, text) = scene.run(&["--since", &since]).await;
    assert_eq!(code, 1, "{text}");
    assert!(text.contains(&format!("debit_without_order {old}: ")), "{text}");
    assert!(text.contains("  debits: 0\n"), "{text}");
}

#[tokio::test]
async fn steps_under_way_get_time_to_complete() {
    let scene = Scene::start().await;
    let (harness, orders) = (&scene.harness, &scene.orders);
    let business = harness.funded(10_000).await;
    let (pending, ended) = (scene.paid_order(business).await, scene.paid_order(business).await);
    orders.change(pending, |order| order.placed = false);
    orders.change(ended, |order| (order.refund_due, order.changed_at) = (true, harness.clock.now()));
    // Too recent for a finding, and no patience: reported as in progress.
    let (code, text) = scene.run(&["--patience", "0"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("2 steps between the services are in progress\n"), "{text}");

    // Old, and missing at the first check; completed while the command waits.
    scene.disarm().await;
    scene.sql("UPDATE debits SET created_at = now() - interval '1 hour'").await;
    orders.change(ended, |order| order.changed_at = harness.clock.now() - TimeDelta::hours(1));
    let fee = scene.fee_of(ended).await;
    let queries = || [pending, ended].map(|order| orders.queries_for(order));
    // The run without patience queried each order twice, so after as many queries again the command waits for both.
    let [pending_queries, ended_queries] = queries().map(|times| 2 * times);
    let complete = async {
        until("the command to wait for both", async || {
            queries()[0] >= pending_queries && queries()[1] >= ended_queries
        })
        .await;
        orders.change(pending, |order| order.placed = true);
        scene.post(business, "refund", &format!("'{ended}', NULL, '{fee}'"), 100).await;
    };
    let ((code, text), ()) = tokio::join!(scene.run(&["--patience", "60"]), complete);
    assert_eq!(code, 0, "{text}");
    assert!(text.ends_with("clean\n") && !text.contains("in progress"), "{text}");

    // Old, and never completed.
    orders.change(pending, |order| order.placed = false);
    let found = scene.findings().await;
    assert_eq!(Vec::from_iter(found), [format!("debit_without_order {pending}")]);
}

#[tokio::test]
async fn an_incomplete_check_is_not_clean() {
    let scene = Scene::start().await;
    let business = scene.harness.funded(10_000).await;
    let order = scene.paid_order(business).await;
    scene.orders.set_unavailable(true);
    let (code, text) = scene.run(&[]).await;
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("could not check everything: order-api is unavailable"), "{text}");
    assert!(!text.contains("clean"), "{text}");

    // Findings without order-api are reported, but may be incomplete.
    scene.disarm().await;
    scene.sql(&format!("DELETE FROM debits WHERE order_id = '{order}'")).await;
    let (code, text) = scene.run(&[]).await;
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("fee_without_debit trf_"), "{text}");

    for bad in [&["--since", "yesterday"][..], &["everything"]] {
        let (code, text) = scene.run(bad).await;
        assert_eq!(code, 2, "{text}");
    }
    scene.sql("DROP TABLE debits CASCADE").await;
    let (code, text) = scene.run(&[]).await;
    assert_eq!(code, 2, "{text}");
}
