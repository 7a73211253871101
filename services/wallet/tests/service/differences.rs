//! Differences of cash: which are open, and what the metrics count.

use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
use domain::{BusinessId, EventKind, OrderId, Paise};
use internal_api::PageQuery;
use internal_api::cash::{AssignDifference, CashQuery, CashView};
use internal_api::remittances::RemittanceLine;
use test_kit::{refusal, until};
use url::Url;

use crate::broker::publish;
use crate::cash::event;
use crate::harness::Harness;
use crate::invariants::assert_consistent;
use crate::remittances::{HANDLED, balances, handed_over, line, overview, request};

/// The list of all businesses, the filter of one, its totals and the orders themselves agree.
#[tokio::test]
async fn a_difference_is_open_until_it_is_closed() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.business(), harness.business());
    let orders = handed_over(&harness, business, 2).await;
    harness.wallet.remit(business, &request("UTR 1", vec![line(orders[0])])).await.expect("a remittance");
    let crossing = |amount| event(&harness, business, orders[0], EventKind::CodSettled, Some(amount));
    let short = event(&harness, other, harness.order(), EventKind::CodCollected, Some(900));
    let order_of = |envelope: &events::Envelope| match &envelope.body {
        events::Body::Order(event) => event.order.id,
        _ => panic!("another event"),
    };
    let foreign = order_of(&short);
    let before = harness.number(HANDLED).await;
    publish(&harness, &[crossing(950), short]).await;
    until("the reports are handled", async || harness.number(HANDLED).await == before + 2).await;
    assert_open(&harness, [business, other], &[(business, orders[0]), (other, foreign)]).await;

    let closed = AssignDifference { resolution: Some("paid".into()), ..AssignDifference::default() };
    harness.wallet.assign_cash_difference(other, &foreign.to_string(), &closed).await.expect("closed");
    assert_open(&harness, [business, other], &[(business, orders[0])]).await;
    harness.wallet.assign_cash_difference(business, &orders[0].to_string(), &closed).await.expect("closed");
    assert_open(&harness, [business, other], &[]).await;
    let shown = overview(&harness, other).await.data.remove(0).difference.expect("a difference");
    assert_eq!(shown.resolution, closed.resolution);

    // It opens on purpose only.
    let mut owned = AssignDifference { owner: Some("Ravi".into()), ..AssignDifference::default() };
    let order = foreign.to_string();
    let refused = harness.wallet.assign_cash_difference(other, &order, &owned).await;
    assert_eq!(refusal(refused).code, "difference_closed");
    assert_open(&harness, [business, other], &[]).await;
    owned.reopen = true;
    harness.wallet.assign_cash_difference(other, &order, &owned).await.expect("reopened");
    assert_open(&harness, [business, other], &[(other, foreign)]).await;
    harness.wallet.assign_cash_difference(other, &order, &closed).await.expect("closed");

    // Another report opens it again.
    let shorter = event(&harness, other, foreign, EventKind::CodHandedOver, Some(700));
    publish(&harness, &[crossing(940), shorter]).await;
    until("the reports are handled", async || harness.number(HANDLED).await == before + 4).await;
    assert_open(&harness, [business, other], &[(business, orders[0]), (other, foreign)]).await;
    // Only the remittance booked the settlement.
    assert!(has_metric(&harness, "wallet_cash_steps_total", "settled", 1).await);
    assert!(has_metric(&harness, "wallet_cash_discrepancies_total", "settled", 2).await);

    // Also a bank transfer of another amount.
    harness.wallet.assign_cash_difference(other, &foreign.to_string(), &closed).await.expect("closed");
    let less =
        RemittanceLine { amount_paise: Some(Paise::new(600)), note: Some("less".into()), ..line(foreign) };
    harness.wallet.remit(other, &request("UTR 2", vec![less])).await.expect("a remittance");
    assert_open(&harness, [business, other], &[(business, orders[0]), (other, foreign)]).await;
}

