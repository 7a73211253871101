//! Remittances: many orders are settled in one transaction, once per bank reference.

use domain::{BusinessId, EventKind, OrderId, Paise};
use internal_api::cash::{AssignDifference, CashOverview, CashQuery};
use internal_api::remittances::{
    RemittanceCheckRequest, RemittanceDetails, RemittanceLine, RemittanceRequest,
};
use internal_api::{CallError, PageQuery};
use serde_json::{Value, json};
use test_kit::{Gate, refusal, until};

use crate::broker::publish;
use crate::cash::event;
use crate::differences::has_metric;
use crate::harness::Harness;
use crate::invariants::assert_consistent;
use crate::process::serve;

/// Orders of ₹10 each, whose cash the operator holds.
pub(crate) async fn handed_over(harness: &Harness, business: BusinessId, count: usize) -> Vec<OrderId> {
    let orders: Vec<OrderId> = (0..count).map(|_| harness.order()).collect();
    let mut reports = Vec::new();
    for order in &orders {
        for kind in [EventKind::OrderDelivered, EventKind::CodCollected, EventKind::CodHandedOver] {
            let amount = (kind != EventKind::OrderDelivered).then_some(1_000);
            reports.push(reference_of(event(harness, business, *order, kind, amount), *order));
        }
    }
    let before = harness.number(HANDLED).await;
    publish(harness, &reports).await;
    let all = before + i64::try_from(reports.len()).expect("few");
    until("the reports are handled", async || harness.number(HANDLED).await == all).await;
    orders
}

pub(crate) const HANDLED: &str = "SELECT count(*) FROM inbox WHERE consumer = 'wallet.cash'";

/// Each order has its own reference.
fn reference_of(mut envelope: events::Envelope, order: OrderId) -> events::Envelope {
    if let events::Body::Order(event) = &mut envelope.body {
        event.order.order_reference = format!("shop {order}");
    }
    envelope
}

pub(crate) fn line(order: impl ToString) -> RemittanceLine {
    RemittanceLine { order: order.to_string(), amount_paise: None, note: None }
}

pub(crate) fn request(bank_reference: &str, orders: Vec<RemittanceLine>) -> RemittanceRequest {
    RemittanceRequest {
        bank_reference: bank_reference.into(),
        paid_on: "2026-01-31".parse().expect("a date"),
        created_by: "Asha".into(),
        orders,
    }
}

/// Pays out the cash of one order.
pub(crate) async fn remit(harness: &Harness, business: BusinessId, order: OrderId) {
    harness.wallet.remit(business, &request("UTR", vec![line(order)])).await.expect("a remittance");
}

pub(crate) async fn overview(harness: &Harness, business: BusinessId) -> CashOverview {
    harness.wallet.cash(business, &CashQuery::default()).await.expect("an overview")
}

/// The balances of the accounts of cash.
pub(crate) async fn balances(harness: &Harness, business: BusinessId) -> [i64; 3] {
    let mut balances = [0; 3];
    for (balance, account) in
        balances.iter_mut().zip(["cod_payable", "cod_with_drivers", "cod_with_operator"])
    {
        let sum = format!(
            "SELECT coalesce(sum(amount_paise), 0) FROM entries
                WHERE business_id = '{business}' AND account = '{account}'"
        );
        *balance = harness.number(&sum).await;
    }
    balances
}

fn codes(result: Result<RemittanceDetails, CallError>) -> Vec<(String, String)> {
    let refused = refusal(result);
    assert_eq!(refused.status, 400, "{refused:?}");
    let text = |error: &Value, name: &str| error[name].as_str().unwrap_or_default().to_owned();
    let errors = refused.rest["errors"].as_array().expect("errors");
    errors.iter().map(|error| (text(error, "field"), text(error, "code"))).collect()
}

