//! The service as in production: the tables are another role's, and it has the rights of `deploy/grants/wallet.sql` alone.

use domain::EventKind;
use internal_api::wallet::DebitOutcome;
use serde_json::json;
use test_kit::until;

use crate::books::assert_sound;
use crate::broker::publish;
use crate::fake_razorpay::{FakeRazorpay, WEBHOOK_SECRET, event as payment_event, sign};
use crate::harness::Harness;
use crate::reconciliation::fake_orders::FakeOrders;
use crate::{cash, refunds};

#[tokio::test]
async fn the_service_does_all_it_does_with_the_rights_it_is_granted() {
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
    harness.wallet.set_threshold(business, &json!({"thresholdPaise": 1_450})).await.unwrap();

    let (paid, back, poor, voided) = (harness.order(), harness.order(), harness.order(), harness.order());
    for order in [paid, back] {
        orders.place(order, business, 100, harness.clock.now());
        assert_eq!(harness.debit(business, order, 1, 100).await.unwrap().outcome, DebitOutcome::Posted);
    }
    assert_eq!(harness.debit(business, poor, 1, 9_000).await.unwrap().outcome, DebitOutcome::Rejected);
    assert_eq!(harness.void(business, voided, 1, 100).await.unwrap().outcome, DebitOutcome::Voided);
    orders.change(back, |order| order.refund_due = true);
    let ended = refunds::ended(&harness, EventKind::OrderCancelled, back);
    let mut events = vec![refunds::envelope(&harness, business, ended)];
    orders.change(paid, |order| order.cod_amount_paise = Some(domain::Paise::new(1_000)));
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
    until("what was to be told is told", async || {
        harness.number("SELECT count(*) FROM outbox_messages").await == 0
    })
    .await;
    let turns = "SELECT count(*) FROM reconciliation_runs WHERE completed_at IS NOT NULL";
    until("a turn of reconciliation", async || harness.number(turns).await == 1).await;
    assert_eq!(harness.number("SELECT count(*) FROM reconciliation_findings").await, 0);
    assert_sound(&harness).await;
}

#[tokio::test]
async fn the_service_cannot_change_what_is_written_nor_what_protects_it() {
    let harness = Harness::start_with_granted_rights(|_| {}).await;
    let business = harness.funded(1_000).await;
    harness.debit(business, harness.order(), 1, 100).await.expect("a debit");
    for table in ["wallets", "transfers", "entries", "debits", "top_ups", "payment_notices", "cash"] {
        // Which gives nothing, with no more than a warning.
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
    assert_sound(&harness).await;
}
