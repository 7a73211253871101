//! The database refuses inconsistent transfers, refunds and top-ups, even if the code is wrong.

use domain::{BusinessId, TransferId};
use serde_json::json;

use crate::harness::Harness;
use crate::invariants::assert_consistent;
use crate::ledger_sql::{assert_refused, entry, with_a_posted_debit};

async fn text(harness: &Harness, sql: &str) -> String {
    #[derive(diesel::QueryableByName)]
    struct Row {
        #[diesel(sql_type = diesel::sql_types::Text)]
        text: String,
    }
    let mut conn = harness.connection().await;
    let query = diesel::sql_query(format!("SELECT ({sql}) AS text"));
    diesel_async::RunQueryDsl::get_result::<Row>(query, &mut conn).await.expect("a text").text
}

async fn fee_of(harness: &Harness, business: BusinessId) -> TransferId {
    let sql = format!("SELECT id FROM transfers WHERE kind = 'delivery_fee' AND business_id = '{business}'");
    text(harness, &sql).await.parse().expect("an id")
}

/// A complete change of a wallet as a script: the update, both entries, and the transfer with its `cause` (order, reference,
/// reversed transfer).
fn movement(
    id: TransferId,
    business: BusinessId,
    kind: &str,
    other: &str,
    cause: &str,
    paise: i64,
) -> String {
    format!(
        "UPDATE wallets SET balance_paise = balance_paise + {paise}, entry_count = entry_count + 1
            WHERE business_id = '{business}';
        INSERT INTO entries
            SELECT '{id}', 'business_wallet', business_id, {paise}, entry_count, balance_paise, now()
            FROM wallets WHERE business_id = '{business}'
            UNION ALL SELECT '{id}', '{other}', '{business}', 0 - ({paise}), NULL, NULL, now();
        INSERT INTO transfers VALUES ('{id}', '{kind}', '{business}', {cause}, now())"
    )
}

