//! Fees of further attempts at a delivery, by event.

use domain::{BusinessId, EventId, OrderId, Paise, attempt_fee_reference};
use events::{AttemptBegun, Body, Envelope, WalletLowBalance, WalletMoneyTakenBack, queues};
use internal_api::wallet::{EntriesQuery, EntryView};
use messaging::Queue;
use serde_json::json;
use test_kit::{refused, until};

use crate::broker::{dead_letters, publish};
use crate::harness::{Harness, THRESHOLD};
use crate::invariants::assert_consistent;

/// The event of an attempt that begins.
pub(crate) fn begun(
    harness: &Harness,
    business_id: BusinessId,
    order_id: OrderId,
    attempt: u32,
    paise: i64,
) -> Envelope {
    let fee_paise = Paise::new(paise);
    Envelope {
        id: EventId::generate(&harness.clock, &harness.entropy),
        business_id,
        occurred_at: harness.clock.now(),
        body: Body::AttemptBegun(AttemptBegun {
            order_id,
            order_reference: "shop-1".into(),
            attempt,
            fee_paise,
        }),
    }
}

async fn until_handled(harness: &Harness, events: i64) {
    let handled = "SELECT count(*) FROM inbox WHERE consumer = 'wallet.attempt-fees'";
    until("the attempts are handled", async || harness.number(handled).await == events).await;
}

async fn refused_events(harness: &Harness) -> u32 {
    dead_letters(harness, &Queue::shared(queues::ATTEMPT_FEES)).await
}

/// What the business is mailed about.
async fn next_debt(harness: &mut Harness) -> WalletMoneyTakenBack {
    loop {
        if let Body::WalletMoneyTakenBack(taken) = harness.next_announced().await.body {
            return taken;
        }
    }
}

/// Kind, change of the balance, change of the debt.
fn told(line: &EntryView) -> (&str, i64, i64) {
    (line.kind.as_str(), line.amount_paise.get(), line.owed_paise.get())
}

