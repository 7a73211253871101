//! Fees and refunds per day.

use domain::EventKind;
use internal_api::wallet::SpendView;
use serde_json::json;
use test_kit::{refusal, until};

use crate::broker::publish;
use crate::harness::Harness;
use crate::refunds::{ended, envelope};

async fn spend(harness: &Harness, business: domain::BusinessId, query: &str) -> SpendView {
    harness.wallet.spend(business, query).await.expect("the days")
}

#[tokio::test]
async fn fees_and_refunds_count_on_their_local_days() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.funded(100_000).await, harness.funded(100_000).await);
    let orders = [harness.order(), harness.order(), harness.order()];
    for (order, amount) in orders.iter().zip([100, 200, 400]) {
        harness.debit(business, *order, 1, amount).await.unwrap();
    }
    harness.debit(other, harness.order(), 1, 7_777).await.unwrap();
    let cancelled = ended(&harness, EventKind::OrderCancelled, orders[1]);
    publish(&harness, &[envelope(&harness, business, cancelled)]).await;
    until("the refund", async || harness.balance(business).await == 100_000 - 700 + 200).await;
    // The first fee was taken before today in every time zone.
    harness.backdate(business, 2, "3 days").await;
    let view = spend(&harness, business, "days=3&timeZone=Asia/Kolkata").await;
    assert_eq!((view.time_zone.as_str(), view.days.len()), ("Asia/Kolkata", 3));
    let today = view.days[2];
    assert_eq!((today.fees_paise.get(), today.orders, today.refunds_paise.get()), (600, 2, 200));
    assert_eq!(view.days[0].fees_paise.get(), 0, "what is older than the first day is left out");
    let wider = spend(&harness, business, "days=4&timeZone=Asia/Kolkata").await;
    assert_eq!((wider.days[0].fees_paise.get(), wider.days[0].orders), (100, 1));
    assert!(wider.days.windows(2).all(|pair| pair[1].date == pair[0].date.succ_opt().expect("a day")));
    assert_eq!(wider.days[1..], view.days[..]);
    assert_eq!(spend(&harness, business, "").await.days.len(), 30);
    assert_eq!(spend(&harness, business, "days=366&timeZone=UTC").await.days.len(), 366);
}

#[tokio::test]
async fn a_business_without_a_wallet_has_empty_days() {
    let harness = Harness::start().await;
    let view = spend(&harness, harness.business(), "days=2").await;
    assert!(view.days.iter().all(|day| day.fees_paise.get() == 0 && day.orders == 0));
    assert_eq!(view.days.len(), 2);
}

#[tokio::test]
async fn invalid_days_and_time_zones_are_refused() {
    let harness = Harness::start().await;
    let business = harness.funded(1_000).await;
    for (query, field) in [
        ("days=0", "days"),
        ("days=367", "days"),
        ("days=x", "days"),
        ("timeZone=Mars/Olympus", "timeZone"),
        ("timeZone=asia/kolkata", "timeZone"),
        ("timeZone=FOO%2B3", "timeZone"),
        ("timeZone=", "timeZone"),
        ("hours=3", "hours"),
    ] {
        let refused = refusal(harness.wallet.spend(business, query).await);
        assert_eq!((refused.status, refused.code.as_str()), (400, "invalid_request"), "{query}");
        assert_eq!(refused.rest["errors"][0]["field"], json!(field), "{query}");
    }
}
