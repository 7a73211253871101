//! The service with only the rights of `grants.sql`, as in production, where another role owns the tables.

use domain::{CodStatus, EventKind, Paise};
use internal_api::wallet::DebitOutcome;
use serde_json::json;
use test_kit::until;

use crate::broker::publish;
use crate::fake_razorpay::{FakeRazorpay, WEBHOOK_SECRET, event as payment_event, sign};
use crate::harness::Harness;
use crate::invariants::assert_consistent;
use crate::reconciliation::fake_orders::FakeOrders;
use crate::{cash, cash_months, process, refunds, remittances};

#[tokio::test]
async fn the_granted_rights_suffice() {
    let (orders, razorpay) = (FakeOrders::start(), FakeRazorpay::start());
    let harness = Harness::start_with_granted_rights(|settings| {
        orders.settings(settings);
        settings.payments = razorpay.settings();
        settings.reconciliation.interval_seconds = 1;
    })
    .await;
    let business = harness.funded(1_000).await;
    let top_up = harness.wallet.top_up(business, Some("k1"), &json!({"amountPaise": 500})).await.unwrap();
    let order = top_up.checkout.expect("a checkout").order_id;
    let body = payment_event("order.paid", &razorpay.pay(&order, "pay_1", 500, "captured"));
    let signature = sign(&body, WEBHOOK_SECRET);
    let notice = internal_api::wallet::PaymentNotice { signature, body };
    assert_eq!(harness.wallet.payment_notice("razorpay", &notice).await.unwrap().outcome, "credited");
    let debit = json!({"amountPaise": 200, "reference": "correction"});
    harness.wallet.debit_by_operator(business, &debit).await.unwrap();
    harness.credit(business, 200, "correction").await;
    harness.wallet.set_threshold(business, &json!({"thresholdPaise": 1_450})).await.unwrap();

    let (paid, back, poor, voided) = (harness.order(), harness.order(), harness.order(), harness.order());
    // As order-api does it: the reconciliation may run between two steps.
    let pay = async |order| {
        orders.place(order, business, 100, harness.clock.now());
        orders.change(order, |order| order.placed = false);
        assert_eq!(harness.debit(business, order, 1, 100).await.unwrap().outcome, DebitOutcome::Posted);
        orders.change(order, |order| order.placed = true);
    };
    for order in [paid, back] {
        pay(order).await;
    }
    assert_eq!(harness.debit(business, poor, 1, 9_000).await.unwrap().outcome, DebitOutcome::Rejected);
    assert_eq!(harness.void(business, voided, 1, 100).await.unwrap().outcome, DebitOutcome::Voided);
    orders.change(back, |order| order.refund_due = true);
    let ended = refunds::ended(&harness, EventKind::OrderCancelled, back);
    let mut events = vec![refunds::envelope(&harness, business, ended)];
    // Changed just now: until the ledger has the cash, it is under way.
    let now = harness.clock.now();
    orders.change(paid, |order| {
        order.cod_amount_paise = Paise::new(1_000);
        (order.cod_status, order.changed_at) = (CodStatus::Settled, now);
    });
    for kind in
        [EventKind::OrderDelivered, EventKind::CodCollected, EventKind::CodHandedOver, EventKind::CodSettled]
    {
        let amount = (kind != EventKind::OrderDelivered).then_some(1_000);
        events.push(cash::event(&harness, business, paid, kind, amount));
    }
    publish(&harness, &events).await;
    until("the fee is back", async || harness.balance(business).await == 1_400).await;
    let settled = "SELECT count(*) FROM cash WHERE settled_at IS NOT NULL AND delivered_at IS NOT NULL";
    until("the cash is settled", async || harness.number(settled).await == 1).await;
    let held = harness.order();
    pay(held).await;
    orders.change(held, |order| {
        order.cod_amount_paise = Paise::new(1_000);
        (order.cod_status, order.changed_at) = (CodStatus::Settled, harness.clock.now());
    });
    let report = cash::event(&harness, business, held, EventKind::CodHandedOver, Some(1_000));
    publish(&harness, &[report]).await;
    until("the cash is handed over", async || {
        harness.number("SELECT count(*) FROM cash WHERE handed_over_at IS NOT NULL").await == 2
    })
    .await;
    remittances::remit(&harness, business, held).await;
    assert_eq!(cash_months::stored(&harness, business).await, (2, [2_000, 2_000, 0]));
    until("all events to be announced", async || {
        harness.number("SELECT count(*) FROM outbox_messages").await == 0
    })
    .await;
    let runs = "SELECT count(*) FROM reconciliation_runs WHERE completed_at IS NOT NULL";
    until("a completed reconciliation run", async || harness.number(runs).await == 1).await;
    assert_eq!(harness.number("SELECT count(*) FROM reconciliation_findings").await, 0);
    assert_consistent(&harness).await;
}

/// The program waits until it may read all tables.
#[tokio::test]
async fn the_program_serves_with_the_granted_rights() {
    let harness = Harness::start_with_granted_rights(|_| {}).await;
    let (program, _) = process::serve(&harness).await;
    program.stop();
}

#[tokio::test]
async fn the_granted_rights_do_not_allow_changing_the_ledger_or_its_triggers() {
    let harness = Harness::start_with_granted_rights(|_| {}).await;
    let business = harness.funded(1_000).await;
    harness.debit(business, harness.order(), 1, 100).await.expect("a debit");
    for table in [
        "wallets",
        "transfers",
        "entries",
        "debits",
        "top_ups",
        "payment_notices",
        "cash",
        "remittances",
        "remittance_orders",
    ] {
        // PostgreSQL only warns and grants nothing.
        harness.script(&format!("GRANT ALL ON {table} TO CURRENT_USER")).await.unwrap();
        for change in [
            format!("UPDATE {table} SET business_id = 'biz_x'"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table} CASCADE"),
            format!("ALTER TABLE {table} DISABLE TRIGGER USER"),
            format!("DROP TABLE {table} CASCADE"),
        ] {
            let error = harness.script(&change).await.expect_err(&change);
            let refused = ["permission denied", "must be owner"].iter().any(|words| error.contains(words));
            assert!(refused, "{change}: {error}");
        }
    }
    for change in [
        "UPDATE top_ups SET amount_paise = 1",
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE TABLE mine (id TEXT)",
        "SET session_replication_role = replica",
    ] {
        let error = harness.script(change).await.expect_err(change);
        let refused = ["permission denied", "must be owner"].iter().any(|words| error.contains(words));
        assert!(refused, "{change}: {error}");
    }
    assert_consistent(&harness).await;
}