/// The fleet's settlement and the bank transfer of one order, in both orders of arrival. Without a bank transfer, order-api
/// keeps the fleet's report; with one, it settles the order again with the transfer's amount, and wallet hears that too.
#[tokio::test]
async fn the_bank_transfer_counts_unless_the_fleet_was_first() {
    let harness = Harness::connected().await;
    let business = harness.business();
    let orders = handed_over(&harness, business, 4).await;
    for (order, (is_fleet_first, reported, settled, difference, reported_beside)) in orders.into_iter().zip([
        (true, 1_000, 1_000, None, None),
        (true, 950, 950, Some(-50), None),
        (false, 1_000, 1_000, None, None),
        (false, 950, 1_000, None, Some(950)),
    ]) {
        let case = format!("{is_fleet_first} {reported}");
        let remit = async || {
            let wanted = request(&format!("UTR {order}"), vec![line(order)]);
            harness.wallet.remit(business, &wanted).await
        };
        if !is_fleet_first {
            remit().await.expect("a remittance");
        }
        let before = harness.number(HANDLED).await;
        let report = event(&harness, business, order, EventKind::CodSettled, Some(reported));
        let of_order_api = event(&harness, business, order, EventKind::CodSettled, Some(settled));
        publish(&harness, &[report.clone(), report, of_order_api]).await;
        until("the reports are handled", async || harness.number(HANDLED).await == before + 2).await;
        if is_fleet_first {
            assert_eq!(refusal(remit().await).rest["errors"][0]["code"], "already_settled", "{case}");
        }
        let filter = CashQuery { order_id: Some(order.to_string()), ..CashQuery::default() };
        let seen = harness.wallet.cash(business, &filter).await.expect("an overview").data.remove(0);
        let paise = |amount: Option<Paise>| amount.map(Paise::get);
        assert_eq!(paise(seen.settled_paise), Some(settled), "{case}");
        assert_eq!(paise(seen.difference_paise), difference, "{case}");
        assert_eq!(paise(seen.reported_settled_paise), reported_beside, "{case}");
        assert_eq!(seen.discrepant, difference.is_some() || reported_beside.is_some(), "{case}");
        assert_eq!(seen.remittance.is_some(), !is_fleet_first, "{case}");
    }
    // Nothing is booked twice: what the ledger lacks is what the fleet kept of the second order.
    assert_eq!(balances(&harness, business).await, [50, 0, -50]);
    assert_consistent(&harness).await;
}

/// Of all ways to close some of these differences: what is owed is what the orders without a closed one lack.
#[tokio::test]
async fn a_closed_difference_of_a_settled_order_is_not_owed() {
    let harness = Harness::connected().await;
    let business = harness.business();
    let paid = [900, 1_100, 400];
    let mut orders = handed_over(&harness, business, 4).await;
    let unsettled = orders.pop().expect("an order");
    let lines = orders.iter().zip(paid).map(|(order, paise)| RemittanceLine {
        amount_paise: Some(Paise::new(paise)),
        note: Some("as agreed".into()),
        ..line(*order)
    });
    harness.wallet.remit(business, &request("UTR 4", lines.collect())).await.expect("a remittance");
    let ways = 1 << orders.len();
    for closed in 0..ways {
        let mut owed = 1_000;
        for (index, (order, paise)) in orders.iter().zip(paid).enumerate() {
            let is_closed = (closed >> index) & 1 == 1;
            let resolution = is_closed.then(|| "The bank took it".to_owned());
            let assigned =
                AssignDifference { owner: Some("Asha".into()), resolution, note: None, reopen: true };
            let order = order.to_string();
            harness.wallet.assign_cash_difference(business, &order, &assigned).await.expect("assigned");
            owed += if is_closed { 0 } else { 1_000 - paise };
        }
        let totals = overview(&harness, business).await.totals;
        let sum: i64 = totals.ages.iter().map(|age| age.amount_paise.get()).sum();
        assert_eq!((totals.outstanding_paise.get(), sum), (owed, owed), "{closed:b}");
        let months = harness.wallet.cash_months(business).await.expect("months");
        assert_eq!(months[0].outstanding_paise.get(), owed, "{closed:b}");
    }
    // Cash that is not settled is owed, whatever somebody wrote about its difference.
    let less = RemittanceLine {
        amount_paise: Some(Paise::new(1)),
        note: Some("one paisa".into()),
        ..line(unsettled)
    };
    harness.wallet.remit(business, &request("UTR 5", vec![less])).await.expect("a remittance");
    assert_eq!(overview(&harness, business).await.totals.outstanding_paise.get(), 999);
}

/// The payout pays what was handed over, which is less than what was collected: nothing that the closing did not know.
#[tokio::test]
async fn a_closed_difference_stays_closed_when_the_payout_has_the_same() {
    let harness = Harness::connected().await;
    let (business, order) = (harness.business(), harness.order());
    let steps = [(EventKind::CodCollected, 1_000), (EventKind::CodHandedOver, 900)];
    let before = harness.number(HANDLED).await;
    publish(&harness, &steps.map(|(kind, amount)| event(&harness, business, order, kind, Some(amount))))
        .await;
    until("the reports are handled", async || harness.number(HANDLED).await == before + 2).await;
    let closed =
        AssignDifference { resolution: Some("the driver lost it".into()), ..AssignDifference::default() };
    let close = async || harness.wallet.assign_cash_difference(business, &order.to_string(), &closed).await;
    let owed = async || {
        let months = harness.wallet.cash_months(business).await.expect("months");
        let totals = overview(&harness, business).await.totals;
        [totals.outstanding_paise, months[0].outstanding_paise].map(Paise::get)
    };
    close().await.expect("closed");
    assert_eq!(owed().await, [1_000, 1_000]);
    harness.wallet.remit(business, &request("UTR 6", vec![line(order)])).await.expect("a remittance");
    assert_eq!(owed().await, [0, 0]);
    let paid = overview(&harness, business).await.data.remove(0);
    assert_eq!((paid.settled_paise, paid.discrepant), (Some(Paise::new(900)), false));
    assert_eq!(paid.difference_paise, Some(Paise::new(-100)));
    assert_eq!(paid.difference.expect("a difference").resolution, closed.resolution);
}

