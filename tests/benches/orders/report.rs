//! The table.

use std::time::Duration;

use local_stack::say;

use crate::baseline::Pgbench;
use crate::load::Measured;

pub(crate) struct Row {
    /// Which services.
    pub(crate) running: &'static str,
    pub(crate) connections: usize,
    /// In the table before.
    pub(crate) orders: String,
    pub(crate) pgbench: Pgbench,
    pub(crate) ours: Measured,
    pub(crate) drain: Duration,
    pub(crate) cpu: Vec<(&'static str, f64)>,
}

pub(crate) fn show(rows: &[Row]) {
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
    say("\nTest orders, release builds, fsync on\n");
    say(
        "| running | connections | orders before | pgbench | its average | order-api | ratio | p50 | p99 | p99 / p50 | outbox empty after |",
    );
    say("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for row in rows {
        let Row { running, connections, orders, pgbench, ours, drain, .. } = row;
        say(&format!(
            "| {running} | {connections} | {orders} | {:.0}/s | {} | {:.0}/s | {:.2} | {} | {} | {:.1} | {} |",
            pgbench.per_second,
            ms(pgbench.average),
            ours.per_second,
            ours.per_second / pgbench.per_second,
            ms(ours.p50),
            ms(ours.p99),
            ours.p99.as_secs_f64() / ours.p50.as_secs_f64(),
            ms(*drain),
        ));
    }
    say("\nProcessor time per order, in milliseconds\n");
    for row in rows {
        let parts: Vec<_> = row.cpu.iter().map(|(part, cost)| format!("{part} {cost:.3}")).collect();
        let whole: f64 = row.cpu.iter().map(|(_, cost)| cost).sum();
        say(&format!("{}, {} connections: {whole:.3} = {}", row.running, row.connections, parts.join(", ")));
    }
}
