//! The tables that grow, partitioned by hash of the business with the keys, indexes, references and triggers that the migrations
//! made, and the services at work on them: every statement of theirs that a business's day needs works there, upserts included,
//! and what is asked for a business is looked for in its partition alone. The indexes that are searched in others' partitions
//! too are listed here, each with its reason.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use demo::clients::{COD_DELIVERY, PREPAID_DELIVERY};
use demo::eventually;
use local_stack::{Service, Stack};
use reference_shop::NewOrder;
use reqwest::Method;
use serde_json::json;
use waybill_tests::{Business, PATIENCE, assert_in_order, smallest_order, text, wait_until_quiet};

const SHAPE: &str = include_str!("spread/shape.sql");

struct Spread {
    service: Service,
    /// Those that refer to others behind them. `attempts` is partitioned by day, and its partitions are made by the service.
    tables: &'static [&'static str],
    /// Indexes that are searched in every partition while only one business is at work, and why.
    everywhere: &'static [(&'static str, &'static str)],
}

const SPREAD: [Spread; 3] = [
    Spread {
        service: Service::OrderApi,
        tables: &["orders", "order_events", "fleet_reports", "simulations"],
        everywhere: &[],
    },
    Spread {
        service: Service::Wallet,
        tables: &["wallets", "transfers", "entries", "debits", "cash"],
        everywhere: &[],
    },
    Spread {
        service: Service::WebhookDispatcher,
        tables: &[
            "endpoints",
            "endpoint_health",
            "endpoint_notices",
            "order_streams",
            "parked_events",
            "events",
            "deliveries",
            "recoveries",
        ],
        everywhere: &[],
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn the_services_work_on_tables_that_are_spread_by_business() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    for spread in &SPREAD {
        partition(&stack, spread).await?;
    }
    stack.wait_ready().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(1_000_000).await?;

    orders_are_placed_read_and_cancelled(&business).await?;
    money_and_webhooks_are_looked_up(&business).await?;
    wait_until_quiet(&stack).await?;
    what_a_business_asks_is_looked_for_in_its_partition(&stack).await?;

    the_fleet_delivers(&business).await?;
    missed_webhooks_are_sent_again(&business).await?;
    for Spread { service, tables, .. } in &SPREAD {
        for table in *tables {
            let rows = stack.query(*service, &format!("SELECT count(*) FROM public.{table}")).await?;
            assert_eq!(rows.trim(), "0", "{table} of {} as the migrations made it", service.name());
        }
    }
    stack.shut_down().await
}

/// Partitions the tables, and has the service find them first.
async fn partition(stack: &Stack, Spread { service, tables, .. }: &Spread) -> anyhow::Result<()> {
    let rows: Vec<String> =
        tables.iter().enumerate().map(|(place, table)| format!("({place}, '{table}')")).collect();
    let list = format!(
        "CREATE SCHEMA spread; CREATE TABLE spread.tables (place INTEGER, table_name TEXT);
         INSERT INTO spread.tables VALUES {};",
        rows.join(", ")
    );
    stack.query(*service, &format!("{list}{SHAPE}")).await?;
    stack.query(*service, "ALTER ROLE CURRENT_USER SET search_path = spread, public").await?;
    stack.restart(*service).await
}

async fn orders_are_placed_read_and_cancelled(business: &Business) -> anyhow::Result<()> {
    let (live, test) = (business.live()?, business.integration(&business.test_key)?);
    for (reference, key) in [("by-live-key", &live), ("by-test-key", &test)] {
        let placed = key.create(reference, &smallest_order(reference)).await?.expect(201)?;
        let again = key.create(reference, &smallest_order(reference)).await?;
        assert_eq!(again.header("Idempotent-Replayed"), Some("true"), "{reference}");
        let taken = key.create("another-key", &smallest_order(reference)).await?;
        assert_eq!(taken.code(), "order_reference_exists", "{reference}");
        let id = text(&placed, "id")?;
        if reference == "by-test-key" {
            let moved = json!({ "event": "driver.assigned" });
            key.call(Method::POST, &format!("/{id}/simulate"), Some(&moved)).await?.expect(200)?;
            let run = json!({ "event": "auto" });
            key.call(Method::POST, &format!("/{id}/simulate"), Some(&run)).await?.expect(200)?;
            key.call(Method::POST, &format!("/{id}/simulate"), Some(&run)).await?.expect(200)?;
        }
        key.call(Method::POST, &format!("/{id}/cancel"), None).await?.expect(200)?;
        for path in ["".to_owned(), format!("?orderReference={reference}"), format!("/{id}")] {
            key.call(Method::GET, &path, None).await?.expect(200)?;
        }
        let told = if reference == "by-live-key" { 2 } else { 3 };
        assert_in_order(&business.webhooks_of(reference, told).await?);
        key.call(Method::GET, &format!("/{id}/events"), None).await?.expect(200)?;
    }
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

/// By the counters of PostgreSQL, which a session writes at its end at the latest.
async fn what_a_business_asks_is_looked_for_in_its_partition(stack: &Stack) -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for Spread { service, everywhere, .. } in &SPREAD {
        stack.stop(*service).await?;
        let own = own_partition(stack, *service).await?;
        let searched = searched(stack, *service).await?;
        assert!(searched.values().any(|partitions| partitions.contains(&own)), "nothing was counted");
        let named: BTreeSet<&str> = everywhere.iter().map(|(index, _why)| *index).collect();
        let foreign = searched.iter().filter(|(_, partitions)| partitions.iter().any(|one| *one != own));
        let foreign: BTreeSet<&str> = foreign.map(|(index, _)| index.as_str()).collect();
        for index in foreign.symmetric_difference(&named) {
            faults.push(format!("{}: {index}: {:?}", service.name(), searched.get(*index)));
        }
        stack.bring_up(*service).await?;
    }
    stack.wait_ready().await?;
    assert!(faults.is_empty(), "searched in others' partitions, or said to be:\n{}", faults.join("\n"));
    Ok(())
}

/// The number of the only business's partition.
async fn own_partition(stack: &Stack, service: Service) -> anyhow::Result<u32> {
    let table = match service {
        Service::OrderApi => "orders",
        Service::Wallet => "wallets",
        _ => "endpoints",
    };
    let found = stack.query(service, &format!("SELECT DISTINCT tableoid::regclass FROM {table}")).await?;
    let (_, number) = found.trim().rsplit_once("_p").context("a partition")?;
    Ok(number.parse()?)
}

/// The partitions in which each index was searched.
async fn searched(stack: &Stack, service: Service) -> anyhow::Result<BTreeMap<String, BTreeSet<u32>>> {
    eventually("the service's sessions to end", PATIENCE, || async {
        let others = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
        Ok((stack.query(service, others).await?.trim() == "0").then_some(()))
    })
    .await?;
    let counters = "SELECT parent.relname, substring(statistics.relname FROM '_p(\\d+)$')
        FROM pg_stat_user_indexes AS statistics
        JOIN pg_inherits ON inhrelid = indexrelid
        JOIN pg_class AS parent ON parent.oid = inhparent
        WHERE schemaname = 'spread' AND idx_scan > 0";
    let mut searched: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for line in stack.query(service, counters).await?.lines() {
        let (index, partition) = line.split_once('|').context("two columns")?;
        searched.entry(index.to_owned()).or_default().insert(partition.parse()?);
    }
    Ok(searched)
}

/// What names the order alone finds it as well, and a repeated report is known again.
async fn the_fleet_delivers(business: &Business) -> anyhow::Result<()> {
    for (order, events) in [
        (NewOrder::sample_prepaid("spread-prepaid"), &PREPAID_DELIVERY[..]),
        (NewOrder::sample("spread-cash"), &COD_DELIVERY[..]),
    ] {
        let (reference, cash) = (order.order_reference.clone(), order.payment.cod_amount_paise);
        let id = business.place(order).await?;
        business.fleet.drive(&id, events, cash).await?;
        business.fleet.drive(&id, events, cash).await?;
        assert_in_order(&business.webhooks_of(&reference, 1 + events.len()).await?);
        assert_eq!(business.entries_of(&id).await?.len(), 1, "the fee of {reference}");
    }
    business.fleet.orders("?limit=100").await?.expect(200)?;
    let settled = eventually("the cash to be known", PATIENCE, || async {
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
