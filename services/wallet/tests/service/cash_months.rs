//! Cash by month, and the filter of the list by order.

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

/// The number of orders with cash.
async fn found(harness: &Harness, business: BusinessId, filter: CashQuery) -> usize {
    harness.wallet.cash(business, &filter).await.expect("an overview").data.len()
}