#[tokio::test]
async fn a_remittance_settles_its_orders_once_and_announces_each() {
    let mut harness = Harness::connected().await;
    let business = harness.business();
    let orders = handed_over(&harness, business, 3).await;
    assert_eq!(balances(&harness, business).await, [3_000, 0, -3_000]);

    // By id and by reference.
    let wanted = request("UTR 1", vec![line(orders[0]), line(format!("shop {}", orders[1]))]);
    let made = harness.wallet.remit(business, &wanted).await.expect("a remittance");
    assert_eq!((made.remittance.orders, made.remittance.total_paise.get()), (2, 2_000));
    assert!(!made.already_recorded && made.remittance.created_by.as_deref() == Some("Asha"));
    assert_eq!(balances(&harness, business).await, [1_000, 0, -1_000]);
    for _ in 0..2 {
        let events::Body::CashRemitted(told) = harness.next_announced().await.body else {
            panic!("another event")
        };
        assert!(orders[..2].contains(&told.order_id), "{told:?}");
        assert_eq!((told.amount_paise.get(), told.remittance.bank_reference.as_str()), (1_000, "UTR 1"));
        assert_eq!(told.remittance.id, made.remittance.id);
    }
    let seen = overview(&harness, business).await;
    assert_eq!(
        (seen.totals.with_operator_paise.get(), seen.totals.settled_recently_paise.get()),
        (1_000, 2_000)
    );
    let paid = seen.data.iter().find(|cash| cash.order_id == orders[0]).expect("the order");
    assert_eq!(paid.remittance.as_ref().map(|of| of.id), Some(made.remittance.id));
    assert_eq!((paid.status.as_str(), paid.discrepant), ("settled", false));

    for reference in ["UTR 1", " utr 1 "] {
        // Repeated, in another order of lines.
        let again = request(reference, vec![line(orders[1]), line(orders[0])]);
        let repeated = harness.wallet.remit(business, &again).await.expect("the same");
        assert!(repeated.already_recorded);
        assert_eq!((repeated.remittance, repeated.lines.len()), (made.remittance.clone(), 2));
        // Another content under the same reference.
        let other = request(reference, vec![line(orders[2])]);
        let refused = refusal(harness.wallet.remit(business, &other).await);
        assert_eq!((refused.status, refused.code.as_str()), (409, "bank_reference_reused"));
    }
    // order-api reports the settlement that the event caused: nothing changes.
    let echo = event(&harness, business, orders[0], EventKind::CodSettled, Some(1_000));
    let before = harness.number(HANDLED).await;
    publish(&harness, &[echo]).await;
    until("the report is handled", async || harness.number(HANDLED).await == before + 1).await;
    assert_eq!(balances(&harness, business).await, [1_000, 0, -1_000]);
    assert!(harness.has_no_announcement());
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn one_order_that_cannot_be_settled_refuses_all_of_them() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.business(), harness.business());
    let orders = handed_over(&harness, business, 3).await;
    let foreign = handed_over(&harness, other, 1).await[0];
    harness.wallet.remit(business, &request("UTR 1", vec![line(orders[0])])).await.expect("a remittance");
    let less = RemittanceLine { amount_paise: Some(Paise::new(900)), ..line(orders[2]) };
    let lines =
        vec![line(orders[1]), line(orders[0]), line(foreign), line(orders[1]), less.clone(), line("x")];
    let expected = [
        (1, "already_settled"),
        (2, "unknown_order"),
        (3, "repeated"),
        (4, "note_required"),
        (5, "unknown_order"),
    ];
    let check = RemittanceCheckRequest { orders: lines.clone() };
    let checked = harness.wallet.check_remittance(business, &check).await.expect("a check");
    let refused: Vec<_> = checked.refused.iter().map(|line| (line.position, line.code.as_str())).collect();
    assert_eq!(refused, expected);
    assert_eq!(checked.refused[0].message, "The bank transfer UTR 1 has already paid this order.");
    // By its reference too.
    let named = RemittanceCheckRequest { orders: vec![line(format!("shop {}", orders[0]))] };
    let named = harness.wallet.check_remittance(business, &named).await.expect("a check");
    assert_eq!(named.refused[0].code, "already_settled");
    assert_eq!((checked.total_paise.get(), checked.orders.len()), (1_000, 1));
    let refused = codes(harness.wallet.remit(business, &request("UTR 2", lines)).await);
    let expected = expected.map(|(position, code)| (format!("orders[{position}]"), code.to_owned()));
    assert_eq!(refused, expected);
    assert_eq!(balances(&harness, business).await, [2_000, 0, -2_000]);
    assert_eq!(harness.number("SELECT count(*) FROM remittances").await, 1);

    // With a note, the difference is visible and gets an owner.
    let noted = RemittanceLine { note: Some("one note was torn".into()), ..less };
    harness.wallet.remit(business, &request("UTR 2", vec![noted])).await.expect("a remittance");
    let all = PageQuery { limit: 10, starting_after: None };
    let listed = harness.wallet.cash_discrepancies(&all).await.expect("discrepancies").data;
    assert_eq!((listed.len(), listed[0].order_id), (1, orders[2]));
    let owner = AssignDifference { owner: Some("Ravi".into()), ..AssignDifference::default() };
    let (wallet, order) = (&harness.wallet, orders[2].to_string());
    wallet.assign_cash_difference(business, &order, &owner).await.expect("an owner");
    let listed = wallet.cash_discrepancies(&all).await.expect("discrepancies").data;
    let difference = listed[0].difference.clone().expect("a difference");
    assert_eq!((difference.owner.as_deref(), difference.resolution), (Some("Ravi"), None));
    // No other remittance pays the rest.
    let rest = RemittanceCheckRequest { orders: vec![line(&order)] };
    let refused = wallet.check_remittance(business, &rest).await.expect("a check").refused.remove(0);
    let way =
        "₹1.00 less than owed was paid. Unless its discrepancy is closed, pay the rest by a bank transfer";
    assert!(refused.message.contains(way), "{}", refused.message);
    let fine = wallet.assign_cash_difference(business, &orders[0].to_string(), &owner).await;
    assert_eq!(refusal(fine).code, "no_difference");
    assert_eq!(refusal(wallet.assign_cash_difference(other, &order, &owner).await).status, 404);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn every_fault_of_a_request_is_named() {
    let harness = Harness::start().await;
    let business = harness.business();
    let long = vec![line("a"); 2_001];
    let paid_on = |day: &str| RemittanceRequest {
        paid_on: day.parse().expect("a date"),
        ..request("UTR", vec![line("a")])
    };
    for (request, fields) in [
        (request(" ", Vec::new()), vec!["bankReference", "orders"]),
        (request("UTR", long), vec!["orders"]),
        (
            RemittanceRequest { created_by: String::new(), ..request("UTR", vec![line("a")]) },
            vec!["createdBy"],
        ),
        (paid_on("2999-01-01"), vec!["paidOn"]),
        (paid_on("-5000-01-01"), vec!["paidOn"]),
        (
            request("UTR", vec![RemittanceLine { amount_paise: Some(Paise::ZERO), ..line(" ") }, line("")]),
            vec!["orders[0].order", "orders[0].amountPaise", "orders[1].order"],
        ),
    ] {
        let named: Vec<_> = codes(harness.wallet.remit(business, &request).await)
            .into_iter()
            .map(|(field, _)| field)
            .collect();
        assert_eq!(named, fields);
    }
    let url = harness.internal.join(&format!("/internal/wallets/{business}/remittances")).expect("a path");
    let misspelt = json!({
        "bankReference": "UTR", "paidOn": "yesterday", "createdBy": "Asha",
        "orders": [{ "order": "a", "amount": 7 }],
    });
    let sent =
        test_kit::client().post(url).bearer_auth(harness.settings.internal.token.expose()).json(&misspelt);
    let answer: Value = sent.send().await.expect("an answer").json().await.expect("JSON");
    let named: Vec<_> =
        answer["errors"].as_array().expect("errors").iter().map(|error| &error["field"]).collect();
    assert_eq!(named, ["paidOn", "orders[0].amount"]);
}