#[tokio::test]
async fn a_transfer_accepts_no_later_entries() {
    let (harness, business) = with_a_posted_debit().await;
    let other = harness.funded(1_000).await;
    let fee = fee_of(&harness, business).await;
    for (business, into, out_of) in [
        (business, "refunds", "top_up_clearing"),
        (other, "refunds", "top_up_clearing"),
        (other, "cod_payable", "cod_with_drivers"),
        (business, "operator_credits", "refunds"),
    ] {
        let (into, out_of) =
            (entry(fee, into, business, "5, NULL, NULL"), entry(fee, out_of, business, "-5, NULL, NULL"));
        let script = format!("INSERT INTO entries VALUES {into}, {out_of}");
        assert_refused(&harness, "not of its transfer", &script).await;
    }
    // Nor wallet entries to a transfer of cash.
    let cash = TransferId::generate(&harness.clock, &harness.entropy);
    let order = harness.order();
    let collected = format!(
        "BEGIN; INSERT INTO entries VALUES {}, {};
        INSERT INTO transfers VALUES ('{cash}', 'cod_collected', '{business}', '{order}', NULL, NULL, now()); COMMIT",
        entry(cash, "cod_payable", business, "700, NULL, NULL"),
        entry(cash, "cod_with_drivers", business, "-700, NULL, NULL"),
    );
    harness.script(&collected).await.unwrap();
    for paise in [5, -5] {
        let script = movement(cash, business, "unused", "refunds", "NULL, NULL, NULL", paise);
        let script = script.split("INSERT INTO transfers").next().expect("a script");
        let script = script.trim_end().trim_end_matches(';');
        assert_refused(&harness, "not of its transfer", script).await;
    }
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_transfer_has_the_two_entries_of_its_kind_and_business() {
    let (harness, business) = with_a_posted_debit().await;
    let other = harness.funded(1_000).await;
    let id = TransferId::generate(&harness.clock, &harness.entropy);
    let wrong = "not exactly the two entries of its kind";
    let credit = |account: &str| movement(id, business, "operator_credit", account, "NULL, 'x', NULL", 5);
    for account in ["fee_income", "refunds", "top_up_clearing", "cod_payable"] {
        assert_refused(&harness, wrong, &credit(account)).await;
    }
    let taken = movement(id, business, "operator_credit", "operator_credits", "NULL, 'x', NULL", -5);
    assert_refused(&harness, wrong, &taken).await;
    let foreign =
        credit("operator_credits").replacen(&format!("', '{business}', 0"), &format!("', '{other}', 0"), 1);
    assert_refused(&harness, wrong, &foreign).await;
    // Two pairs of entries before their transfer.
    let more = format!(
        "INSERT INTO entries VALUES {}, {}; {}",
        entry(id, "refunds", business, "5, NULL, NULL"),
        entry(id, "fee_income", business, "-5, NULL, NULL"),
        credit("operator_credits"),
    );
    assert_refused(&harness, wrong, &more).await;
    harness.script(&format!("BEGIN; {}; COMMIT", credit("operator_credits"))).await.unwrap();
    assert_eq!(harness.balance(business).await, 905);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_refund_reverses_the_fee_of_its_order() {
    let (harness, business) = with_a_posted_debit().await;
    let fee = fee_of(&harness, business).await;
    let order = text(&harness, &format!("SELECT order_id FROM transfers WHERE id = '{fee}'")).await;
    let (second, unpaid) = (harness.order(), harness.order());
    harness.debit(business, second, 1, 100).await.expect("a debit");
    harness.debit(business, unpaid, 1, 5_000).await.expect("a rejected debit");
    let id = TransferId::generate(&harness.clock, &harness.entropy);
    let refund = |order: &str, paise| {
        movement(id, business, "refund", "refunds", &format!("'{order}', NULL, '{fee}'"), paise)
    };
    let wrong = "does not take back what its order paid";
    for (order, paise) in
        [(order.clone(), 101), (order.clone(), 99), (second.to_string(), 100), (unpaid.to_string(), 100)]
    {
        assert_refused(&harness, wrong, &refund(&order, paise)).await;
    }
    harness.script(&format!("BEGIN; {}; COMMIT", refund(&order, 100))).await.unwrap();
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_top_up_and_its_transfer_refer_to_each_other() {
    let harness = Harness::start().await;
    let (business, other) = (harness.funded(1_000).await, harness.funded(1_000).await);
    let body = json!({"amountPaise": 500});
    let done = harness.wallet.top_up(business, None, &body).await.expect("a top-up");
    let id = TransferId::generate(&harness.clock, &harness.entropy);
    let top_up = domain::TopUpId::generate(&harness.clock, &harness.entropy);
    let asked = |business: BusinessId, paise: i64, status: &str, transfer: &str, settled: &str| {
        format!(
            "INSERT INTO top_ups (id, business_id, provider, amount_paise, status, transfer_id, created_at, settled_at,
                    next_check_at)
                VALUES ('{top_up}', '{business}', 'sandbox', {paise}, '{status}', {transfer}, now(), {settled}, now())"
        )
    };
    let booked = movement(id, business, "top_up", "top_up_clearing", &format!("NULL, '{top_up}', NULL"), 70);
    let wrong = "a top-up and its transfer do not agree";
    assert_refused(&harness, wrong, &booked).await;
    let this = format!("'{id}'");
    // The transfer belongs to another top-up.
    let of_done = format!("(SELECT transfer_id FROM top_ups WHERE id = '{}')", done.id);
    assert_refused(&harness, wrong, &asked(business, 500, "succeeded", &of_done, "now()")).await;
    for (business, paise, wrong) in [(business, 71, wrong), (other, 70, "top_ups_transfer_id_fkey")] {
        let asked = asked(business, paise, "succeeded", &this, "now()");
        assert_refused(&harness, wrong, &format!("{booked}; {asked}")).await;
    }
    let asked = asked(business, 70, "succeeded", &this, "now()");
    harness.script(&format!("BEGIN; {booked}; {asked}; COMMIT")).await.unwrap();
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn identifying_columns_never_change() {
    let (harness, business) = with_a_posted_debit().await;
    let done = harness.wallet.top_up(business, None, &json!({"amountPaise": 500})).await.expect("a top-up");
    let other = harness.business();
    let pending = domain::TopUpId::generate(&harness.clock, &harness.entropy);
    let order = harness.order();
    harness
        .script(&format!(
            "INSERT INTO top_ups (id, business_id, provider, provider_reference, amount_paise, status, created_at,
                    next_check_at)
                VALUES ('{pending}', '{business}', 'razorpay', 'order_1', 70, 'pending', now(), now() + interval '1 day');
            INSERT INTO cash (order_id, business_id, order_reference, expected_paise, delivered_at)
                VALUES ('{order}', '{business}', 'x', 700, now())"
        ))
        .await
        .unwrap();
    let is_done = format!("WHERE id = '{}'", done.id);
    for change in [
        format!("UPDATE wallets SET business_id = '{other}'"),
        "UPDATE wallets SET business_id = business_id".into(),
        "UPDATE wallets SET created_at = now()".into(),
        "UPDATE top_ups SET amount_paise = 71".into(),
        format!("UPDATE top_ups SET business_id = '{other}'"),
        "UPDATE top_ups SET id = 'top_x'".into(),
        "UPDATE top_ups SET provider_reference = 'order_2' WHERE provider_reference IS NOT NULL".into(),
        "UPDATE top_ups SET provider_reference = NULL WHERE provider_reference IS NOT NULL".into(),
        format!("UPDATE top_ups SET status = 'pending', transfer_id = NULL, settled_at = NULL {is_done}"),
        format!("UPDATE top_ups SET status = 'failed', transfer_id = NULL {is_done}"),
        format!("UPDATE top_ups SET payment_reference = 'pay_9' {is_done}"),
        "UPDATE cash SET expected_paise = 600".into(),
        "UPDATE cash SET expected_paise = NULL".into(),
        "UPDATE cash SET order_reference = 'y'".into(),
        "UPDATE cash SET delivered_at = now() + interval '1 day'".into(),
    ] {
        assert_refused(&harness, "stays", &change).await;
    }
    const TABLES: [&str; 8] = [
        "wallets",
        "transfers",
        "entries",
        "debits",
        "top_ups",
        "payment_notices",
        "top_up_reversals",
        "cash",
    ];
    // The service has no such rights, and the triggers hold even for roles that do.
    for rights in [false, true] {
        if rights {
            let tables = TABLES.join(", ");
            harness.script(&format!("GRANT ALL ON {tables} TO CURRENT_USER")).await.unwrap();
        }
        for table in TABLES {
            for change in [format!("DELETE FROM {table}"), format!("TRUNCATE {table} CASCADE")] {
                let error = harness.script(&change).await.expect_err(&change);
                let refused = if rights {
                    error.contains("is append-only") || error.contains("stays")
                } else {
                    error.contains("permission denied")
                };
                assert!(refused, "{change}: {error}");
            }
        }
    }
    // Other columns may change.
    harness
        .script("UPDATE top_ups SET status = 'failed', settled_at = now() WHERE status = 'pending'")
        .await
        .unwrap();
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_debit_takes_back_no_more_than_its_deposit_and_a_debt_is_not_overpaid() {
    let (harness, business) = with_a_posted_debit().await;
    let other = harness.funded(1_000).await;
    let credit_of = |business: BusinessId| {
        format!("SELECT id FROM transfers WHERE kind = 'operator_credit' AND business_id = '{business}'")
    };
    let credit = text(&harness, &credit_of(business)).await;
    let foreign = text(&harness, &credit_of(other)).await;
    let fee = fee_of(&harness, business).await;
    harness.credit(business, 5_000, "more").await;
    let id = TransferId::generate(&harness.clock, &harness.entropy);
    let debit = |cause: &str, paise: i64| {
        movement(id, business, "operator_debit", "operator_credits", &format!("NULL, 'x', {cause}"), -paise)
    };
    let more = "takes back more than its deposit";
    assert_refused(&harness, more, &debit(&format!("'{credit}'"), 1_001)).await;
    assert_refused(&harness, more, &debit(&format!("'{fee}'"), 50)).await;
    assert_refused(&harness, "transfers_reverses_fkey", &debit(&format!("'{foreign}'"), 50)).await;
    let payment =
        movement(id, business, "receivable_payment", "business_receivable", "NULL, NULL, NULL", -50);
    assert_refused(&harness, "pays more than its debt", &payment).await;

    let exact = debit(&format!("'{credit}'"), 1_000);
    harness.script(&format!("BEGIN; {exact}; COMMIT")).await.unwrap();
    assert_consistent(&harness).await;
}