/// An instance of release 1.0.0, which knows no differences, settles orders whose difference somebody closed. Its role may have no
/// rights on them yet.
#[tokio::test]
async fn the_database_opens_the_difference_of_a_payout_by_the_former_release() {
    let mut owner = String::new();
    let harness =
        Harness::start_with_granted_rights(|settings| settings.database.url.expose().clone_into(&mut owner))
            .await;
    let mut owner = AsyncPgConnection::establish(&owner).await.expect("a connection");
    let role = Url::parse(harness.settings.database.url.expose()).expect("a URL");
    let rights = |change: &str| format!("{change} \"{}\"", role.username());
    let (revoke, grant) = (
        rights("REVOKE ALL ON cash_differences FROM"),
        rights("GRANT SELECT, INSERT, UPDATE ON cash_differences TO"),
    );
    let closed = AssignDifference { resolution: Some("agreed".into()), ..AssignDifference::default() };
    for (collected, handed_over, settled, owed) in [
        (1_000, 900, 800, Some(200)),
        (900, 900, 800, Some(100)),
        // The same difference, but what the payout lacks is news.
        (1_100, 1_100, 1_000, Some(100)),
        (1_000, 900, 1_000, Some(0)),
        (1_000, 900, 900, None),
        (900, 900, 900, None),
    ] {
        let (business, order) = (harness.business(), harness.order());
        let steps = [(EventKind::CodCollected, collected), (EventKind::CodHandedOver, handed_over)];
        let reports = steps.map(|(kind, amount)| event(&harness, business, order, kind, Some(amount)));
        let before = harness.number(HANDLED).await;
        publish(&harness, &reports).await;
        until("the reports are handled", async || harness.number(HANDLED).await == before + 2).await;
        harness.wallet.assign_cash_difference(business, &order.to_string(), &closed).await.expect("closed");
        // Of what this release writes, it writes only this and the ledger.
        let settle = format!(
            "UPDATE cash SET settled_paise = {settled}, settled_at = now()
             WHERE order_id = '{order}' AND business_id = '{business}'"
        );
        owner.batch_execute(&revoke).await.expect("no rights");
        harness.script(&settle).await.expect("settled");
        owner.batch_execute(&grant).await.expect("rights");
        let seen = overview(&harness, business).await;
        assert_eq!(
            (seen.data[0].discrepant, seen.totals.outstanding_paise.get()),
            (owed.is_some(), owed.unwrap_or(0)),
            "{collected} {handed_over} {settled}"
        );
    }
}

/// A business sees that less was paid out, whatever the operator does about it.
#[tokio::test]
async fn a_closed_difference_stays_visible() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.business(), harness.business());
    let orders = handed_over(&harness, business, 2).await;
    let short = RemittanceLine {
        amount_paise: Some(Paise::new(900)),
        note: Some("torn note".into()),
        ..line(orders[0])
    };
    harness.wallet.remit(business, &request("UTR 3", vec![short, line(orders[1])])).await.expect("paid");
    for (resolution, state) in [(None, "assigned"), (Some("paid in cash"), "closed")] {
        let resolution = resolution.map(Into::into);
        let assigned =
            AssignDifference { owner: Some("Asha".into()), resolution, ..AssignDifference::default() };
        let order = orders[0].to_string();
        harness.wallet.assign_cash_difference(business, &order, &assigned).await.expect("assigned");
        let filter = CashQuery { differs: Some("true".into()), ..CashQuery::default() };
        let found = harness.wallet.cash(business, &filter).await.expect("an overview").data;
        let seen: Vec<_> = found
            .iter()
            .map(|cash| {
                (cash.order_id, cash.difference_paise, cash.difference_state.as_deref(), cash.discrepant)
            })
            .collect();
        assert_eq!(seen, [(orders[0], Some(Paise::new(-100)), Some(state), state != "closed")]);
        assert!(harness.wallet.cash(other, &filter).await.expect("an overview").data.is_empty());
        let filter = CashQuery { differs: Some("false".into()), ..CashQuery::default() };
        let found = harness.wallet.cash(business, &filter).await.expect("an overview").data;
        assert_eq!(found.iter().map(|cash| cash.order_id).collect::<Vec<_>>(), [orders[1]]);
    }
    let paid = overview(&harness, business).await.data;
    let paid = paid.iter().find(|cash| cash.order_id == orders[1]).expect("the other order");
    assert_eq!((paid.difference_paise, paid.difference_state.as_deref()), (None, None));
}

