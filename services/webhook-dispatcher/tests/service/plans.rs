//! Query plans that were cached while the tables were empty.

use diesel::QueryableByName;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use domain::{EventKind, Mode};
use test_kit::until;

use crate::harness::Harness;
use crate::receiver::Receiver;

#[derive(QueryableByName)]
struct Read {
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

/// The number of rows read through indexes of these tables.
async fn rows_read(harness: &Harness) -> i64 {
    let read = diesel::sql_query(
        "SELECT sum(idx_scan + idx_tup_fetch)::bigint AS rows FROM pg_stat_user_tables
         WHERE relname IN ('deliveries', 'events', 'attempts')",
    );
    read.get_result::<Read>(&mut harness.connection().await).await.unwrap().rows
}

#[tokio::test]
async fn completed_deliveries_do_not_slow_down_new_ones() {
    const MANY: u32 = 20_000;
    const WEBHOOKS: usize = 60;
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let send = async || {
        for _ in 0..WEBHOOKS / 2 {
            let order = harness.new_order(Mode::Live);
            let kinds = [EventKind::OrderCreated, EventKind::DriverAssigned];
            let life = (1..).zip(kinds).map(|(sequence, kind)| harness.envelope(&order, sequence, kind));
            harness.publish(&life.collect::<Vec<_>>()).await;
        }
    };
    send().await;
    until("plans are made", async || receiver.count() == WEBHOOKS).await;
    harness.fill(&endpoint, MANY).await;
    let before = rows_read(&harness).await;

    send().await;
    until("they arrive", async || receiver.count() == 2 * WEBHOOKS).await;
    let all = i64::try_from(WEBHOOKS).unwrap();
    until("they are counted", async || rows_read(&harness).await - before >= 3 * all).await;
    let read = rows_read(&harness).await - before;
    assert!(read < i64::from(MANY), "{read} rows for {WEBHOOKS} webhooks");
}
