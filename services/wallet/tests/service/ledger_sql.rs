//! The database enforces the rules of the ledger, even if the code is wrong.

use domain::{BusinessId, TransferId};

use crate::harness::Harness;
use crate::invariants::assert_consistent;

/// A service with one wallet: ₹10 in, then a fee of ₹1 for an order.
pub(crate) async fn with_a_posted_debit() -> (Harness, BusinessId) {
    let harness = Harness::start().await;
    let business = harness.funded(1_000).await;
    harness.debit(business, harness.order(), 1, 100).await.expect("a debit");
    (harness, business)
}

pub(crate) async fn assert_refused(harness: &Harness, words: &str, script: &str) {
    let refused = harness.script(&format!("BEGIN; {script}; COMMIT")).await;
    let error = refused.expect_err(script);
    assert!(error.contains(words), "{script}: {error}");
}

/// A line of a transfer, to be put into a script.
pub(crate) fn entry(transfer: TransferId, account: &str, business: BusinessId, rest: &str) -> String {
    format!("('{transfer}', '{account}', '{business}', {rest}, now())")
}

#[tokio::test]
async fn what_is_written_stays() {
    let (harness, _) = with_a_posted_debit().await;
    for table in ["transfers", "entries", "debits", "payment_notices"] {
        for change in [
            format!("UPDATE {table} SET business_id = 'biz_x'"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table} CASCADE"),
        ] {
            let error = harness.script(&change).await.expect_err(&change);
            let refused = error.contains("append-only") || error.contains("permission denied");
            assert!(refused, "{change}: {error}");
        }
    }
    // The service has no such rights, and the triggers hold even for roles that do.
    harness.script("GRANT ALL ON transfers, entries, debits, payment_notices TO CURRENT_USER").await.unwrap();
    for change in [
        "UPDATE entries SET amount_paise = 1",
        "DELETE FROM entries",
        "TRUNCATE entries",
        "DELETE FROM debits",
        "UPDATE transfers SET kind = 'refund'",
        "DELETE FROM payment_notices",
    ] {
        assert_refused(&harness, "is append-only", change).await;
    }
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn an_unbalanced_transfer_is_refused() {
    let (harness, business) = with_a_posted_debit().await;
    let id = TransferId::generate(&harness.clock, &harness.entropy);
    let wallet = entry(id, "business_wallet", business, "50, 3, 950");
    let short = entry(id, "operator_credits", business, "-49, NULL, NULL");
    let transfer = format!(
        "INSERT INTO transfers (id, kind, business_id, reference, created_at)
            VALUES ('{id}', 'operator_credit', '{business}', 'x', now())"
    );
    let update = "UPDATE wallets SET balance_paise = 950, entry_count = 3";
    for lines in [wallet.clone(), format!("{wallet}, {short}")] {
        let script = format!("{update}; INSERT INTO entries VALUES {lines}; {transfer}");
        assert_refused(&harness, "do not sum to zero", &script).await;
    }
    assert_refused(&harness, "not exactly the two entries", &transfer).await;

    // The same with both sides passes, so it was the imbalance that was refused.
    let whole = entry(id, "operator_credits", business, "-50, NULL, NULL");
    let script = format!("BEGIN; {update}; INSERT INTO entries VALUES {wallet}, {whole}; {transfer}; COMMIT");
    harness.script(&script).await.unwrap();
    assert_eq!(harness.balance(business).await, 950);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_balance_needs_the_entry_that_explains_it() {
    let (harness, business) = with_a_posted_debit().await;
    let stands = "does not stand where its newest entry says";
    for change in ["balance_paise = 901", "entry_count = 1, balance_paise = 1000", "entry_count = 3"] {
        assert_refused(&harness, stands, &format!("UPDATE wallets SET {change}")).await;
    }
    assert_refused(&harness, "wallets_balance_not_negative", "UPDATE wallets SET balance_paise = -1").await;
    let invented = "INSERT INTO wallets (business_id, balance_paise, created_at) VALUES ('x', 5, now())";
    assert_refused(&harness, stands, invented).await;

    let id = TransferId::generate(&harness.clock, &harness.entropy);
    let counter = entry(id, "operator_credits", business, "-50, NULL, NULL");
    for (wrong, line) in [
        ("entries_wallet_sequence", "50, 2, 950"),
        ("does not follow from the one before it", "50, 4, 950"),
        ("does not follow from the one before it", "50, 3, 951"),
        (stands, "50, 3, 950"),
    ] {
        let line = entry(id, "business_wallet", business, line);
        assert_refused(&harness, wrong, &format!("INSERT INTO entries VALUES {line}, {counter}")).await;
    }
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn an_order_cannot_have_two_posted_debits() {
    let (harness, business) = with_a_posted_debit().await;
    let copy = |change: &str| {
        format!(
            "INSERT INTO debits SELECT {change}, business_id, amount_paise, outcome, transfer_id,
                balance_after_paise, now() FROM debits"
        )
    };
    assert_refused(&harness, "debits_one_posted_per_order", &copy("order_id, 2")).await;
    let known = "INSERT INTO debits SELECT order_id, attempt, business_id, amount_paise, 'rejected', NULL,
        balance_after_paise, now() FROM debits";
    assert_refused(&harness, "debits_pkey", known).await;
    // Nor can another order claim the same transfer, or none at all.
    assert_refused(&harness, "does not agree with its transfer", &copy("'ord_x', 1")).await;
    let unpaid =
        format!("INSERT INTO debits VALUES ('ord_x', 1, '{business}', 100, 'posted', NULL, 900, now())");
    assert_refused(&harness, "debits_posted_by_a_transfer", &unpaid).await;
    assert_consistent(&harness).await;
}