#[tokio::test]
async fn each_attempt_takes_its_fee_once() {
    let mut harness = Harness::connected().await;
    let (business, other) = (harness.funded(10_000).await, harness.funded(10_000).await);
    let order = harness.order();
    harness.debit(business, order, 1, 4_900).await.unwrap();
    let second = begun(&harness, business, order, 2, 3_000);
    publish(&harness, &[second.clone(), second]).await;
    until_handled(&harness, 1).await;
    // The driver dropped out, and the attempt began again, for which the rule of the operator had changed.
    let again = begun(&harness, business, order, 2, 2_000);
    publish(&harness, &[again, begun(&harness, business, order, 3, 1_500)]).await;
    until_handled(&harness, 3).await;
    assert_eq!((harness.balance(business).await, harness.balance(other).await), (600, 10_000));

    let lines = harness.entries(business).await;
    assert_eq!(
        lines[..2].iter().map(told).collect::<Vec<_>>(),
        [("operator_debit", -1_500, 0), ("operator_debit", -3_000, 0)]
    );
    assert_eq!(lines[1].reason.as_deref(), Some("Fee of attempt 2 at order shop-1"));
    assert_eq!(
        (&lines[1].reference, lines[1].order_id),
        (&Some(attempt_fee_reference(2, order)), Some(order))
    );
    let of_order = harness.wallet.entries_of_order(business, order).await.unwrap();
    let amounts: Vec<_> = of_order.iter().map(|line| line.amount_paise.get()).collect();
    assert_eq!(amounts, [-4_900, -3_000, -1_500]);
    let query = EntriesQuery { order_id: Some(order), ..EntriesQuery::default() };
    let filtered = harness.wallet.entries(business, &query).await.unwrap().data;
    assert!(filtered.iter().eq(of_order.iter().rev()), "{filtered:?}");
    assert_eq!(harness.wallet.entries_of_order(other, order).await.unwrap(), []);
    // A low balance is news, as after the fee of an order. The fee is not: it was announced.
    for _ in 0..2 {
        assert_eq!(harness.next_announced().await.body, Body::WalletFunded {});
    }
    let (balance_paise, threshold_paise) = (Paise::new(600), Paise::new(THRESHOLD));
    let low = Body::WalletLowBalance(WalletLowBalance { balance_paise, threshold_paise });
    assert_eq!(harness.next_announced().await.body, low);
    assert!(harness.has_no_announcement());
    // The operator gives one back.
    harness.credit(business, 3_000, &attempt_fee_reference(2, order)).await;
    assert_eq!((harness.balance(business).await, refused_events(&harness).await), (3_600, 0));
    assert_eq!(harness.entries(business).await[0].order_id, None);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn what_the_balance_does_not_cover_is_owed() {
    let mut harness = Harness::connected().await;
    let (business, order) = (harness.funded(5_000).await, harness.order());
    let other = harness.business();
    harness.debit(business, order, 1, 4_900).await.unwrap();
    publish(&harness, &[begun(&harness, business, order, 2, 3_000)]).await;
    until_handled(&harness, 1).await;
    publish(&harness, &[begun(&harness, business, order, 3, 500)]).await;
    until_handled(&harness, 2).await;
    let wallet = harness.wallet.wallet(business).await.unwrap();
    assert_eq!((wallet.balance_paise.get(), wallet.owed_paise.get()), (0, 3_400));
    let lines = harness.entries(business).await;
    assert_eq!(
        lines[..3].iter().map(told).collect::<Vec<_>>(),
        [
            ("operator_debit_shortfall", 0, 500),
            ("operator_debit_shortfall", 0, 2_900),
            ("operator_debit", -100, 0),
        ]
    );
    assert_eq!(lines[1].reason, lines[2].reason);
    assert!(lines[..3].iter().all(|line| line.order_id == Some(order)), "{lines:?}");
    assert_eq!((lines[1].reverses, lines[1].takes_back.is_none()), (None, true));
    // The postings of the order add up to what it cost.
    let of_order = harness.wallet.entries_of_order(business, order).await.unwrap();
    assert!(of_order.iter().eq(lines[..4].iter().rev()), "{of_order:?}");
    let cost: i64 = of_order.iter().map(|line| line.owed_paise.get() - line.amount_paise.get()).sum();
    assert_eq!(cost, 4_900 + 3_000 + 500);
    let filtered = async |starting_after: Option<&str>, kind: Option<&str>| {
        let (starting_after, kind) = (starting_after.map(str::to_owned), kind.map(str::to_owned));
        let query = EntriesQuery { order_id: Some(order), starting_after, kind, ..EntriesQuery::default() };
        harness.wallet.entries(business, &query).await.unwrap().data
    };
    assert_eq!(filtered(None, None).await, lines[..4]);
    assert_eq!(filtered(Some(lines[1].id.as_str()), None).await, lines[2..4]);
    assert_eq!(filtered(None, Some("operator_debit_shortfall")).await, lines[..2]);
    assert_eq!(harness.wallet.entries_of_order(other, order).await.unwrap(), []);
    for (attempt, fee, owed) in [(2, 3_000, 2_900), (3, 500, 3_400)] {
        let told = next_debt(&mut harness).await;
        assert_eq!((told.amount_paise.get(), told.owed_paise.get()), (fee, owed));
        assert_eq!(told.reference, attempt_fee_reference(attempt, order));
        assert_eq!(told.order_reference.as_deref(), Some("shop-1"));
    }

    let paid_in = harness.wallet.top_up(business, None, &json!({"amountPaise": 4_000})).await.unwrap();
    assert_eq!(paid_in.balance_paise.get(), 600);
    assert_eq!(harness.wallet.wallet(business).await.unwrap().owed_paise.get(), 0);
    // An attempt costs its fee once, and other debits are no spending.
    let body = json!({"amountPaise": 100, "reference": "attempt-2-of-mine"});
    harness.wallet.debit_by_operator(business, &body).await.unwrap();
    let today = harness.wallet.spend(business, "days=1").await.unwrap().days[0];
    assert_eq!((today.fees_paise.get(), today.attempt_fees_paise.get(), today.orders), (4_900, 3_500, 1));
    let elsewhere = harness.wallet.spend(other, "days=1").await.unwrap().days[0];
    assert_eq!(elsewhere.attempt_fees_paise, Paise::ZERO);
    assert_consistent(&harness).await;
    let earlier = "ALTER TABLE transfers DISABLE TRIGGER append_only;
        GRANT UPDATE ON transfers TO CURRENT_USER;
        UPDATE transfers SET created_at = created_at - interval '3 days' WHERE kind = 'operator_debit_shortfall';
        ALTER TABLE transfers ENABLE TRIGGER append_only";
    harness.script(earlier).await.unwrap();
    let days = harness.wallet.spend(business, "days=4").await.unwrap().days;
    assert_eq!(days.iter().map(|day| day.attempt_fees_paise.get()).collect::<Vec<_>>(), [3_400, 0, 0, 100]);
    assert_eq!(harness.wallet.spend(business, "days=3").await.unwrap().days, days[1..]);
}

#[tokio::test]
async fn nobody_pays_for_an_order_of_another_business() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.funded(10_000).await, harness.funded(10_000).await);
    let (order, unknown, nobody) = (harness.order(), harness.order(), harness.business());
    harness.debit(business, order, 1, 4_900).await.unwrap();
    publish(
        &harness,
        &[
            begun(&harness, other, order, 2, 3_000),
            begun(&harness, business, unknown, 2, 3_000),
            begun(&harness, nobody, order, 2, 3_000),
            begun(&harness, business, order, 2, 0),
            begun(&harness, business, order, 2, -1),
            begun(&harness, business, order, 2, Paise::REQUEST_MAX.get() + 1),
        ],
    )
    .await;
    until("all are set aside", async || refused_events(&harness).await == 6).await;
    assert_eq!((harness.balance(business).await, harness.balance(other).await), (5_100, 10_000));
    assert_eq!(harness.number("SELECT count(*) FROM inbox").await, 0);
    assert_consistent(&harness).await;
}

