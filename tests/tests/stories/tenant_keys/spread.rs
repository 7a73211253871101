//! The services run on tables that are hash-partitioned by business, with the keys, indexes, references and triggers of
//! the migrations. Their own statements run there, upserts included, and search only the business's partition. The
//! statements that also search other partitions are in `listed`, each with its reason.

mod listed;
mod plans;

use std::collections::BTreeSet;

use anyhow::Context;
use demo::clients::{COD_DELIVERY, Fleet, PREPAID_DELIVERY};
use demo::{SAMPLE_CASH_PAISE, eventually, sample_order, sample_prepaid_order};
use local_stack::{Service, Stack, StackOptions};
use reqwest::Method;
use serde_json::json;
use waybill_tests::{Business, PATIENCE, assert_in_order, smallest_order, text};

use super::keys;
use listed::{SPREAD, Spread};

const SHAPE: &str = include_str!("spread/shape.sql");

#[tokio::test(flavor = "multi_thread")]
async fn the_services_work_on_tables_that_are_partitioned_by_business() -> anyhow::Result<()> {
    let stack = stack().await?;
    for spread in &SPREAD {
        partition(&stack, spread).await?;
    }
    stack.wait_ready().await?;
    let (mut business, own) = sign_up(&stack).await?;
    business.go_live(1_000_000).await?;
    orders_are_placed_read_and_cancelled(&stack, &business).await?;
    the_fleet_delivers(&business).await?;
    webhooks_wait_for_a_paused_endpoint(&business).await?;
    money_and_webhooks_are_looked_up(&business).await?;
    missed_webhooks_are_sent_again(&business).await?;
    an_order_is_erased(&stack, &business).await?;

    let mut errors = Vec::new();
    for spread in &SPREAD {
        let name = spread.service.name();
        errors.extend(
            errors_of(&stack, spread, &own).await?.into_iter().map(|error| format!("{name}: {error}")),
        );
    }
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
    stack.shut_down().await
}

/// With its own PostgreSQL, whose log shows the plans, and with workers whose next round is soon.
async fn stack() -> anyhow::Result<Stack> {
    let mut options = StackOptions::with_own_test_servers(&Stack::test_directory()?);
    for (service, variable) in [
        (Service::OrderApi, "WAYBILL_PERSONAL_DATA__INTERVAL_SECONDS"),
        (Service::Wallet, "WAYBILL_RECONCILIATION__INTERVAL_SECONDS"),
        (Service::WebhookDispatcher, "WAYBILL_WEBHOOKS__SWEEP_SECONDS"),
    ] {
        options = options.variable(service, variable, "1");
    }
    Stack::start_for_test(options).await
}

/// Partitions the tables while the service is down, and makes it the first to use them.
async fn partition(stack: &Stack, Spread { service, tables, .. }: &Spread) -> anyhow::Result<()> {
    let list = |names: Vec<&str>| Vec::from_iter(names.iter().map(|name| format!("('{name}')"))).join(", ");
    let named = format!(
        "CREATE SCHEMA spread;
         CREATE TABLE spread.tables (table_name) AS VALUES {};
         CREATE TABLE spread.exceptions (name) AS VALUES {};",
        list(tables.to_vec()),
        list(keys::exceptions(*service).into_iter().collect()),
    );
    stack.stop(*service).await?;
    stack.query(*service, &format!("{named}{SHAPE}")).await?;
    stack.query(*service, "ALTER ROLE CURRENT_USER SET search_path = spread, public").await?;
    plans::log_plans(stack, *service).await?;
    stack.bring_up(*service).await
}

/// A business, and the partitions of its rows and of earlier businesses. An empty partition precedes its own: a lookup
/// that stops at the first row is then seen to search it.
async fn sign_up(stack: &Stack) -> anyhow::Result<(Business, BTreeSet<u32>)> {
    let mut own = BTreeSet::new();
    loop {
        let business = Business::sign_up(stack).await?;
        let sql =
            format!("SELECT tableoid::regclass FROM spread.endpoints WHERE id = '{}'", business.endpoint_id);
        let found = plans::look(stack, Service::WebhookDispatcher, &sql).await?;
        let partition = plans::partition(&found).with_context(|| format!("a partition, not {found:?}"))?;
        own.insert(partition);
        if (0..partition).any(|other| !own.contains(&other)) {
            return Ok((business, own));
        }
    }
}

