//! Pages and filters of the statement.

use internal_api::Page;
use internal_api::wallet::{EntriesQuery, StatementPeriod};
use serde_json::json;
use test_kit::{refusal, refused};

use crate::harness::Harness;

#[tokio::test]
async fn pages_are_newest_first_without_gaps_or_repetitions() {
    let harness = Harness::start().await;
    let business = harness.funded(1_000).await;
    for _ in 0..6 {
        harness.debit(business, harness.order(), 1, 100).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut query = EntriesQuery { limit: Some(3), ..EntriesQuery::default() };
    loop {
        let page = harness.wallet.entries(business, &query).await.unwrap();
        query.starting_after = page.data.last().map(|line| line.id.clone());
        seen.extend(page.data);
        if !page.has_more {
            break;
        }
        // New entries do not shift the pages.
        harness.credit(business, 5, &format!("meanwhile {}", seen.len())).await;
    }
    let lines: Vec<_> = seen.iter().map(|line| (line.id.as_str(), line.balance_after_paise.get())).collect();
    let expected = [("7", 400), ("6", 500), ("5", 600), ("4", 700), ("3", 800), ("2", 900), ("1", 1_000)];
    assert_eq!(lines, expected);

    let exact = EntriesQuery { limit: Some(9), ..EntriesQuery::default() };
    assert!(!harness.wallet.entries(business, &exact).await.unwrap().has_more);
    let end = EntriesQuery { limit: Some(3), starting_after: Some("1".into()), ..EntriesQuery::default() };
    assert_eq!(harness.wallet.entries(business, &end).await.unwrap(), Page { data: vec![], has_more: false });
}

#[tokio::test]
async fn a_period_begins_and_ends_with_the_balances_of_its_times() {
    let harness = Harness::start().await;
    let (business, other) = (harness.funded(1_000).await, harness.funded(5_000).await);
    for amount in [100, 200, 400] {
        harness.debit(business, harness.order(), 1, amount).await.unwrap();
    }
    harness.debit(other, harness.order(), 1, 1).await.unwrap();
    // The deposit and the first fee are 40 days old, the second fee 10.
    harness.backdate(business, 3, "10 days").await;
    harness.backdate(business, 2, "30 days").await;
    let totals = async |business: domain::BusinessId, days: [i64; 2]| {
        let now = harness.clock.now();
        let [since, until] = days.map(|days| Some((now - chrono::TimeDelta::days(days)).to_rfc3339()));
        let period = StatementPeriod { since, until, kind: None };
        let seen = harness.wallet.statement_totals(business, &period).await.expect("totals");
        let sums = [seen.opening_paise, seen.in_paise, seen.out_paise, seen.closing_paise];
        (sums.map(domain::Paise::get), seen.entries)
    };
    assert_eq!(totals(business, [20, -1]).await, ([900, 0, -600, 300], 2));
    assert_eq!(totals(business, [20, 5]).await, ([900, 0, -200, 700], 1));
    assert_eq!(totals(business, [100, 20]).await, ([0, 1_000, -100, 900], 2));
    assert_eq!(totals(harness.business(), [20, 5]).await, ([0; 4], 0), "without a wallet");
    for (since, until, message) in [
        ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "since must not be after until"),
        ("2025-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "since must be at most 366 days"),
        ("2026-01-01", "2026-02-01T00:00:00Z", "since must be an RFC 3339 time"),
        ("", "soon", "until must be an RFC 3339 time"),
    ] {
        let since = Some(since.to_owned()).filter(|since| !since.is_empty());
        let period = StatementPeriod { since, until: Some(until.to_owned()), kind: None };
        let refused = refusal(harness.wallet.statement_totals(business, &period).await);
        let shown = refused.rest["errors"][0]["message"].to_string();
        assert!(refused.status == 400 && shown.contains(message), "{until}: {shown}");
    }
}

#[tokio::test]
async fn a_period_has_the_sums_of_one_kind() {
    let harness = Harness::start().await;
    let (business, other) = (harness.funded(1_000).await, harness.funded(5_000).await);
    for amount in [100, 200, 400] {
        harness.debit(business, harness.order(), 1, amount).await.unwrap();
    }
    harness.debit(other, harness.order(), 1, 1).await.unwrap();
    let deposit = harness.entries(business).await.pop().expect("the deposit").transfer_id;
    let back = json!({"amountPaise": 500, "reference": "back", "reverses": deposit});
    harness.wallet.debit_by_operator(business, &back).await.unwrap();
    harness.wallet.top_up(business, None, &json!({"amountPaise": 50})).await.unwrap();
    // The deposit and the first two fees are 10 days old.
    harness.backdate(business, 3, "10 days").await;
    let sums = async |business: domain::BusinessId, kind: Option<&str>| {
        let since = Some((harness.clock.now() - chrono::TimeDelta::days(5)).to_rfc3339());
        let until = Some((harness.clock.now() + chrono::TimeDelta::hours(1)).to_rfc3339());
        let period = StatementPeriod { since, until, kind: kind.map(str::to_owned) };
        let seen = harness.wallet.statement_totals(business, &period).await.expect("totals");
        let balances = (seen.opening_paise.get(), seen.closing_paise.get());
        assert_eq!(balances, if business == other { (0, 4_999) } else { (700, 0) }, "{kind:?}");
        (seen.in_paise.get(), seen.out_paise.get(), seen.owed_paise.get(), seen.entries)
    };
    for (kind, expected) in [
        (None, (50, -750, 150, 4)),
        (Some("delivery_fee"), (0, -400, 0, 1)),
        (Some("top_up"), (50, 0, 0, 1)),
        (Some("operator_credit"), (0, 0, 0, 0)),
        (Some("refund"), (0, 0, 0, 0)),
        (Some("operator_debit"), (0, -300, 0, 1)),
        (Some("operator_debit_shortfall"), (0, 0, 200, 1)),
        (Some("receivable_payment"), (0, -50, -50, 1)),
    ] {
        assert_eq!(sums(business, kind).await, expected, "{kind:?}");
    }
    let earlier = async |kind: &str| {
        let [since, until] = [20, 5].map(|days| harness.clock.now() - chrono::TimeDelta::days(days));
        let [since, until] = [since, until].map(|time| Some(time.to_rfc3339()));
        let period = StatementPeriod { since, until, kind: Some(kind.to_owned()) };
        let seen = harness.wallet.statement_totals(business, &period).await.expect("totals");
        (seen.in_paise.get(), seen.out_paise.get(), seen.entries)
    };
    assert_eq!(earlier("operator_credit").await, (1_000, 0, 1));
    assert_eq!(earlier("delivery_fee").await, (0, -300, 2));
    assert_eq!(earlier("operator_debit").await, (0, 0, 0));
    assert_eq!(sums(other, Some("delivery_fee")).await, (0, -1, 0, 1));
    assert_eq!(sums(other, Some("operator_credit")).await, (5_000, 0, 0, 1));
    assert_eq!(sums(other, Some("operator_debit_shortfall")).await, (0, 0, 0, 0));
    let unknown = StatementPeriod { kind: Some("gift".to_owned()), ..StatementPeriod::default() };
    let refused = refusal(harness.wallet.statement_totals(business, &unknown).await);
    assert_eq!((refused.status, &refused.rest["errors"][0]["field"]), (400, &json!("kind")));
}

#[tokio::test]
async fn an_unknown_cursor_is_refused() {
    let harness = Harness::start().await;
    let (business, other) = (harness.funded(1_000).await, harness.funded(1_000).await);
    harness.debit(other, harness.order(), 1, 100).await.unwrap();
    for cursor in ["2", "0", "-1", "01", "+1", "", "x", "9223372036854775808", "1 OR 1=1"] {
        let query =
            EntriesQuery { limit: Some(3), starting_after: Some(cursor.into()), ..EntriesQuery::default() };
        let refused = refusal(harness.wallet.entries(business, &query).await);
        assert_eq!((refused.status, refused.code.as_str()), (400, "invalid_request"), "{cursor}");
        assert_eq!(refused.rest["errors"][0]["field"], "startingAfter");
    }
    let zero = EntriesQuery { limit: Some(0), ..EntriesQuery::default() };
    assert_eq!(refused(harness.wallet.entries(business, &zero).await), (400, "invalid_request".into()));
}

#[tokio::test]
async fn businesses_see_only_their_own_entries() {
    let harness = Harness::start().await;
    let (mine, yours) = (harness.funded(1_000).await, harness.funded(2_000).await);
    harness.debit(mine, harness.order(), 1, 100).await.unwrap();
    harness.wallet.top_up(yours, None, &json!({"amountPaise": 7})).await.unwrap();
    assert_eq!((harness.balance(mine).await, harness.balance(yours).await), (900, 2_007));
    let amounts = async |business| -> Vec<i64> {
        harness.entries(business).await.iter().map(|line| line.amount_paise.get()).collect()
    };
    assert_eq!(amounts(mine).await, [-100, 1_000]);
    assert_eq!(amounts(yours).await, [7, 2_000]);
}

#[tokio::test]
async fn only_the_business_of_an_order_sees_its_entries() {
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

#[tokio::test]
async fn a_statement_is_filtered_by_kind_time_and_order() {
    let harness = Harness::start().await;
    let business = harness.funded(10_000).await;
    let orders = [harness.order(), harness.order(), harness.order()];
    for order in orders {
        harness.debit(business, order, 1, 100).await.unwrap();
    }
    harness.wallet.top_up(business, None, &json!({"amountPaise": 70})).await.unwrap();
    harness.debit(business, harness.order(), 1, 100).await.unwrap();
    // Gives the entries known times. Other triggers stay enabled.
    let times = "ALTER TABLE entries DISABLE TRIGGER append_only;
        GRANT UPDATE ON entries TO CURRENT_USER;
        UPDATE entries SET created_at = timestamptz '2026-01-01 00:00:00+00' + sequence * interval '1 hour'
            WHERE sequence IS NOT NULL;
        ALTER TABLE entries ENABLE TRIGGER append_only";
    harness.script(times).await.unwrap();
    let all = EntriesQuery { limit: Some(100), ..EntriesQuery::default() };
    let seen = async |query: EntriesQuery| -> Vec<String> {
        let page = harness.wallet.entries(business, &query).await.unwrap();
        page.data.into_iter().map(|line| line.id).collect()
    };
    let of_kind = |kind: &str| EntriesQuery { kind: Some(kind.into()), ..all.clone() };
    assert_eq!(seen(of_kind("delivery_fee")).await, ["6", "4", "3", "2"]);
    assert_eq!(seen(of_kind("top_up")).await, ["5"]);
    assert_eq!(seen(of_kind("operator_credit")).await, ["1"]);
    assert_eq!(seen(of_kind("refund")).await, [""; 0]);
    let after = |id: &str| EntriesQuery { starting_after: Some(id.into()), ..of_kind("top_up") };
    assert_eq!((seen(after("6")).await, seen(after("5")).await), (vec!["5".to_owned()], vec![]));
    let between = |since: &str, until: &str| EntriesQuery {
        since: Some(since.into()),
        until: Some(until.into()),
        ..all.clone()
    };
    let (second, fifth) = ("2026-01-01T02:00:00Z", "2026-01-01T10:30:00+05:30");
    assert_eq!(seen(between(second, fifth)).await, ["4", "3", "2"], "from then on, and before then");
    assert_eq!(seen(between(fifth, second)).await, [""; 0]);
    let filtered =
        EntriesQuery { kind: Some("delivery_fee".into()), limit: Some(2), ..between(second, fifth) };
    assert_eq!(seen(filtered.clone()).await, ["4", "3"]);
    assert_eq!(seen(EntriesQuery { starting_after: Some("3".into()), ..filtered }).await, ["2"]);
    let of_order = EntriesQuery { order_id: Some(orders[1]), ..all.clone() };
    assert_eq!(seen(of_order.clone()).await, ["3"]);
    assert_eq!(seen(EntriesQuery { kind: Some("refund".into()), ..of_order.clone() }).await, [""; 0]);
    assert_eq!(seen(EntriesQuery { starting_after: Some("3".into()), ..of_order }).await, [""; 0]);

    for (field, query) in [
        ("kind", of_kind("gift")),
        ("kind", of_kind("cod_collected")),
        ("since", EntriesQuery { since: Some("yesterday".into()), ..all.clone() }),
        ("until", EntriesQuery { until: Some("2026-13-01T00:00:00Z".into()), ..all.clone() }),
    ] {
        let refused = refusal(harness.wallet.entries(business, &query).await);
        assert_eq!((refused.status, &refused.rest["errors"][0]["field"]), (400, &json!(field)));
    }
}