/// The ledger and the remittance keep what they say: they are books.
#[tokio::test]
async fn what_the_staff_wrote_about_a_closed_business_is_erased() {
    let harness = Harness::start_with_granted_rights(|_| {}).await;
    let (business, other) = (harness.business(), harness.business());
    let assigned = AssignDifference {
        owner: Some("Ravi".into()),
        note: Some("Asha calls him".into()),
        resolution: Some("Asha has it".into()),
        reopen: false,
    };
    for of in [business, other] {
        let order = handed_over(&harness, of, 1).await[0];
        let short = RemittanceLine {
            amount_paise: Some(Paise::new(900)),
            note: Some("torn note".into()),
            ..line(order)
        };
        harness.wallet.remit(of, &request("UTR 7", vec![short])).await.expect("paid");
        harness.wallet.assign_cash_difference(of, &order.to_string(), &assigned).await.expect("closed");
    }
    // More than one call erases.
    let many = format!(
        "INSERT INTO cash_differences (business_id, order_id, owner, updated_at)
         SELECT '{business}', 'ord_' || lpad(n::text, 26, '0'), 'Asha', now() FROM generate_series(1, 600) AS n"
    );
    harness.script(&many).await.expect("differences");
    let before = overview(&harness, business).await.data.remove(0);
    for complete in [false, true, true] {
        assert_eq!(harness.wallet.erase_business(business).await.expect("erased").complete, complete);
    }
    let left = format!(
        "SELECT count(*) FROM cash_differences
         WHERE business_id = '{business}' AND (owner, note, coalesce(resolution, 'Erased')) IS DISTINCT FROM
            (NULL, NULL, 'Erased')"
    );
    assert_eq!(harness.number(&left).await, 0);
    let mut after = overview(&harness, business).await.data.remove(0);
    let text = after.difference.as_ref().and_then(|known| known.resolution.as_deref());
    assert_eq!(text, Some("Erased"));
    after.difference = before.difference.clone();
    assert_eq!(after, before);
    let kept = overview(&harness, other).await.data.remove(0).difference.expect("a difference");
    assert_eq!((kept.owner, kept.note), (assigned.owner, assigned.note));
    let url = format!("internal/wallets/{business}/erasure");
    let url = harness.internal.join(&url).expect("a path");
    let refused = test_kit::client().post(url).send().await.expect("an answer");
    assert_eq!(refused.status().as_u16(), 401);
}

/// Exactly these differences are open, at most one of each business.
async fn assert_open(harness: &Harness, businesses: [BusinessId; 2], open: &[(BusinessId, OrderId)]) {
    let mut expected: Vec<OrderId> = open.iter().map(|(_, order)| *order).collect();
    expected.sort_unstable_by(|one, other| other.cmp(one));
    let ids = |cash: &[CashView]| cash.iter().map(|cash| cash.order_id).collect::<Vec<_>>();
    let all = PageQuery { limit: 10, starting_after: None };
    let listed = harness.wallet.cash_discrepancies(&all).await.expect("discrepancies").data;
    assert_eq!(ids(&listed), expected);
    for business in businesses {
        let filter = CashQuery { discrepant: Some("true".into()), ..CashQuery::default() };
        let found = harness.wallet.cash(business, &filter).await.expect("an overview");
        let expected: Vec<_> =
            open.iter().filter(|(of, _)| *of == business).map(|(_, order)| *order).collect();
        assert_eq!(
            (ids(&found.data), found.totals.discrepancies),
            (expected.clone(), i64::try_from(expected.len()).expect("few"))
        );
        let all = overview(harness, business).await.data;
        let (marked, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|cash| cash.discrepant);
        let filter = CashQuery { discrepant: Some("false".into()), ..CashQuery::default() };
        let unmarked = harness.wallet.cash(business, &filter).await.expect("an overview").data;
        assert_eq!((ids(&marked), ids(&unmarked)), (expected, ids(&others)));
    }
}

pub(crate) async fn has_metric(harness: &Harness, name: &str, label: &str, value: u32) -> bool {
    let url = harness.management.join("/metrics").expect("a path");
    let Ok(response) = test_kit::client().get(url).send().await else { return false };
    let value = format!(" {value}");
    let is_it = |line: &str| line.starts_with(name) && line.contains(label) && line.ends_with(&value);
    response.text().await.is_ok_and(|text| text.lines().any(is_it))
}
