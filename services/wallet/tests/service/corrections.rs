//! Money that a wallet gives back: debits by the operator, and refunds and disputes at the payment provider.

use domain::Paise;
use events::{Body, WalletMoneyTakenBack};
use futures_util::future::join_all;
use internal_api::wallet::{EntriesQuery, EntryView, PaymentNotice};
use serde_json::{Value, json};
use test_kit::{refusal, refused};

use crate::fake_razorpay::sign;
use crate::harness::Harness;
use crate::invariants::assert_consistent;

/// A notice about a payment of the sandbox, whose order has the same name.
fn notice(event: &str, payment: &str, (kind, entity): (&str, Value), number: u32) -> String {
    let paid =
        json!({"id": payment, "amount": 1, "currency": "INR", "status": "captured", "order_id": payment});
    let payload = json!({"payment": {"entity": paid}, kind: {"entity": entity}});
    json!({"event": event, "created_at": number, "payload": payload}).to_string()
}

pub(crate) fn refund_notice(payment: &str, refund: &str, amount: i64, number: u32) -> String {
    let entity = json!({"id": refund, "payment_id": payment, "amount": amount, "currency": "INR", "status": "processed"});
    notice("refund.processed", payment, ("refund", entity), number)
}

fn dispute_notice(payment: &str, status: &str, deducted: i64) -> String {
    let entity = json!({"id": "disp_1", "payment_id": payment, "amount": 1_000, "amount_deducted": deducted,
        "currency": "INR", "status": status});
    notice(&format!("payment.dispute.{status}"), payment, ("dispute", entity), 1)
}

async fn post(harness: &Harness, body: String) -> String {
    let notice = PaymentNotice { signature: sign(&body, "sandbox"), body };
    harness.wallet.payment_notice("sandbox", &notice).await.expect("an outcome").outcome
}

#[tokio::test]
async fn a_wrong_credit_is_taken_back_and_what_is_spent_of_it_is_owed() {
    let harness = Harness::start().await;
    let business = harness.business();
    let wrong = json!({"amountPaise": 10_000, "reference": "cheque 7"});
    let wrong = harness.wallet.credit(business, &wrong).await.unwrap();
    harness.debit(business, harness.order(), 1, 3_000).await.unwrap();

    let body = json!({
        "amountPaise": 9_000, "reference": "cheque 7 again", "reason": "Ten times too much",
        "reverses": wrong.transfer_id,
    });
    let calls = (0..10).map(|_| harness.wallet.debit_by_operator(business, &body));
    let taken: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(taken.iter().filter(|debit| !debit.already_debited).count(), 1);
    assert!(taken.iter().all(|debit| (debit.balance_paise.get(), debit.owed_paise.get()) == (0, 2_000)));
    let low = harness.wallet.attention(&[]).await.unwrap().low_balances;
    assert_eq!((low[0].business_id, low[0].owed_paise), (business, Paise::new(2_000)), "for the operator");
    // The statement has a row for the debt, and both rows name the credit, which tells what is left of it.
    let lines = harness.entries(business).await;
    let shown: Vec<_> = lines.iter().take(2).map(told).collect();
    let expected = [("operator_debit_shortfall", 0, 2_000, 0), ("operator_debit", -7_000, 0, 0)];
    assert_eq!(shown, expected);
    for line in &lines[..2] {
        let credit = line.takes_back.as_ref().expect("the credit");
        assert_eq!(
            (credit.kind.as_str(), credit.reference.as_deref()),
            ("operator_credit", Some("cheque 7"))
        );
        assert_eq!(line.reverses, Some(wrong.transfer_id));
        assert_eq!(line.reason.as_deref(), Some("Ten times too much"));
    }
    assert_eq!(lines[0].id, lines[0].transfer_id.to_string());
    assert_eq!((lines[2].left_paise, lines[3].left_paise), (None, Some(Paise::new(1_000))));
    let more = json!({"amountPaise": 1_001, "reference": "x", "reverses": wrong.transfer_id});
    let refusal = refused(harness.wallet.debit_by_operator(business, &more).await);
    assert_eq!(refusal, (409, "exceeds_transfer".to_owned()));

    // A fee is refused as before; a deposit pays the debt first.
    let fee = harness.debit(business, harness.order(), 1, 1).await.unwrap();
    assert_eq!(fee.outcome, internal_api::wallet::DebitOutcome::Rejected);
    assert_eq!((fee.balance_paise, fee.owed_paise), (Paise::ZERO, Paise::new(2_000)));
    let paid_in = harness.wallet.top_up(business, None, &json!({"amountPaise": 5_000})).await.unwrap();
    assert_eq!(paid_in.balance_paise.get(), 3_000);
    let lines = harness.entries(business).await;
    let newest: Vec<_> = lines.iter().map(told).collect();
    let expected = [("receivable_payment", -2_000, -2_000, 3_000), ("top_up", 5_000, 0, 5_000)];
    assert_eq!(newest[..2], expected);
    assert_eq!(harness.wallet.wallet(business).await.unwrap().owed_paise.get(), 0);

    // Fees alone are spending.
    let spend = harness.wallet.spend(business, "days=1").await.unwrap();
    assert_eq!((spend.days[0].fees_paise.get(), spend.days[0].orders), (3_000, 1));
    assert_consistent(&harness).await;
}

