//! The effect of the number of endpoints and of waiting deliveries on new webhooks: a claim must cost the same.

use std::time::Duration;

use domain::Mode;
use local_stack::{Service, say};

use super::received::Received;
use super::{Bench, Endpoint, Row, isolation, steady};

/// Those that get webhooks, of different businesses.
const WITH_WORK: usize = 100;
const PER_SECOND: u32 = 200;

/// What else is in the database.
struct Others {
    what: &'static str,
    /// Paused endpoints with one due delivery each.
    paused: u32,
    /// Parked deliveries of one endpoint.
    parked: u32,
}

const OTHERS: [Others; 3] = [
    Others { what: "1,000 paused endpoints with a due delivery each", paused: 1_000, parked: 0 },
    Others { what: "10,000 paused endpoints with a due delivery each", paused: 10_000, parked: 0 },
    Others { what: "1,000,000 parked deliveries", paused: 1, parked: 1_000_000 },
];

pub(crate) async fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let mut healthy = Vec::new();
    for number in 0..WITH_WORK {
        let path = format!("/healthy/endpoints/{number}");
        healthy.push(bench.endpoint(bench.new_business(), Mode::Live, &path).await?);
    }
    // So that connections are open, and there is a delivery to copy.
    steady::run(bench, &healthy, (PER_SECOND, Duration::from_secs(2)), "/healthy/").await?;
    bench.settled(&healthy).await?;
    let mut rows = Vec::new();
    for others in OTHERS {
        let mut received = Received::default();
        bench.hooks.forget().await?;
        let alone = isolation::measure(bench, &healthy, PER_SECOND, &mut received).await?;
        say(&format!("Adding {}", others.what));
        add(bench, &healthy[0], &others).await?;
        let with_others = isolation::measure(bench, &healthy, PER_SECOND, &mut received).await?;
        remove(bench).await?;
        let what = format!("{PER_SECOND}/s to {WITH_WORK} endpoints next to {}", others.what);
        rows.push(isolation::compared(&what, alone, with_others, received));
    }
    bench.delete(&healthy).await?;
    Ok(rows)
}

/// Copies the endpoint, its health and one of its deliveries.
async fn add(bench: &Bench, like: &Endpoint, others: &Others) -> anyhow::Result<()> {
    let (id, paused, parked) = (like.id, others.paused, others.parked);
    let copy = |table: &str, key: &str, more: &str| {
        format!(
            "INSERT INTO {table} SELECT copy.* FROM {table} AS one, generate_series(1, {paused}) AS nth,
                jsonb_populate_record(one, jsonb_build_object(
                    '{key}', 'whe_' || lpad(nth::text, 26, '0'), 'business_id', 'biz_' || lpad(nth::text, 26, '0') {more}
                )) AS copy WHERE one.{key} = '{id}'"
        )
    };
    let deliveries = |count: u32, endpoint: &str, state: &str, due_at: &str| {
        format!(
            "INSERT INTO deliveries SELECT copy.*
             FROM (SELECT * FROM deliveries WHERE endpoint_id = '{id}' LIMIT 1) AS one, generate_series(1, {count}) AS nth,
                jsonb_populate_record(one::text::deliveries, jsonb_build_object(
                    'id', 'whd_' || lpad(nth::text, 26, '0'), 'event_id', 'evt_' || lpad(nth::text, 26, '0'),
                    'endpoint_id', {endpoint}, 'business_id', replace({endpoint}, 'whe_', 'biz_'), 'state', '{state}',
                    'attempts', 0, 'due_at', {due_at}, 'completed_at', NULL, 'order_id', NULL, 'sequence', NULL,
                    'in_turn', false)) AS copy"
        )
    };
    let own = "'whe_' || lpad(nth::text, 26, '0')";
    for sql in [
        copy("endpoints", "id", ", 'paused', true"),
        copy("endpoint_health", "endpoint_id", ""),
        match parked {
            0 => deliveries(paused, own, "pending", "now()"),
            _ => deliveries(parked, "'whe_' || lpad('1', 26, '0')", "parked", "NULL"),
        },
        "ANALYZE deliveries, endpoints, endpoint_health".to_owned(),
    ] {
        bench.stack.query(Service::WebhookDispatcher, &sql).await?;
    }
    Ok(())
}

async fn remove(bench: &Bench) -> anyhow::Result<()> {
    for (table, column) in
        [("deliveries", "endpoint_id"), ("endpoint_health", "endpoint_id"), ("endpoints", "id")]
    {
        let sql = format!("DELETE FROM {table} WHERE {column} LIKE 'whe\\_000000%'");
        bench.stack.query(Service::WebhookDispatcher, &sql).await?;
    }
    bench.stack.query(Service::WebhookDispatcher, "VACUUM ANALYZE deliveries").await.map(drop)
}
