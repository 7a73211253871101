//! The statement, page by page.

use internal_api::{Page, PageQuery};
use serde_json::json;

use crate::harness::{Harness, refusal, refused};

#[tokio::test]
async fn the_statement_runs_from_the_newest_back_without_gap_or_repeat() {
    let harness = Harness::start().await;
    let business = harness.funded(1_000).await;
    for _ in 0..6 {
        harness.debit(business, harness.order(), 1, 100).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut query = PageQuery { limit: 3, starting_after: None };
    loop {
        let page = harness.wallet.entries(business, &query).await.unwrap();
        query.starting_after = page.data.last().map(|line| line.id.clone());
        seen.extend(page.data);
        if !page.has_more {
            break;
        }
        // What comes in meanwhile does not shift the pages.
        harness.credit(business, 5, &format!("meanwhile {}", seen.len())).await;
    }
    let lines: Vec<_> = seen.iter().map(|line| (line.id.as_str(), line.balance_after_paise.get())).collect();
    let expected = [("7", 400), ("6", 500), ("5", 600), ("4", 700), ("3", 800), ("2", 900), ("1", 1_000)];
    assert_eq!(lines, expected);

    let exact = PageQuery { limit: 9, starting_after: None };
    assert!(!harness.wallet.entries(business, &exact).await.unwrap().has_more);
    let end = PageQuery { limit: 3, starting_after: Some("1".into()) };
    assert_eq!(harness.wallet.entries(business, &end).await.unwrap(), Page { data: vec![], has_more: false });
}

#[tokio::test]
async fn an_unknown_cursor_is_refused() {
    let harness = Harness::start().await;
    let (business, other) = (harness.funded(1_000).await, harness.funded(1_000).await);
    harness.debit(other, harness.order(), 1, 100).await.unwrap();
    for cursor in ["2", "0", "-1", "01", "+1", "", "x", "9223372036854775808", "1 OR 1=1"] {
        let query = PageQuery { limit: 3, starting_after: Some(cursor.into()) };
        let refused = refusal(harness.wallet.entries(business, &query).await);
        assert_eq!((refused.status, refused.code.as_str()), (400, "invalid_request"), "{cursor}");
        assert_eq!(refused.rest["errors"][0]["field"], "startingAfter");
    }
    let zero = PageQuery { limit: 0, starting_after: None };
    assert_eq!(refused(harness.wallet.entries(business, &zero).await), (400, "invalid_request".into()));
}

#[tokio::test]
async fn tenants_see_their_own_money_only() {
    let harness = Harness::start().await;
    let (mine, yours) = (harness.funded(1_000).await, harness.funded(2_000).await);
    harness.debit(mine, harness.order(), 1, 100).await.unwrap();
    harness.wallet.top_up(yours, &json!({"amountPaise": 7})).await.unwrap();
    assert_eq!((harness.balance(mine).await, harness.balance(yours).await), (900, 2_007));
    let amounts = async |business| -> Vec<i64> {
        harness.entries(business).await.iter().map(|line| line.amount_paise.get()).collect()
    };
    assert_eq!(amounts(mine).await, [-100, 1_000]);
    assert_eq!(amounts(yours).await, [7, 2_000]);
}

#[tokio::test]
async fn an_orders_money_is_its_own_businesss_to_see() {
    let harness = Harness::start().await;
    let (mine, yours) = (harness.funded(1_000).await, harness.funded(1_000).await);
    let (order, refused_first) = (harness.order(), harness.order());
    harness.debit(mine, order, 1, 100).await.unwrap();
    harness.debit(mine, harness.order(), 1, 200).await.unwrap();
    harness.debit(mine, refused_first, 1, 5_000).await.unwrap();
    let lines = harness.wallet.entries_of_order(mine, order).await.unwrap();
    let seen: Vec<_> = lines.iter().map(|line| (line.kind.as_str(), line.amount_paise.get())).collect();
    assert_eq!(seen, [("delivery_fee", -100)]);
    assert_eq!((lines[0].order_id, lines[0].balance_after_paise.get()), (Some(order), 900));
    assert_eq!(harness.wallet.entries_of_order(mine, refused_first).await.unwrap(), []);
    assert_eq!(harness.wallet.entries_of_order(yours, order).await.unwrap(), []);
    assert_eq!(harness.wallet.entries_of_order(mine, harness.order()).await.unwrap(), []);
}