/// Kind, change of the balance, change of the debt, balance.
fn told(line: &EntryView) -> (&str, i64, i64, i64) {
    let (amount, owed) = (line.amount_paise.get(), line.owed_paise.get());
    (line.kind.as_str(), amount, owed, line.balance_after_paise.get())
}

#[tokio::test]
async fn a_statement_lists_each_debt_after_the_entry_before_it() {
    let harness = Harness::start().await;
    let business = harness.funded(500).await;
    let credit = harness.entries(business).await.remove(0).transfer_id;
    harness.debit(business, harness.order(), 1, 450).await.unwrap();
    for (paise, reference) in [(150, "1"), (150, "2"), (100, "3")] {
        let body = json!({"amountPaise": paise, "reference": reference, "reverses": credit});
        harness.wallet.debit_by_operator(business, &body).await.unwrap();
    }
    harness.credit(business, 1_000, "later").await;
    let expected = [
        ("receivable_payment", -350, -350, 650),
        ("operator_credit", 1_000, 0, 1_000),
        ("operator_debit_shortfall", 0, 100, 0),
        ("operator_debit_shortfall", 0, 150, 0),
        ("operator_debit_shortfall", 0, 100, 0),
        ("operator_debit", -50, 0, 0),
        ("delivery_fee", -450, 0, 50),
        ("operator_credit", 500, 0, 500),
    ];
    for limit in [1, 2, 3, 100] {
        let mut seen = Vec::new();
        let mut query = EntriesQuery { limit: Some(limit), ..EntriesQuery::default() };
        loop {
            let page = harness.wallet.entries(business, &query).await.unwrap();
            query.starting_after = page.data.last().map(|line| line.id.clone());
            seen.extend(page.data);
            if !page.has_more {
                break;
            }
        }
        assert_eq!(seen.iter().map(told).collect::<Vec<_>>(), expected, "in pages of {limit}");
        assert_eq!(seen[7].left_paise, Some(Paise::new(100)), "of the credit that was taken back in part");
    }
    let of_kind = |kind: &str| EntriesQuery { kind: Some(kind.into()), ..EntriesQuery::default() };
    let debts = harness.wallet.entries(business, &of_kind("operator_debit_shortfall")).await.unwrap();
    assert_eq!(debts.data.len(), 3);
    assert_eq!(harness.wallet.entries(business, &of_kind("operator_debit")).await.unwrap().data.len(), 1);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_debit_is_checked_before_somebody_approves_it() {
    let harness = Harness::start().await;
    let business = harness.funded(500).await;
    let credit = harness.entries(business).await.remove(0).transfer_id;
    let debit =
        |paise: i64, reverses: Value| json!({"amountPaise": paise, "reference": "x", "reverses": reverses});
    harness.wallet.check_debit_by_operator(business, &debit(500, json!(credit))).await.unwrap();
    assert_eq!(harness.balance(business).await, 500, "a check takes nothing");
    harness.wallet.debit_by_operator(business, &debit(500, json!(credit))).await.unwrap();
    harness.wallet.check_debit_by_operator(business, &debit(500, json!(credit))).await.unwrap();
    let another = json!({"amountPaise": 1, "reference": "y", "reverses": credit});
    let alone = json!({"amountPaise": 1, "reference": "y"});
    for (body, code) in [
        (debit(499, json!(credit)), "reference_reused"),
        (another, "exceeds_transfer"),
        (alone, "insufficient_balance"),
    ] {
        let checked = refusal(harness.wallet.check_debit_by_operator(business, &body).await);
        let refused = refusal(harness.wallet.debit_by_operator(business, &body).await);
        assert_eq!((checked.status, checked.code.as_str()), (409, code));
        assert_eq!(checked.message, refused.message, "as the debit itself");
    }
}

#[tokio::test]
async fn a_debit_that_stands_alone_never_exceeds_the_balance() {
    let harness = Harness::start().await;
    let (business, other) = (harness.funded(1_500).await, harness.funded(700).await);
    let foreign = harness.entries(other).await.remove(0).transfer_id;
    for (amount, reverses, code) in
        [(1_501, Value::Null, "insufficient_balance"), (700, json!(foreign), "transfer_not_reversible")]
    {
        let body = json!({"amountPaise": amount, "reference": "fine", "reverses": reverses});
        let refusal = refused(harness.wallet.debit_by_operator(business, &body).await);
        assert_eq!(refusal, (409, code.to_owned()));
    }
    let malformed = json!({"amountPaise": 0, "reference": "", "reverses": "x"});
    let refusal = refused(harness.wallet.debit_by_operator(business, &malformed).await);
    assert_eq!(refusal, (400, "invalid_request".to_owned()));
    let body = json!({"amountPaise": 1_500, "reference": "fine"});
    let taken = harness.wallet.debit_by_operator(business, &body).await.unwrap();
    assert_eq!((taken.balance_paise.get(), taken.owed_paise.get()), (0, 0));
    // A debit cannot be taken back: the operator credits the amount.
    let back = json!({"amountPaise": 1, "reference": "back", "reverses": taken.transfer_id});
    let refusal = refused(harness.wallet.debit_by_operator(business, &back).await);
    assert_eq!(refusal, (409, "transfer_not_reversible".to_owned()));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn the_business_is_told_once_of_money_that_is_taken_back() {
    let mut harness = Harness::connected().await;
    let business = harness.business();
    let wrong = json!({"amountPaise": 5_000, "reference": "cheque 7"});
    let wrong = harness.wallet.credit(business, &wrong).await.unwrap();
    assert_eq!(harness.next_announced().await.body, Body::WalletFunded {});
    harness.debit(business, harness.order(), 1, 3_000).await.unwrap();
    let back = json!({"amountPaise": 5_000, "reference": "cheque 7 again", "reverses": wrong.transfer_id});
    for _ in 0..2 {
        harness.wallet.debit_by_operator(business, &back).await.unwrap();
    }
    let low = harness.next_announced().await.body;
    assert!(matches!(low, Body::WalletLowBalance(_)), "{low:?}");
    let taken = WalletMoneyTakenBack {
        amount_paise: Paise::new(5_000),
        balance_paise: Paise::ZERO,
        owed_paise: Paise::new(3_000),
        reference: "cheque 7 again".into(),
        order_reference: None,
        by_payment_provider: false,
    };
    assert_eq!(harness.next_announced().await.body, Body::WalletMoneyTakenBack(taken));
    let top_up = harness.wallet.top_up(business, None, &json!({"amountPaise": 9_000})).await.unwrap();
    let refund = refund_notice(&format!("sandbox_{}", top_up.id), "rfnd_1", 400, 1);
    assert_eq!(post(&harness, refund).await, "reversed");
    match harness.next_announced().await.body {
        Body::WalletMoneyTakenBack(taken) => {
            assert!(taken.by_payment_provider && taken.reference == "rfnd_1", "{taken:?}");
        }
        other => panic!("{other:?}"),
    }
    assert!(harness.has_no_announcement());
}

#[tokio::test]
async fn refunds_and_lost_disputes_at_the_provider_are_booked_once() {
    let harness = Harness::start().await;
    let business = harness.business();
    let top_up = harness.wallet.top_up(business, None, &json!({"amountPaise": 1_000})).await.unwrap();
    let payment = format!("sandbox_{}", top_up.id);
    assert_eq!(post(&harness, refund_notice(&payment, "rfnd_1", 400, 1)).await, "reversed");
    assert_eq!(post(&harness, refund_notice(&payment, "rfnd_1", 400, 2)).await, "settled_before");
    assert_eq!(harness.balance(business).await, 600);
    assert_eq!(post(&harness, refund_notice(&payment, "rfnd_2", 601, 3)).await, "mismatch");

    harness.debit(business, harness.order(), 1, 500).await.unwrap();
    assert_eq!(post(&harness, dispute_notice(&payment, "open", 0)).await, "noted");
    assert_eq!(post(&harness, dispute_notice(&payment, "lost", 600)).await, "reversed");
    let wallet = harness.wallet.wallet(business).await.unwrap();
    assert_eq!((wallet.balance_paise.get(), wallet.owed_paise.get()), (0, 500));
    // Money that comes back needs a person.
    assert_eq!(post(&harness, dispute_notice(&payment, "won", 0)).await, "mismatch");
    // So does another amount for the same refund.
    assert_eq!(post(&harness, refund_notice(&payment, "rfnd_1", 401, 4)).await, "mismatch");
    let lines = harness.entries(business).await;
    let shown: Vec<_> = lines.iter().take(2).map(told).collect();
    assert_eq!(shown, [("top_up_reversal_shortfall", 0, 500, 0), ("top_up_reversal", -100, 0, 0)]);
    assert_eq!(lines[1].reference.as_deref(), Some("disp_1"));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_dispute_that_is_won_before_it_is_reported_takes_nothing() {
    let harness = Harness::start().await;
    let business = harness.business();
    let top_up = harness.wallet.top_up(business, None, &json!({"amountPaise": 1_000})).await.unwrap();
    let payment = format!("sandbox_{}", top_up.id);
    assert_eq!(post(&harness, dispute_notice(&payment, "won", 0)).await, "noted");
    assert_eq!(post(&harness, dispute_notice(&payment, "open", 600)).await, "settled_before");
    assert_eq!(harness.balance(business).await, 1_000);
    let unreadable = refund_notice(&payment, "rf\u{0}", 1, 1);
    let notice = PaymentNotice { signature: sign(&unreadable, "sandbox"), body: unreadable };
    let refusal = refused(harness.wallet.payment_notice("sandbox", &notice).await);
    assert_eq!(refusal, (400, "payment_notice_unreadable".to_owned()));
    assert_consistent(&harness).await;
}