/// Everything is one transaction, so that a failure before its end leaves nothing.
#[tokio::test]
async fn a_fee_that_could_not_be_booked_is_taken_once_afterwards() {
    let harness = Harness::connected().await;
    let (business, order) = (harness.funded(10_000).await, harness.order());
    harness.debit(business, order, 1, 4_900).await.unwrap();
    harness.damage("AFTER", "transfers").await;
    publish(&harness, &[begun(&harness, business, order, 2, 3_000)]).await;
    until("the fee is repeated", async || harness.tries().await >= 3).await;
    assert_eq!(harness.balance(business).await, 5_100);
    assert_eq!(harness.number("SELECT count(*) FROM inbox").await, 0);
    harness.repair("transfers").await;
    until_handled(&harness, 1).await;
    assert_eq!(harness.balance(business).await, 2_100);
    assert_eq!(harness.number("SELECT count(*) FROM transfers WHERE kind = 'operator_debit'").await, 1);
    assert_eq!(refused_events(&harness).await, 0);
}

#[tokio::test]
async fn the_references_of_attempts_are_no_references_of_the_operator() {
    let harness = Harness::start().await;
    let (business, order) = (harness.funded(1_000).await, harness.order());
    let body = json!({"amountPaise": 100, "reference": attempt_fee_reference(2, order)});
    let invalid = (400, "invalid_request".to_owned());
    assert_eq!(refused(harness.wallet.debit_by_operator(business, &body).await), invalid);
    assert_eq!(refused(harness.wallet.check_debit_by_operator(business, &body).await), invalid);
    let body = json!({"amountPaise": 100, "reference": "attempt-2-of-mine"});
    harness.wallet.debit_by_operator(business, &body).await.unwrap();
    assert_eq!(harness.balance(business).await, 900);
}
