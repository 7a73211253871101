//! Final checks: each order, debit, refund, payment, key and endpoint with a 2xx response exists once, and each webhook
//! arrived in order.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use demo::clients::Portal;
use demo::{ReceivedWebhook, eventually};
use local_stack::{Service, Stack};
use messaging::Broker;
use reqwest::Method;
use settings::Secret;
use waybill_tests::faults::{ledger_is_sound, no_dead_letters};
use waybill_tests::{Business, PASSWORD, PATIENCE, assert_in_order, kinds, wait_until_quiet};

use crate::rollout::Rollout;
use crate::traffic::{COD_PAISE, End, Placed, TrafficRecord};
use crate::{FUNDS, HELD};

pub(crate) async fn all(
    stack: &Stack,
    business: &Business,
    rollouts: &[Rollout<'_>],
    record: &TrafficRecord,
) -> anyhow::Result<()> {
    wait_until_quiet(stack).await?;
    orders_are_there_once(stack, business, &record.placed).await?;
    webhooks_came_in_order(business, &record.placed).await?;
    no_dead_letters(&Broker::start(&settings::Broker::new(Secret::new(stack.broker_url())), "test")).await?;
    money_is_right(stack, business, record).await?;
    both_programs_reconcile(stack, rollouts).await?;
    keys_are_revoked(stack, business, record).await?;
    endpoints_are_as_they_were_set(stack, business, record).await
}

/// The lines of a query's result.
async fn lines(stack: &Stack, service: Service, sql: &str) -> anyhow::Result<Vec<String>> {
    Ok(stack.query(service, sql).await?.lines().map(str::to_owned).collect())
}

/// The ids of these orders, sorted.
fn ids<'a>(placed: impl Iterator<Item = &'a Placed>) -> Vec<String> {
    let mut ids: Vec<String> = placed.map(|order| order.id.clone()).collect();
    ids.sort_unstable();
    ids
}

/// Every accepted order exactly once, and each live one paid once.
async fn orders_are_there_once(stack: &Stack, business: &Business, placed: &[Placed]) -> anyhow::Result<()> {
    let id = &business.portal.business_id;
    let rows =
        format!("SELECT id FROM orders WHERE business_id = '{id}' AND placement = 'placed' ORDER BY id");
    let rows = lines(stack, Service::OrderApi, &rows).await?;
    // In addition to the traffic: the first test order, and the held one.
    let others = format!(
        "SELECT id FROM orders WHERE order_reference IN ('first-test-order', '{HELD}') AND business_id = '{id}'"
    );
    let mut known = lines(stack, Service::OrderApi, &others).await?;
    ensure!(known.len() == 2, "{known:?}");
    known.extend(ids(placed.iter()));
    known.sort_unstable();
    assert_eq!(rows, known);

    let live = ids(placed.iter().filter(|order| order.is_live));
    let debits = "SELECT order_id FROM debits WHERE outcome = 'posted' ORDER BY order_id";
    assert_eq!(lines(stack, Service::Wallet, debits).await?, live);
    eprintln!("{} orders, {} of them live", rows.len(), live.len());
    Ok(())
}

/// Every event of every order, in order.
async fn webhooks_came_in_order(business: &Business, placed: &[Placed]) -> anyhow::Result<()> {
    let expected: usize = placed.iter().map(|order| order.events.len()).sum();
    let mut of_order: BTreeMap<String, Vec<ReceivedWebhook>> = BTreeMap::new();
    let is_traffic = |webhook: &ReceivedWebhook| {
        ["live-", "test-"].iter().any(|prefix| webhook.reference().starts_with(prefix))
    };
    let mut received = Vec::new();
    while received.len() < expected {
        let came = received.len();
        received = eventually("webhooks", PATIENCE, || async {
            let received = business.inbox.received(is_traffic);
            Ok((received.len() > came).then_some(received))
        })
        .await
        .with_context(|| format!("{came} of {expected} came"))?;
    }
    eprintln!("{} webhooks", received.len());
    for webhook in received {
        of_order.entry(webhook.reference().to_owned()).or_default().push(webhook);
    }
    for order in placed {
        let webhooks = of_order.get(&order.reference).map(Vec::as_slice).unwrap_or_default();
        assert_eq!(kinds(webhooks), order.events, "{}", order.reference);
        assert_in_order(webhooks);
    }
    Ok(())
}

