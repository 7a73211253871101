//! The tables that grow, partitioned by hash of the business with the keys, indexes, references and triggers that the migrations
//! made: it can be done as they stand, and what is asked for a business is looked for in one partition. What is asked of all
//! businesses at once looks into each, and is listed with the rest, so that it is known.

use std::collections::BTreeSet;

use anyhow::Context;
use local_stack::{Service, Stack};

const SHAPE: &str = include_str!("spread/shape.sql");
/// As many as `shape.sql` makes.
const PARTITIONS: usize = 8;
const BUSINESSES: usize = 50;
const ROWS: usize = 2_000;
/// One in the middle, of a live order.
const ROW: usize = ROWS / 2 + 1;

/// As services' sessions have it.
const PLANNER: &str = "SET search_path = spread; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;";

struct Database {
    service: Service,
    /// Which tables.
    tables: &'static str,
    fill: &'static str,
    /// Each under a comment with its name, and `[one]` or `[each]`.
    queries: &'static str,
}

macro_rules! database {
    ($service:expr, $name:literal) => {
        Database {
            service: $service,
            tables: include_str!(concat!("spread/", $name, ".sql")),
            fill: include_str!(concat!("spread/", $name, ".fill.sql")),
            queries: include_str!(concat!("spread/", $name, ".queries.sql")),
        }
    };
}

const DATABASES: [Database; 3] = [
    database!(Service::OrderApi, "order-api"),
    database!(Service::Wallet, "wallet"),
    database!(Service::WebhookDispatcher, "webhook-dispatcher"),
];

#[tokio::test]
async fn what_is_asked_for_a_business_is_looked_for_in_one_partition() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    for Database { service, tables, fill, queries } in DATABASES {
        stack.query(service, &format!("{tables}{SHAPE}")).await?;
        stack.query(service, &format!("{PLANNER}{}; ANALYZE", filled_in(fill))).await?;
        for query in filled_in(queries).split("-- ").skip(1) {
            let (name, sql) = query.split_once('\n').context("a query stands under its name")?;
            let explain = format!(
                "{PLANNER} BEGIN; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {}; ROLLBACK",
                sql.trim().trim_end_matches(';')
            );
            let plan = stack.query(service, &explain).await?;
            let touched = partitions(&plan).len();
            let as_said = if name.ends_with("[one]") { touched <= 1 } else { touched == PARTITIONS };
            assert!(as_said, "{}: {name}: {touched} partitions\n{plan}", service.name());
        }
    }
    stack.shut_down().await
}

fn filled_in(sql: &str) -> String {
    let id = |prefix: &str, number: usize| format!("{prefix}_{number:0>26}");
    let of_row = sql.replace("{rows}", &ROWS.to_string()).replace("{businesses}", &BUSINESSES.to_string());
    of_row
        .replace("{row}", &ROW.to_string())
        .replace("{business}", &id("biz", ROW % BUSINESSES))
        .replace("{endpoint}", &id("whe", ROW % BUSINESSES))
        .replace("{order}", &id("ord", ROW))
        .replace("{event}", &id("evt", ROW))
        .replace("{delivery}", &id("whd", ROW))
        .replace("{transfer}", &id("trf", ROW))
}

/// The numbers of the partitions that were looked into, whichever the table.
fn partitions(plan: &str) -> BTreeSet<&str> {
    let lines = plan.lines().filter(|line| !line.contains("(never executed)"));
    let words = lines.flat_map(|line| line.split(|c: char| c.is_whitespace() || c == ':'));
    let numbers = words.filter_map(|word| word.rsplit_once("_p").map(|(_, number)| number));
    numbers.filter(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).collect()
}
