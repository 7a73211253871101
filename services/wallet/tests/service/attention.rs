//! What needs the operator's attention: low balances and late cash.

use domain::{BusinessId, EventKind, Paise};
use events::Body;
use internal_api::attention::{ATTENTION_MAX, LateCash, LowBalance, WalletAttention};
use internal_api::cash::CashQuery;
use serde_json::json;
use test_kit::until;

use crate::broker::publish;
use crate::cash::event;
use crate::harness::{Harness, THRESHOLD};

#[tokio::test]
async fn low_balances_are_listed_from_the_lowest_and_compared_with_the_own_threshold() {
    let harness = Harness::start().await;
    let (low, lower, fine) =
        (harness.funded(THRESHOLD - 1).await, harness.funded(10).await, harness.funded(THRESHOLD).await);
    let own = harness.funded(5_000).await;
    let content = harness.funded(500).await;
    for (business, threshold) in [(own, 6_000), (content, 100)] {
        harness.wallet.set_threshold(business, &json!({ "thresholdPaise": threshold })).await.unwrap();
    }
    // A wallet that was never funded is not low.
    harness.wallet.set_threshold(harness.business(), &json!({ "thresholdPaise": 100 })).await.unwrap();
    let found = harness.wallet.attention(&[]).await.unwrap();
    let balance = |business_id, paise| LowBalance {
        business_id,
        balance_paise: Paise::new(paise),
        owed_paise: Paise::ZERO,
    };
    let expected = [balance(lower, 10), balance(low, THRESHOLD - 1), balance(own, 5_000)];
    let low_balances = expected.to_vec();
    assert_eq!(found, WalletAttention { low_balances, late_cash: Vec::new(), open_discrepancies: Some(0) });
    assert!(found.low_balances.iter().all(|low| low.business_id != fine));

    // The balances of a list; a business without a wallet is left out.
    let listed = harness.wallet.balances(&[fine, lower, harness.business()]).await.unwrap();
    let mut listed: Vec<_> = listed.iter().map(|one| (one.balance_paise.get(), one.business_id)).collect();
    listed.sort_unstable();
    assert_eq!(listed, [(10, lower), (THRESHOLD, fine)]);
}

/// Their balances are 0, the lowest, and would fill the list.
#[tokio::test]
async fn balances_of_closed_businesses_are_not_low() {
    let harness = Harness::start().await;
    let low = harness.funded(10).await;
    let mut closed = Vec::new();
    for _ in 0..=ATTENTION_MAX {
        let business = harness.funded(100).await;
        harness.debit(business, harness.order(), 1, 100).await.unwrap();
        closed.push(business);
    }
    let listed = async |closed: &[BusinessId]| {
        let found = harness.wallet.attention(closed).await.unwrap().low_balances;
        found.iter().map(|low| low.business_id).collect::<Vec<_>>()
    };
    assert!(!listed(&[]).await.contains(&low), "the list is full");
    assert_eq!(listed(&closed).await, [low]);
    assert_eq!(listed(&[low]).await.len(), 20);
}

#[tokio::test]
async fn cash_is_late_after_its_promised_day() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.business(), harness.business());
    for (of, days, kind, amount) in [
        (business, 9, EventKind::CodCollected, Some(1_000)),
        (business, 8, EventKind::OrderDelivered, None),
        (business, 6, EventKind::CodCollected, Some(1_000)),
        // Settled short: a discrepancy, but not late.
        (business, 30, EventKind::CodSettled, Some(900)),
        (other, 12, EventKind::CodHandedOver, Some(1_000)),
    ] {
        let mut report = event(&harness, of, harness.order(), kind, amount);
        let recorded_at = report.occurred_at - chrono::TimeDelta::days(days);
        if let Body::Order(order) = &mut report.body {
            order.recorded_at = Some(recorded_at);
        }
        publish(&harness, &[report]).await;
    }
    let handled = "SELECT count(*) FROM inbox WHERE consumer = 'wallet.cash'";
    until("the events are handled", async || harness.number(handled).await == 5).await;

    let found = harness.wallet.attention(&[]).await.unwrap();
    assert_eq!(found.open_discrepancies, Some(1), "settled short");
    let late = found.late_cash;
    let shown = |late: &LateCash| (late.business_id, late.orders, late.amount_paise.get());
    assert_eq!(late.iter().map(shown).collect::<Vec<_>>(), [(other, 1, 1_000), (business, 2, 2_000)]);
    let totals = harness.wallet.cash(business, &CashQuery::default()).await.unwrap().totals;
    assert_eq!((totals.late_orders, totals.late_paise.get()), (2, 2_000), "the same everywhere");
    let days = (harness.clock.now() - late[0].due_since).num_days();
    assert!((11..=12).contains(&days), "{days}");
}
