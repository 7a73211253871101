//! Verifies one business: its orders against its debits and refunds, and its balance against its payments and fees.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use demo::eventually;
use local_stack::{Service, Stack};
use serde::Deserialize;

use super::{PENDING_MAX, number, rows};
use crate::faults::workload::{Fate, OrderStory, Tenant};

#[derive(Debug, Deserialize)]
struct OrderRow {
    id: String,
    order_reference: String,
    placement: String,
    status: String,
    delivery_fee_paise: i64,
    receipt: String,
}

#[derive(Debug, Deserialize)]
struct DebitRow {
    order_id: String,
    outcome: String,
    amount_paise: i64,
}

#[derive(Debug, Deserialize)]
struct RefundRow {
    order_id: String,
    amount_paise: i64,
}

pub(super) async fn agree_with(stack: &Stack, tenant: &Tenant, stories: &[OrderStory]) -> anyhow::Result<()> {
    let orders = orders(stack, tenant, stories).await?;
    let debits = debits(stack, &orders).await?;
    for story in stories {
        let order = orders.get(&story.reference);
        let paid: Vec<i64> = order
            .and_then(|order| debits.get(&order.id))
            .into_iter()
            .flatten()
            .filter(|debit| debit.outcome == "posted")
            .map(|debit| debit.amount_paise)
            .collect();
        check_payment(story, order, &paid).map_err(|error| error.context(format!("{story:?}\n{order:?}")))?;
    }
    let due: BTreeSet<(String, i64)> = stories
        .iter()
        .filter(|story| story.receipt.is_some() && story.fate.gives_the_fee_back())
        .filter_map(|story| Some((story.id()?, story.fee)))
        .collect();
    refunded(stack, &orders, &due).await?;
    cash_is_booked(stack, stories).await?;
    balance_agrees(stack, tenant).await
}

/// Each 2xx has one posted debit of its fee; a refused order has none.
fn check_payment(story: &OrderStory, order: Option<&OrderRow>, paid: &[i64]) -> anyhow::Result<()> {
    let Some(receipt) = &story.receipt else {
        ensure!(paid.is_empty(), "refused, but debited {paid:?}");
        ensure!(order.is_none_or(|order| order.placement == "released"), "refused, but not released");
        return Ok(());
    };
    ensure!(paid == [story.fee], "placed, but debited {paid:?}");
    let Some(order) = order else { anyhow::bail!("placed, but not stored") };
    ensure!(order.placement == "placed", "answered with 201, and {}", order.placement);
    ensure!(order.delivery_fee_paise == story.fee, "the fee is {}", order.delivery_fee_paise);
    ensure!(order.receipt == *receipt, "the receipt differs: {}", order.receipt);
    ensure!(order.status == story.fate.status(), "{:?}, and {}", story.fate, order.status);
    Ok(())
}

async fn orders(
    stack: &Stack,
    tenant: &Tenant,
    stories: &[OrderStory],
) -> anyhow::Result<BTreeMap<String, OrderRow>> {
    let references = list(stories.iter().map(|story| story.reference.as_str()));
    let business = &tenant.business.portal.business_id;
    let sql = format!(
        "SELECT id, order_reference, placement, status, delivery_fee_paise, convert_from(receipt, 'UTF8') AS receipt
         FROM orders
         WHERE business_id = '{business}' AND mode = 'live' AND order_reference = ANY (ARRAY[{references}]::text[])"
    );
    let found: Vec<OrderRow> = rows(stack, Service::OrderApi, &sql).await?;
    Ok(found.into_iter().map(|row| (row.order_reference.clone(), row)).collect())
}

async fn debits(
    stack: &Stack,
    orders: &BTreeMap<String, OrderRow>,
) -> anyhow::Result<BTreeMap<String, Vec<DebitRow>>> {
    let sql = format!(
        "SELECT order_id, outcome, amount_paise FROM debits WHERE order_id = ANY (ARRAY[{}]::text[])",
        ids(orders)
    );
    let mut by_order = BTreeMap::<_, Vec<_>>::new();
    for row in rows::<DebitRow>(stack, Service::Wallet, &sql).await? {
        by_order.entry(row.order_id.clone()).or_default().push(row);
    }
    Ok(by_order)
}

