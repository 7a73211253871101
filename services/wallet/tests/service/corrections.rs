//! Money that a wallet gives back: debits by the operator, and refunds and disputes at the payment provider.

use domain::Paise;
use events::{Body, WalletMoneyTakenBack};
use futures_util::future::join_all;
use internal_api::wallet::PaymentNotice;
use serde_json::{Value, json};
use test_kit::refused;

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

    let body = json!({"amountPaise": 9_000, "reference": "cheque 7 again", "reverses": wrong.transfer_id});
    let calls = (0..10).map(|_| harness.wallet.debit_by_operator(business, &body));
    let taken: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(taken.iter().filter(|debit| !debit.already_debited).count(), 1);
    assert!(taken.iter().all(|debit| (debit.balance_paise.get(), debit.owed_paise.get()) == (0, 2_000)));
    let line = harness.entries(business).await.remove(0);
    assert_eq!((line.kind.as_str(), line.amount_paise.get()), ("operator_debit", -7_000));
    assert_eq!(line.reverses, Some(wrong.transfer_id));
    let more = json!({"amountPaise": 1_001, "reference": "x", "reverses": wrong.transfer_id});
    let refusal = refused(harness.wallet.debit_by_operator(business, &more).await);
    assert_eq!(refusal, (409, "exceeds_transfer".to_owned()));

    // A fee is refused as before; a deposit pays the debt first.
    let fee = harness.debit(business, harness.order(), 1, 1).await.unwrap();
    assert_eq!(fee.outcome, internal_api::wallet::DebitOutcome::Rejected);
    let paid_in = harness.wallet.top_up(business, None, &json!({"amountPaise": 5_000})).await.unwrap();
    assert_eq!(paid_in.balance_paise.get(), 3_000);
    let lines = harness.entries(business).await;
    let newest: Vec<_> = lines.iter().map(|line| (line.kind.as_str(), line.amount_paise.get())).collect();
    assert_eq!(newest[..2], [("receivable_payment", -2_000), ("top_up", 5_000)]);
    assert_eq!(harness.wallet.wallet(business).await.unwrap().owed_paise.get(), 0);

    // Fees alone are spending.
    let spend = harness.wallet.spend(business, "days=1").await.unwrap();
    assert_eq!((spend.days[0].fees_paise.get(), spend.days[0].orders), (3_000, 1));
    assert_consistent(&harness).await;
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
    let line = harness.entries(business).await.remove(0);
    assert_eq!((line.kind.as_str(), line.amount_paise.get()), ("top_up_reversal", -100));
    assert_eq!(line.reference.as_deref(), Some("disp_1"));
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
