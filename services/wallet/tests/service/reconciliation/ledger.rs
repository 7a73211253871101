//! Inconsistencies within the ledger.

use std::collections::BTreeSet;

use domain::{BusinessId, CodStatus, EventKind, Paise, TransferId};
use serde_json::json;
use test_kit::until;

use super::scene::{Scene, Watch};
use crate::attempt_fees::begun;
use crate::broker::publish;
use crate::{cash, remittances};

/// ₹10 in, by a credit and a top-up.
async fn funded(scene: &Scene) -> BusinessId {
    let business = scene.harness.funded(500).await;
    let body = json!({"amountPaise": 500});
    scene.harness.wallet.top_up(business, None, &body).await.expect("a top-up");
    business
}

/// An order with a refunded fee.
async fn refunded(scene: &Scene, business: BusinessId) -> (domain::OrderId, TransferId) {
    let order = scene.paid_order(business).await;
    let fee = scene.fee_of(order).await;
    scene.orders.change(order, |order| order.refund_due = true);
    let refund = scene.post(business, "refund", &format!("'{order}', NULL, '{fee}'"), 100).await;
    (order, refund)
}

#[tokio::test]
async fn a_consistent_ledger_is_clean_in_small_chunks() {
    let scene = Scene::start_with(|settings| settings.reconciliation.chunk_rows = 3).await;
    assert_eq!(scene.run(&[]).await.0, 0, "an empty ledger is clean");
    for _ in 0..3 {
        let business = funded(&scene).await;
        for _ in 0..3 {
            scene.paid_order(business).await;
        }
        refunded(&scene, business).await;
        let order = scene.paid_order(business).await;
        scene.orders.change(order, |order| order.cod_status = CodStatus::HandedOver);
        scene.post_cash(business, order, "cod_collected", 700).await;
        scene
            .sql(&format!(
                "INSERT INTO cash (order_id, business_id, order_reference, collected_paise, collected_at,
                    handed_over_paise, handed_over_at) VALUES ('{order}', '{business}', 'x', 700, now(), 0, now())"
            ))
            .await;
    }
    let (code, text) = scene.run(&[]).await;
    assert_eq!(code, 0, "{text}");
    for line in [
        "wallets: 3",
        "transfers: 27",
        "debits: 15",
        "cash: 3",
        "top_ups: 3",
        "orders: 15",
        "order_debits: 15",
        "order_cash: 3",
    ] {
        assert!(text.contains(&format!("  {line}\n")), "{line}: {text}");
    }
    let (code, text) = scene.run(&["--since", "2099-01-01T00:00:00Z"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("  transfers: 0\n") && text.contains("  order_transfers: 0\n"), "{text}");
    let (code, text) = scene.run(&["--since", "2020-01-01T00:00:00Z"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("  transfers: 27\n") && text.contains("  order_transfers: 27\n"), "{text}");
}

#[tokio::test]
async fn fees_of_attempts_and_their_debts_are_clean() {
    let broker = test_kit::broker().await;
    let scene = Scene::start_with(|settings| settings.broker = broker).await;
    let business = funded(&scene).await;
    let order = scene.paid_order(business).await;
    for (attempt, paise) in [(2, 300), (3, 900)] {
        publish(&scene.harness, &[begun(&scene.harness, business, order, attempt, paise)]).await;
    }
    let owed = async || scene.harness.wallet.wallet(business).await.expect("a wallet").owed_paise.get();
    until("both fees are booked", async || owed().await == 300).await;
    assert_eq!(scene.findings().await, BTreeSet::new());
}

#[tokio::test]
async fn wrong_entries_transfers_and_wallets_are_found() {
    let scene = Scene::start_with(|settings| settings.reconciliation.chunk_rows = 2).await;
    let (business, other) = (funded(&scene).await, funded(&scene).await);
    let mut fees = Vec::new();
    for _ in 0..6 {
        let order = scene.paid_order(business).await;
        fees.push(scene.fee_of(order).await);
    }
    scene.disarm().await;
    let mut watch = Watch::begin(&scene).await;

    scene.sql(&format!("UPDATE wallets SET balance_paise = 999 WHERE business_id = '{other}'")).await;
    watch.expect("a balance", &[("wallet_balance_wrong", &other)]).await;
    let income = |fee: &str| format!("transfer_id = '{fee}' AND account = 'fee_income'");
    scene.sql(&format!("UPDATE entries SET amount_paise = 101 WHERE {}", income(&fees[0]))).await;
    watch.expect("an unbalanced transfer", &[("transfer_unbalanced", &fees[0])]).await;
    scene.sql(&format!("UPDATE entries SET account = 'refunds' WHERE {}", income(&fees[1]))).await;
    watch.expect("another account", &[("transfer_wrong_accounts", &fees[1])]).await;
    scene.sql(&format!("UPDATE entries SET business_id = '{other}' WHERE {}", income(&fees[2]))).await;
    watch.expect("another business's account", &[("transfer_wrong_accounts", &fees[2])]).await;
    let nothing = TransferId::generate(&scene.harness.clock, &scene.harness.entropy);
    scene
        .sql(&format!(
            "INSERT INTO entries VALUES ('{nothing}', 'refunds', '{business}', 5, NULL, NULL, now()),
                ('{nothing}', 'fee_income', '{business}', -5, NULL, NULL, now())"
        ))
        .await;
    watch.expect("entries of nothing", &[("entry_without_transfer", &nothing)]).await;
    let wallet = |fee: &str| format!("transfer_id = '{fee}' AND account = 'business_wallet'");
    scene.sql(&format!("UPDATE entries SET balance_after_paise = 3 WHERE {}", wallet(&fees[4]))).await;
    let broken = [("wallet_chain_broken", &fees[4] as _), ("wallet_chain_broken", &fees[5] as _)];
    watch.expect("a running balance", &broken).await;
    scene.sql(&format!("UPDATE entries SET sequence = 99 WHERE {}", wallet(&fees[5]))).await;
    // The chain was broken before; now the wallet has another newest entry.
    watch.expect("a gap", &[("wallet_balance_wrong", &business)]).await;
}

#[tokio::test]
async fn a_wallet_without_its_newest_entries_is_found() {
    let scene = Scene::start().await;
    let business = funded(&scene).await;
    scene.paid_order(business).await;
    let last = scene.paid_order(business).await;
    scene.disarm().await;
    let fee = scene.fee_of(last).await;
    let mut watch = Watch::begin(&scene).await;
    scene.sql(&format!("DELETE FROM entries WHERE transfer_id = '{fee}'")).await;
    watch
        .expect(
            "a transfer without entries",
            &[
                ("wallet_balance_wrong", &business),
                ("transfer_wrong_accounts", &fee),
                ("fee_without_debit", &fee),
                ("debit_without_fee", &last),
            ],
        )
        .await;
}

#[tokio::test]
async fn wrong_debits_and_refunds_are_found() {
    let scene = Scene::start().await;
    let business = funded(&scene).await;
    let (order, first) = refunded(&scene, business).await;
    let (moved, refund) = refunded(&scene, business).await;
    let paid = [scene.paid_order(business).await, scene.paid_order(business).await];
    let fee = scene.fee_of(paid[0]).await;
    scene.disarm().await;
    let mut watch = Watch::begin(&scene).await;

    let cause = format!("'{order}', NULL, (SELECT reverses FROM transfers WHERE id = '{first}')");
    let second = scene.post(business, "refund", &cause, 100).await;
    watch.expect("two refunds", &[("refund_repeated", &first), ("refund_repeated", &second)]).await;
    scene.sql(&format!("UPDATE transfers SET reverses = '{fee}' WHERE id = '{refund}'")).await;
    watch.expect("a refund of another order's fee", &[("refund_wrong", &refund)]).await;
    let unpaid = scene.post(business, "delivery_fee", &format!("'{moved}', NULL, NULL"), -7).await;
    watch.expect("a fee that no debit asked for", &[("fee_without_debit", &unpaid)]).await;
    scene
        .sql(&format!(
            "INSERT INTO debits SELECT order_id, 2, business_id, amount_paise, outcome, transfer_id, 0, now()
            FROM debits WHERE order_id = '{}'",
            paid[0]
        ))
        .await;
    watch.expect("two posted debits", &[("debit_repeated", &paid[0])]).await;
    scene.sql(&format!("UPDATE debits SET transfer_id = '{unpaid}' WHERE order_id = '{}'", paid[1])).await;
    let unpaid_now = scene.fee_of(paid[1]).await;
    let found = [("debit_without_fee", &paid[1] as _), ("fee_without_debit", &unpaid_now as _)];
    watch.expect("a debit of another transfer", &found).await;
}

#[tokio::test]
async fn wrong_deposits_and_cash_are_found() {
    let scene = Scene::start().await;
    let business = funded(&scene).await;
    let credit = scene.post(business, "operator_credit", "NULL, 'once', NULL", 10).await;
    let orders = [
        scene.paid_order(business).await,
        scene.paid_order(business).await,
        scene.paid_order(business).await,
    ];
    scene.disarm().await;
    let mut watch = Watch::begin(&scene).await;

    let again = scene.post(business, "operator_credit", "NULL, 'once', NULL", 10).await;
    watch.expect("one reference twice", &[("credit_repeated", &credit), ("credit_repeated", &again)]).await;
    let invented = scene.post(business, "top_up", "NULL, 'top_x', NULL", 10).await;
    watch.expect("a top-up of nothing", &[("top_up_wrong", &invented)]).await;
    let top_up = domain::TopUpId::generate(&scene.harness.clock, &scene.harness.entropy);
    scene
        .sql(&format!(
            "INSERT INTO top_ups (id, business_id, provider, amount_paise, status, transfer_id, created_at, settled_at,
                next_check_at)
            VALUES ('{top_up}', '{business}', 'sandbox', 10, 'succeeded', 'trf_x', now(), now(), now())"
        ))
        .await;
    watch.expect("a top-up that was not booked", &[("top_up_not_booked", &top_up)]).await;
    let back = scene.post(business, "operator_debit", &format!("NULL, 'back', '{credit}'"), -11).await;
    watch.expect("more taken back than came in", &[("debit_exceeds_deposit", &back)]).await;
    scene.post(business, "receivable_payment", "NULL, NULL, NULL", -1).await;
    watch.expect("a payment of no debt", &[("receivable_overpaid", &business)]).await;

    let cash = |order: domain::OrderId, paise: i64| {
        scene.orders.change(order, |order| order.cod_status = CodStatus::Collected);
        format!(
            "INSERT INTO cash (order_id, business_id, order_reference, collected_paise, collected_at)
            VALUES ('{order}', '{business}', 'x', {paise}, now())"
        )
    };
    scene.sql(&cash(orders[0], 700)).await;
    watch.expect("cash that was not booked", &[("cash_not_booked", &orders[0])]).await;
    scene.sql(&cash(orders[1], 0)).await;
    watch.expect("no cash at all", &[]).await;
    scene.sql(&cash(orders[2], 700)).await;
    scene.post_cash(business, orders[2], "cod_collected", 699).await;
    let booked = format!("(SELECT id FROM transfers WHERE order_id = '{}' AND kind LIKE 'cod%')", orders[2]);
    let id = text(&scene, &booked).await;
    watch.expect("cash of another amount", &[("cash_wrong", &id)]).await;
    scene.post_cash(business, orders[1], "cod_collected", 1).await;
    let id = text(&scene, &booked.replace(&orders[2].to_string(), &orders[1].to_string())).await;
    let found = [("cash_wrong", &id as _), ("cash_not_booked", &orders[1] as _)];
    watch.expect("a transfer of no cash", &found).await;
}

