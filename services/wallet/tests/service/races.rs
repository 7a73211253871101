//! Concurrent callers of two instances.

use diesel_async::SimpleAsyncConnection;
use futures_util::future::join_all;
use internal_api::wallet::DebitOutcome::{Posted, Rejected, Voided};
use internal_api::wallet::{DebitAnswer, WalletClient};
use test_kit::{refused, until};

use crate::harness::{Harness, answer, request};
use crate::invariants::assert_consistent;

#[tokio::test]
async fn fifty_identical_debits_post_once_and_get_the_same_answer() {
    let harness = Harness::start().await;
    let instances = [harness.wallet.clone(), harness.second_instance()];
    let (business, order) = (harness.funded(100_000).await, harness.order());
    let request = request(business, 4_900);
    let calls = (0..50).map(|call| instances[call % 2].debit(order, 1, &request));
    for answered in join_all(calls).await {
        assert_eq!(answered.unwrap(), answer(Posted, 95_100));
    }
    assert_eq!(harness.balance(business).await, 95_100);
    assert_eq!(harness.number("SELECT count(*) FROM debits").await, 1);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn mixed_debits_of_shared_wallets_never_go_below_zero() {
    let harness = Harness::start().await;
    let instances = [harness.wallet.clone(), harness.second_instance()];
    let businesses = join_all((0..3).map(|_| harness.funded(10_000))).await;
    let requests: Vec<_> = (0_usize..120)
        .map(|call| {
            let amount = 100 + 37 * i64::try_from(call % 11).unwrap();
            (call, harness.order(), request(businesses[call % 3], amount))
        })
        .collect();
    let calls = requests.iter().map(|(call, order, request)| instances[call % 2].debit(*order, 1, request));
    let answers: Vec<DebitAnswer> = join_all(calls).await.into_iter().map(Result::unwrap).collect();

    let mut left = [10_000; 3];
    for ((call, _, request), answered) in requests.iter().zip(&answers) {
        match answered.outcome {
            Posted => left[call % 3] -= request.amount_paise.get(),
            Rejected => assert!(answered.balance_paise < request.amount_paise),
            Voided => panic!("nobody voids here"),
        }
    }
    for (business, left) in businesses.iter().zip(left) {
        assert_eq!(harness.balance(*business).await, left);
        assert!((0..470).contains(&left), "what is left is less than the largest fee: {left}");
    }
    assert!(answers.iter().any(|answered| answered.outcome == Rejected));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_debit_and_its_void_at_once_agree_on_one_outcome() {
    let harness = Harness::start().await;
    let second = harness.second_instance();
    let business = harness.funded(1_000_000).await;
    let request = request(business, 100);
    let race = async |swap: bool| {
        let order = harness.order();
        let (first, other): (&WalletClient, &WalletClient) =
            if swap { (&second, &harness.wallet) } else { (&harness.wallet, &second) };
        let (debited, voided) = tokio::join!(first.debit(order, 1, &request), other.void(order, 1, &request));
        let (debited, voided) = (debited.unwrap(), voided.unwrap());
        assert_eq!(debited, voided);
        assert!(matches!(debited.outcome, Posted | Voided));
        debited.outcome
    };
    let outcomes = join_all((0..60).map(|call| race(call % 2 == 0))).await;
    let posted = outcomes.iter().filter(|outcome| **outcome == Posted).count();
    assert_eq!(harness.balance(business).await, 1_000_000 - 100 * i64::try_from(posted).unwrap());
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn attempts_of_one_order_at_once_pay_once() {
    let harness = Harness::start().await;
    let second = harness.second_instance();
    let (business, order) = (harness.funded(100_000).await, harness.order());
    let request = request(business, 100);
    let calls = (1..=20).map(|attempt| {
        let instance = if attempt % 2 == 0 { &second } else { &harness.wallet };
        instance.debit(order, attempt, &request)
    });
    let (posted, others): (Vec<_>, Vec<_>) = join_all(calls).await.into_iter().partition(Result::is_ok);
    assert_eq!(posted.len(), 1);
    for other in others {
        assert_eq!(refused(other), (409, "order_already_debited".to_owned()));
    }
    assert_eq!(harness.balance(business).await, 99_900);
    assert_consistent(&harness).await;
}

/// Another instance has inserted the row, but not committed.
#[tokio::test]
async fn a_debit_that_lost_the_race_returns_the_stored_outcome() {
    let harness = Harness::start().await;
    let (business, order) = (harness.business(), harness.order());
    let mut other = harness.connection().await;
    let insert = format!(
        "BEGIN; INSERT INTO debits VALUES ('{order}', 1, '{business}', 100, 'voided', NULL, 0, now())"
    );
    other.batch_execute(&insert).await.unwrap();
    let finish = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        until("the debit waits", async || harness.number(waiting).await == 1).await;
        other.batch_execute("COMMIT").await.expect("the other one commits");
    };
    let (debited, ()) = tokio::join!(harness.debit(business, order, 1, 100), finish);
    assert_eq!(debited.unwrap(), answer(Voided, 0));
    assert_eq!(harness.number("SELECT count(*) FROM debits").await, 1);
}

/// Without a common wallet lock, the constraints of the database decide.
#[tokio::test]
async fn debits_without_a_common_wallet_still_get_one_outcome() {
    let harness = Harness::start().await;
    let instances = [harness.wallet.clone(), harness.second_instance()];
    for _ in 0..10 {
        let (order, nobody) = (harness.order(), request(harness.business(), 100));
        let calls = (0..6).map(|call| instances[call % 2].debit(order, 1, &nobody));
        for answered in join_all(calls).await {
            assert_eq!(answered.unwrap(), answer(Rejected, 0));
        }
    }
    for _ in 0..10 {
        let order = harness.order();
        let rivals = [request(harness.funded(500).await, 100), request(harness.funded(500).await, 100)];
        let calls = (0..6).map(|call| instances[call % 2].debit(order, 1, &rivals[call % 2]));
        let (posted, others): (Vec<_>, Vec<_>) = join_all(calls).await.into_iter().partition(Result::is_ok);
        assert_eq!(posted.len(), 3);
        for other in others {
            assert_eq!(refused(other), (409, "debit_mismatch".to_owned()));
        }
    }
    assert_consistent(&harness).await;
}