/// Refunds arrive by events. In the end there are exactly those that are due.
async fn refunded(
    stack: &Stack,
    orders: &BTreeMap<String, OrderRow>,
    due: &BTreeSet<(String, i64)>,
) -> anyhow::Result<()> {
    let sql = format!(
        "SELECT order_id, amount_paise FROM transfers JOIN entries ON transfer_id = transfers.id
         WHERE kind = 'refund' AND account = 'business_wallet' AND order_id = ANY (ARRAY[{}]::text[])",
        ids(orders)
    );
    let given = eventually("the refunds that are due", PENDING_MAX, || async {
        let given: Vec<RefundRow> = rows(stack, Service::Wallet, &sql).await?;
        Ok((given.len() >= due.len()).then_some(given))
    })
    .await?;
    let count = given.len();
    let given: BTreeSet<_> = given.into_iter().map(|row| (row.order_id, row.amount_paise)).collect();
    ensure!(given == *due && count == due.len(), "refunds due: {due:?}, refunds posted: {given:?}");
    Ok(())
}

async fn cash_is_booked(stack: &Stack, stories: &[OrderStory]) -> anyhow::Result<()> {
    let delivered: Vec<_> = stories.iter().filter(|story| story.fate == Fate::Delivered).collect();
    let ids: Vec<String> = delivered.iter().filter_map(|story| story.id()).collect();
    let cash: i64 = delivered.iter().map(|story| story.cash).sum();
    let ids = list(ids.iter().map(String::as_str));
    // Each order was paid out by one remittance, and both services settled it with the same amount.
    for (service, sum) in [
        (Service::Wallet, "sum(collected_paise) FROM cash WHERE order_id"),
        (Service::Wallet, "sum(settled_paise) FROM cash WHERE order_id"),
        (Service::Wallet, "sum(amount_paise) FROM remittance_orders WHERE order_id"),
        (
            Service::Wallet,
            "sum(amount_paise) FROM entries JOIN transfers ON id = transfer_id
            WHERE kind = 'cod_settled' AND amount_paise > 0 AND order_id",
        ),
        (Service::OrderApi, "sum(cod_settled_paise) FROM orders WHERE id"),
    ] {
        let (what, of) = sum.split_once(" FROM ").unwrap_or_default();
        let sql = format!("SELECT coalesce({what}, 0) FROM {of} = ANY (ARRAY[{ids}]::text[])");
        eventually(sum, PENDING_MAX, || async {
            Ok((number(stack, service, &sql).await? == cash).then_some(()))
        })
        .await?;
    }
    Ok(())
}

/// Payments minus fees plus refunds, over the whole campaign.
async fn balance_agrees(stack: &Stack, tenant: &Tenant) -> anyhow::Result<()> {
    let business = &tenant.business.portal.business_id;
    let moved = |what: &str| {
        format!(
            "SELECT coalesce(sum(amount_paise), 0) FROM entries JOIN transfers ON transfer_id = transfers.id
             WHERE entries.business_id = '{business}' AND account = 'business_wallet' AND {what}"
        )
    };
    let paid_in = number(stack, Service::Wallet, &moved("kind IN ('top_up', 'operator_credit')")).await?;
    ensure!(paid_in == tenant.paid_in(), "paid in: {}, credited: {paid_in}", tenant.paid_in());
    let entries = number(stack, Service::Wallet, &moved("TRUE")).await?;
    let balance = tenant.business.balance().await?;
    ensure!(balance == entries, "the balance is {balance}, the sum of the entries {entries}");
    let placed = number(
        stack,
        Service::OrderApi,
        &format!(
            "SELECT coalesce(sum(delivery_fee_paise), 0) FROM orders
             WHERE business_id = '{business}' AND mode = 'live' AND placement = 'placed'"
        ),
    )
    .await?;
    let charged = -number(stack, Service::Wallet, &moved("kind = 'delivery_fee'")).await?;
    ensure!(charged == placed, "orders for {placed} were placed, and {charged} was charged");
    Ok(())
}

fn ids(orders: &BTreeMap<String, OrderRow>) -> String {
    list(orders.values().map(|order| order.id.as_str()))
}

/// The elements of an SQL array. References and ids contain no quotes.
fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.map(|text| format!("'{text}'")).collect::<Vec<_>>().join(", ")
}