/// Concurrent calls settle once, whether they are the same or share only the bank reference or an order.
#[tokio::test]
async fn concurrent_remittances_settle_each_order_once() {
    let harness = Harness::connected().await;
    let business = harness.business();
    let orders = handed_over(&harness, business, 20).await;
    let all: Vec<_> = orders.iter().map(line).collect();
    let reversed: Vec<_> = orders.iter().rev().map(line).collect();
    let (first, second) = (request("UTR 1", all.clone()), request("UTR 1", reversed.clone()));
    let (other, overlapping) = (harness.second_instance(), request("UTR 2", reversed));
    let (one, two, three) = tokio::join!(
        harness.wallet.remit(business, &first),
        other.remit(business, &second),
        other.remit(business, &overlapping),
    );
    let settled = [one.is_ok(), two.is_ok(), three.is_ok()];
    assert!(settled == [true, true, false] || settled == [false, false, true], "{settled:?}");
    assert_eq!(balances(&harness, business).await, [0, 0, 0]);
    assert_eq!(harness.number("SELECT count(*) FROM remittances").await, 1);
    assert_eq!(harness.number("SELECT count(*) FROM transfers WHERE kind = 'cod_settled'").await, 20);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_business_sees_only_its_own_remittances() {
    let harness = Harness::connected().await;
    let (business, other) = (harness.business(), harness.business());
    let orders = handed_over(&harness, business, 2).await;
    let mut made = Vec::new();
    for (index, order) in orders.iter().enumerate() {
        let wanted = request(&format!("UTR {index}"), vec![line(order)]);
        made.push(harness.wallet.remit(business, &wanted).await.expect("a remittance").remittance);
    }
    // The reference is free for another business.
    let foreign = handed_over(&harness, other, 1).await[0];
    harness.wallet.remit(other, &request("UTR 0", vec![line(foreign)])).await.expect("a remittance");
    let first = PageQuery { limit: 1, starting_after: None };
    let page = harness.wallet.remittances(business, &first).await.expect("a page");
    assert_eq!((page.data, page.has_more), (vec![made[1].clone()], true));
    let next = PageQuery { limit: 1, starting_after: Some(made[1].id.to_string()) };
    let page = harness.wallet.remittances(business, &next).await.expect("a page");
    assert_eq!((page.data, page.has_more), (vec![made[0].clone()], false));
    assert_eq!(refusal(harness.wallet.remittances(other, &next).await).status, 400);
    let id = made[0].id.to_string();
    let details = harness.wallet.remittance(business, &id).await.expect("a remittance");
    assert_eq!((details.lines.len(), details.lines[0].order_id), (1, orders[0]));
    for (business, id) in [(other, id.as_str()), (business, "rem_x")] {
        assert_eq!(refusal(harness.wallet.remittance(business, id).await).code, "remittance_not_found");
    }
}

/// The database refuses what the code would never write.
#[tokio::test]
async fn the_database_keeps_remittances_equal_to_their_orders() {
    let harness = Harness::connected().await;
    let business = harness.business();
    let orders = handed_over(&harness, business, 2).await;
    harness.wallet.remit(business, &request("UTR 1", vec![line(orders[0])])).await.expect("a remittance");
    for change in [
        "UPDATE remittances SET total_paise = 1",
        "DELETE FROM remittances",
        "UPDATE remittance_orders SET amount_paise = 1",
        "TRUNCATE remittance_orders",
        "DELETE FROM cash_differences",
    ] {
        let refused = harness.script(change).await.expect_err(change);
        let words = ["append-only", "permission denied"];
        assert!(words.iter().any(|words| refused.contains(words)), "{change}: {refused}");
    }
    let header = format!(
        "INSERT INTO remittances SELECT 'rem_x', '{business}', 'UTR 2', now(), 1, 1000, 'Asha', now()"
    );
    let of_another = format!(
        "BEGIN; {header}; INSERT INTO remittance_orders VALUES ('{business}', '{}', 'rem_x', 1000); COMMIT",
        orders[1]
    );
    for change in [header, of_another] {
        let refused = harness.script(&change).await.expect_err(&change);
        assert!(refused.contains("does not equal the orders"), "{change}: {refused}");
    }
}

#[tokio::test]
async fn cash_is_late_after_the_promised_day() {
    let mut harness = Harness::connected().await;
    let business = harness.business();
    let mut old = event(&harness, business, harness.order(), EventKind::CodHandedOver, Some(1_000));
    let due = old.occurred_at - chrono::TimeDelta::days(9);
    if let events::Body::Order(event) = &mut old.body {
        event.recorded_at = Some(due);
    }
    publish(
        &harness,
        &[old, event(&harness, business, harness.order(), EventKind::CodHandedOver, Some(700))],
    )
    .await;
    until("the reports are handled", async || harness.number(HANDLED).await == 2).await;
    let totals = overview(&harness, business).await.totals;
    // Handed over, with ₹10 to collect.
    assert_eq!((totals.late_orders, totals.late_paise.get()), (1, 1_000));
    let late = CashQuery { late: Some("true".into()), ..CashQuery::default() };
    let late = harness.wallet.cash(business, &late).await.expect("an overview").data;
    let promised = domain::indian_time(due).date_naive() + chrono::Days::new(7);
    assert_eq!((late.len(), late[0].promised_on), (1, Some(promised)));
    harness.stop().await;
    harness.start_again();
    until("the metric counts it", async || has_metric(&harness, "wallet_cash_late_orders", "", 1).await)
        .await;
    harness
        .wallet
        .remit(business, &request("UTR 1", vec![line(late[0].order_id)]))
        .await
        .expect("a remittance");
    let totals = overview(&harness, business).await.totals;
    assert_eq!((totals.late_orders, totals.late_paise.get()), (0, 0));

    let months = harness.wallet.cash_months(business).await.expect("months");
    let sums = months.iter().fold([0; 3], |[orders, owed, settled], month| {
        assert_eq!(month.outstanding_paise.get(), month.owed_paise.get() - month.settled_paise.get());
        [orders + month.orders, owed + month.owed_paise.get(), settled + month.settled_paise.get()]
    });
    assert_eq!(sums, [2, 2_000, 1_000]);
    assert!(harness.wallet.cash_months(harness.business()).await.expect("months").is_empty());
}

/// The process dies in any statement of the transaction: nothing is settled, and the repeated call settles each order once.
#[tokio::test]
async fn a_kill_at_each_step_settles_each_order_once() {
    let harness = Harness::connected().await;
    for (step, write) in [
        ("cash", "UPDATE"),
        ("remittances", "INSERT"),
        ("remittance_orders", "INSERT"),
        ("entries", "INSERT"),
        ("transfers", "INSERT"),
        ("outbox_messages", "INSERT"),
    ] {
        let business = harness.business();
        let orders = handed_over(&harness, business, 3).await;
        let wanted = request("UTR 1", orders.iter().map(line).collect());
        let (mut program, wallet) = serve(&harness).await;
        let gate = Gate::close(harness.settings.database.url.expose(), step, write, "TRUE").await;
        let kill = async {
            gate.reached().await;
            program.kill();
        };
        let (unanswered, ()) = tokio::join!(wallet.remit(business, &wanted), kill);
        assert!(unanswered.is_err(), "{step}");
        gate.open().await;
        assert_eq!(balances(&harness, business).await, [3_000, 0, -3_000], "{step}");
        let made = harness.wallet.remit(business, &wanted).await.expect("a remittance");
        assert!(!made.already_recorded, "{step}");
        assert!(harness.wallet.remit(business, &wanted).await.expect("the same").already_recorded);
        assert_eq!(balances(&harness, business).await, [0, 0, 0], "{step}");
    }
    let announced = "SELECT count(*) FROM remittance_orders";
    assert_eq!(harness.number(announced).await, 18);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn the_longest_lines_of_the_largest_remittance_fit_into_a_request() {
    let harness = Harness::start().await;
    let business = harness.business();
    // Of four bytes each.
    let longest = |index: usize, chars: usize| format!("{index:0>4}{}", "\u{20000}".repeat(chars - 4));
    let of = |index| RemittanceLine {
        order: longest(index, 256),
        amount_paise: Some(Paise::REQUEST_MAX),
        note: Some(longest(index, 200)),
    };
    let orders: Vec<_> = (0..2_000).map(of).collect();
    let check = RemittanceCheckRequest { orders: orders.clone() };
    let checked = harness.wallet.check_remittance(business, &check).await.expect("a check");
    assert_eq!((checked.refused.len(), checked.refused[0].code.as_str()), (2_000, "unknown_order"));
    let refused = codes(harness.wallet.remit(business, &request("UTR", orders)).await);
    assert_eq!(refused[0].1, "unknown_order");
}