/// Refunds, cash and payments.
async fn money_is_right(stack: &Stack, business: &Business, record: &TrafficRecord) -> anyhow::Result<()> {
    let of_live = |ends: &'static [End]| {
        ids(record.placed.iter().filter(move |order| order.is_live && ends.contains(&order.end)))
    };
    let refunds = "SELECT order_id FROM transfers WHERE kind = 'refund' ORDER BY order_id";
    has_lines(stack, refunds, &of_live(&[End::Cancelled, End::Failed])).await.context("refunds")?;
    let settled = format!("SELECT order_id FROM cash WHERE settled_paise = {COD_PAISE} ORDER BY order_id");
    has_lines(stack, &settled, &of_live(&[End::PaidInCash])).await.context("cash")?;

    let paid_in = FUNDS + record.offices.iter().map(|office| office.paid_in).sum::<i64>();
    let sql = format!(
        "SELECT sum(amount_paise) FROM entries JOIN transfers ON transfer_id = transfers.id
         WHERE entries.business_id = '{}' AND account = 'business_wallet' AND kind IN ('top_up', 'operator_credit')",
        business.portal.business_id
    );
    assert_eq!(lines(stack, Service::Wallet, &sql).await?, [paid_in.to_string()]);
    Ok(())
}

/// Events may still be on their way.
async fn has_lines(stack: &Stack, sql: &str, expected: &[String]) -> anyhow::Result<()> {
    let found = eventually("the wallet to have all entries", PATIENCE, || async {
        let found = lines(stack, Service::Wallet, sql).await?;
        Ok((found.len() >= expected.len()).then_some(found))
    });
    assert_eq!(found.await?, expected);
    Ok(())
}

async fn both_programs_reconcile(stack: &Stack, rollouts: &[Rollout<'_>]) -> anyhow::Result<()> {
    ledger_is_sound(stack).await.context("the former program")?;
    let wallet = rollouts.iter().find(|rollout| rollout.service == Service::Wallet);
    let found = wallet.context("the wallet is rolled out")?.run_new(&["reconcile"]).await?;
    ensure!(found.status.success(), "the new program: {}", String::from_utf8_lossy(&found.stdout));
    Ok(())
}

/// Each key exists once, and none of an office's keys works.
async fn keys_are_revoked(stack: &Stack, business: &Business, record: &TrafficRecord) -> anyhow::Result<()> {
    let sql = format!(
        "SELECT id FROM api_keys WHERE business_id = '{}' AND name NOT IN ('test', 'live') ORDER BY id",
        business.portal.business_id
    );
    let mut keys: Vec<&String> = record.offices.iter().flat_map(|office| &office.keys).collect();
    keys.sort_unstable();
    let rows = lines(stack, Service::KeyManagement, &sql).await?;
    assert_eq!(rows.iter().collect::<Vec<_>>(), keys);
    for (_, key) in record.offices.iter().flat_map(|office| &office.revoked) {
        key.call(Method::GET, "?limit=1", None).await?.expect(401)?;
    }
    eprintln!("{} keys", keys.len());
    Ok(())
}

/// The shop's endpoint, and one of each office.
async fn endpoints_are_as_they_were_set(
    stack: &Stack,
    business: &Business,
    record: &TrafficRecord,
) -> anyhow::Result<()> {
    // The log-ins of the offices may have ended the user's first session.
    let portal = Portal::log_in(&stack.portal_api(), &business.email, PASSWORD).await?;
    let listed = portal.get("/webhook-endpoints?limit=100").await?;
    let listed = listed["data"].as_array().context("no endpoints")?;
    let found: BTreeMap<_, _> =
        listed.iter().map(|line| (line["id"].as_str(), line["maxPerSecond"].as_i64())).collect();
    let mut expected = BTreeMap::from([(Some(business.endpoint_id.as_str()), None)]);
    expected.extend(
        record.offices.iter().map(|office| (Some(office.endpoint.0.as_str()), Some(office.endpoint.1))),
    );
    assert_eq!(found, expected);
    Ok(())
}