async fn text(scene: &Scene, sql: &str) -> String {
    #[derive(diesel::QueryableByName)]
    struct Row {
        #[diesel(sql_type = diesel::sql_types::Text)]
        text: String,
    }
    let mut conn = scene.harness.connection().await;
    let query = diesel::sql_query(format!("SELECT {sql} AS text"));
    diesel_async::RunQueryDsl::get_result::<Row>(query, &mut conn).await.expect("a text").text
}

/// The ledger settles before the order does. That is no finding for a minute.
#[tokio::test]
async fn a_remittance_may_be_ahead_of_its_order_and_must_equal_its_transfers() {
    let broker = test_kit::broker().await;
    let scene = Scene::start_with(|settings| settings.broker = broker).await;
    let (harness, business) = (&scene.harness, funded(&scene).await);
    let order = scene.paid_order(business).await;
    scene.orders.change(order, |order| {
        order.cod_amount_paise = Paise::new(1_000);
        (order.cod_status, order.delivered) = (CodStatus::HandedOver, true);
    });
    let reports = [EventKind::CodCollected, EventKind::CodHandedOver]
        .map(|kind| cash::event(harness, business, order, kind, Some(1_000)));
    publish(harness, &reports).await;
    until("the cash is handed over", async || {
        harness.number("SELECT count(*) FROM transfers WHERE kind LIKE 'cod%'").await == 2
    })
    .await;
    remittances::remit(harness, business, order).await;
    let (code, text) = scene.run(&["--patience", "0"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("1 steps between the services are in progress\n"), "{text}");
    scene.orders.change(order, |order| order.cod_status = CodStatus::Settled);

    let mut watch = Watch::begin(&scene).await;
    scene
        .sql(
            "GRANT ALL ON remittances TO CURRENT_USER; ALTER TABLE remittances DISABLE TRIGGER USER;
            UPDATE remittances SET total_paise = 1001",
        )
        .await;
    let id = self::text(&scene, "(SELECT id FROM remittances)").await;
    watch.expect("a remittance of another amount", &[("remittance_wrong", &id)]).await;
}
