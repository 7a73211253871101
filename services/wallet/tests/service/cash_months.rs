//! Cash by month, and the filter of the list by order.

use diesel_async::SimpleAsyncConnection;
use domain::{BusinessId, EventKind, Paise};
use internal_api::cash::CashQuery;
use test_kit::until;

use crate::broker::publish;
use crate::cash::event;
use crate::harness::Harness;
use crate::remittances::{HANDLED, handed_over, remit};

#[tokio::test]
async fn months_name_cash_that_nobody_reported_and_settlements_without_a_bank_transfer() {
    let harness = Harness::connected().await;
    let business = harness.business();
    let order = handed_over(&harness, business, 1).await[0];
    remit(&harness, business, order).await;
    let reports = [
        event(&harness, business, harness.order(), EventKind::OrderDelivered, None),
        event(&harness, business, harness.order(), EventKind::CodSettled, Some(700)),
    ];
    publish(&harness, &reports).await;
    until("the reports are handled", async || harness.number(HANDLED).await == 5).await;
    let month = harness.wallet.cash_months(business).await.expect("months").remove(0);
    let sums =
        [month.owed_paise, month.unreported_paise, month.settled_paise, month.settled_without_transfer_paise];
    assert_eq!((month.orders, sums.map(Paise::get)), (3, [3_000, 1_000, 1_700, 700]));
    assert_eq!(month.settled_without_transfer_orders, 1);
    let one = CashQuery { order_id: Some(order.to_string()), ..CashQuery::default() };
    assert_eq!(found(&harness, business, one.clone()).await, 1);
    assert_eq!(found(&harness, harness.business(), one).await, 0, "of another business");
}

/// Stores all sums: the worker of a new instance begins at once.
async fn store(harness: &Harness) {
    harness.second_instance();
    let outdated = "SELECT count(*) FROM cash_sums_outdated";
    until("all sums are stored", async || harness.number(outdated).await == 0).await;
}

/// Of the only month: orders, and owed, settled and outstanding paise.
async fn sums(harness: &Harness, business: BusinessId) -> (i64, [i64; 3]) {
    let months = harness.wallet.cash_months(business).await.expect("months");
    let [month] = months.as_slice() else { panic!("{months:?}") };
    (month.orders, [month.owed_paise, month.settled_paise, month.outstanding_paise].map(Paise::get))
}

/// The same, of stored sums.
pub(crate) async fn stored(harness: &Harness, business: BusinessId) -> (i64, [i64; 3]) {
    store(harness).await;
    sums(harness, business).await
}

#[tokio::test]
async fn stored_sums_follow_the_cash() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.business(), harness.business());
    let orders = handed_over(&harness, business, 3).await;
    handed_over(&harness, other, 1).await;
    for _ in 0..2 {
        assert_eq!(sums(&harness, business).await, (3, [3_000, 0, 3_000]));
        store(&harness).await;
    }
    assert_eq!(sums(&harness, other).await.0, 1);
    harness.script("UPDATE cash_sums SET orders = 7").await.unwrap();
    assert_eq!(sums(&harness, business).await.0, 7, "the stored sums are read");

    // A report whose transaction has not ended while the sums are stored, and a difference that is closed.
    let mut fleet = harness.connection().await;
    let settled = format!(
        "BEGIN; UPDATE cash SET settled_paise = 600, settled_at = now() WHERE order_id = '{}'",
        orders[0]
    );
    fleet.batch_execute(&settled).await.unwrap();
    store(&harness).await;
    fleet.batch_execute("COMMIT").await.unwrap();
    assert_eq!(sums(&harness, business).await, (3, [3_000, 600, 2_400]));
    store(&harness).await;
    let closed = format!(
        "INSERT INTO cash_differences (business_id, order_id, resolution, updated_at)
        VALUES ('{business}', '{}', 'written off', now())",
        orders[0]
    );
    harness.script(&closed).await.unwrap();
    for _ in 0..2 {
        assert_eq!(sums(&harness, business).await, (3, [3_000, 600, 2_000]));
        store(&harness).await;
    }
}

/// The number of orders with cash.
async fn found(harness: &Harness, business: BusinessId, filter: CashQuery) -> usize {
    harness.wallet.cash(business, &filter).await.expect("an overview").data.len()
}