/// Unexpected log entries, and missing expected ones.
async fn errors_of(stack: &Stack, spread: &Spread, own: &BTreeSet<u32>) -> anyhow::Result<BTreeSet<String>> {
    let Spread { service, tables, upserts, .. } = spread;
    // Workers reach these statements; otherwise it is an error with the statement's name.
    let _came = eventually("the listed statements to run", PATIENCE, || async {
        let seen = Seen::read(stack, spread, own).ok();
        Ok(seen.filter(|seen| seen.unseen.is_empty()).map(drop))
    })
    .await;
    stack.stop(*service).await?;
    let Seen { mut errors, unseen, ran } = Seen::read(stack, spread, own)?;
    errors.extend(plans::errors(stack, *service)?);
    errors.extend(unseen.iter().map(|part| format!("never searched other partitions: {part}")));
    let upserts = BTreeSet::from_iter(upserts.iter().map(|upsert| (*upsert).to_owned()));
    errors.extend(
        ran.symmetric_difference(&upserts)
            .map(|upsert| format!("upsert not listed, or never executed: {upsert}")),
    );
    for table in *tables {
        let rows = plans::look(stack, *service, &format!("SELECT count(*) FROM public.{table}")).await?;
        if rows != "0" {
            errors.insert(format!("{rows} rows in the unpartitioned {table}"));
        }
    }
    Ok(errors)
}

/// The log so far.
struct Seen {
    errors: BTreeSet<String>,
    /// Listed statements that did not search other partitions.
    unseen: BTreeSet<&'static str>,
    /// The upserts.
    ran: BTreeSet<String>,
}

impl Seen {
    fn read(stack: &Stack, spread: &Spread, own: &BTreeSet<u32>) -> anyhow::Result<Self> {
        let everywhere = || spread.everywhere.iter().map(|(part, _why)| *part);
        let mut seen = Self { errors: BTreeSet::new(), unseen: everywhere().collect(), ran: BTreeSet::new() };
        for plan in plans::plans(stack, spread.service)? {
            let upserts = plan.upserts().filter(|(table, _)| spread.tables.contains(table));
            seen.ran.extend(upserts.map(|(table, resolution)| format!("{table}: {resolution}")));
            let partitions = plan.partitions();
            if partitions.is_subset(own) {
                continue;
            }
            let listed: BTreeSet<&str> = everywhere().filter(|part| plan.sql.contains(part)).collect();
            if listed.is_empty() {
                seen.errors.insert(format!("searches {} partitions: {}", partitions.len(), plan.sql));
            }
            seen.unseen.retain(|part| !listed.contains(part));
        }
        Ok(seen)
    }
}

async fn orders_are_placed_read_and_cancelled(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let (live, test) = (business.live()?, business.integration(&business.test_key)?);
    for (reference, key) in [("by-live-key", &live), ("by-test-key", &test)] {
        let placed = key.create(reference, &smallest_order(reference)).await?.expect(201)?;
        let again = key.create(reference, &smallest_order(reference)).await?;
        assert_eq!(again.header("Idempotent-Replayed"), Some("true"), "{reference}");
        let taken = key.create("another-key", &smallest_order(reference)).await?;
        assert_eq!(taken.code(), "order_reference_exists", "{reference}");
        let id = text(&placed, "id")?;
        if reference == "by-test-key" {
            for event in ["driver.assigned", "auto", "auto"] {
                let event = json!({ "event": event });
                key.call(Method::POST, &format!("/{id}/simulate"), Some(&event)).await?.expect(200)?;
            }
        }
        key.call(Method::POST, &format!("/{id}/cancel"), None).await?.expect(200)?;
        let code = text(&placed, "trackingCode")?;
        let page = format!("{}/track/{code}", stack.order_api_origin());
        reqwest::get(page).await?.error_for_status()?;
        for path in ["".to_owned(), format!("?orderReference={reference}"), format!("/{id}")] {
            key.call(Method::GET, &path, None).await?.expect(200)?;
        }
        let webhooks = if reference == "by-live-key" { 2 } else { 3 };
        assert_in_order(&business.webhooks_of(reference, webhooks).await?);
        key.call(Method::GET, &format!("/{id}/events"), None).await?.expect(200)?;
    }
    Ok(())
}

/// A webhook that is stored while its endpoint is paused waits in a queue, which is advanced when the webhook ends.
async fn webhooks_wait_for_a_paused_endpoint(business: &Business) -> anyhow::Result<()> {
    let endpoint = format!("/webhook-endpoints/{}", business.endpoint_id);
    let reference = "spread-paused";
    let change = async |status: &str| {
        let change = json!({ "status": status });
        business.portal.call(Method::PATCH, &endpoint, Some(&change)).await?.expect(200)
    };
    change("paused").await?;
    business.place(&sample_prepaid_order(reference)).await?;
    business.logged_delivery(reference).await?;
    change("active").await?;
    assert_in_order(&business.webhooks_of(reference, 1).await?);
    Ok(())
}

async fn money_and_webhooks_are_looked_up(business: &Business) -> anyhow::Result<()> {
    let endpoint = format!("/webhook-endpoints/{}", business.endpoint_id);
    for path in ["/wallet", "/wallet/entries", "/wallet/spend", "/cod", "/webhook-endpoints", &*endpoint] {
        business.portal.get(path).await?;
    }
    let deliveries = business.portal.get(&format!("{endpoint}/deliveries")).await?;
    let delivery = text(&deliveries["data"][0], "id")?;
    business.portal.get(&format!("/webhook-deliveries/{delivery}")).await?;
    business.portal.post(&format!("{endpoint}/test"), &json!({})).await?.expect(200)?;
    let again = format!("/webhook-deliveries/{delivery}/redeliver");
    assert!(business.portal.post(&again, &json!({})).await?.status.is_success());
    Ok(())
}

/// A repeated report is recognised.
async fn the_fleet_delivers(business: &Business) -> anyhow::Result<()> {
    for (order, events) in [
        (sample_prepaid_order("spread-prepaid"), &PREPAID_DELIVERY[..]),
        (sample_order("spread-cash"), &COD_DELIVERY[..]),
    ] {
        let reference = text(&order, "orderReference")?;
        let id = business.place(&order).await?;
        for event in events {
            let report = Fleet::progress(&id, event, SAMPLE_CASH_PAISE);
            for _time in ["first", "repeated"] {
                business.fleet.send(&id, &report).await?.expect(200)?;
            }
        }
        assert_in_order(&business.webhooks_of(&reference, 1 + events.len()).await?);
        assert_eq!(business.entries_of(&id).await?.len(), 1, "the fee of {reference}");
    }
    business.fleet.orders("?limit=100").await?.expect(200)?;
    let settled = eventually("the cash to be recorded", PATIENCE, || async {
        let cash = business.portal.get("/cod?status=settled").await?;
        Ok(cash["data"][0]["orderReference"].as_str().map(str::to_owned))
    });
    assert_eq!(settled.await?, "spread-cash");
    Ok(())
}

async fn missed_webhooks_are_sent_again(business: &Business) -> anyhow::Result<()> {
    let endpoint = format!("/webhook-endpoints/{}", business.endpoint_id);
    let since = json!({ "since": business.portal.get(&endpoint).await?["createdAt"] });
    let begun = business.portal.post(&format!("{endpoint}/recover"), &since).await?.expect(202)?;
    let job = format!("{endpoint}/recoveries/{}", text(&begun, "id")?);
    eventually("the recovery to end", PATIENCE, || async {
        Ok((business.portal.get(&job).await?["status"] == "completed").then_some(()))
    })
    .await
}

async fn an_order_is_erased(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let found = business.live()?.call(Method::GET, "?orderReference=spread-cash", None).await?.expect(200)?;
    let erase = format!("/orders/{}/erase-personal-data", text(&found["data"][0], "id")?);
    business.portal.call(Method::POST, &erase, None).await?.expect(200)?;
    eventually("the order's webhooks to be erased", PATIENCE, || async {
        let sql = "SELECT count(*) FROM spread.order_streams WHERE personal_data_erased_at IS NOT NULL";
        Ok((plans::look(stack, Service::WebhookDispatcher, sql).await? == "1").then_some(()))
    })
    .await
}
