//! The tables.

use std::time::Duration;

use local_stack::say;

use crate::cpu::Cpu;
use crate::load::Measured;
use crate::pgbench::Pgbench;

/// What one bench found.
pub(crate) struct Report {
    pub(crate) title: &'static str,
    /// One piece of work.
    pub(crate) unit: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// One comparison.
pub(crate) struct Row {
    name: String,
    clients: usize,
    /// Of each round.
    pub(crate) theirs: Vec<Pgbench>,
    pub(crate) theirs_cost: Cost,
    pub(crate) ours: Measured,
    /// How long the outboxes took to be empty, after each round.
    pub(crate) drains: Vec<Duration>,
    pub(crate) ours_cost: Cost,
}

/// Processor time, and what was done in it.
#[derive(Default)]
pub(crate) struct Cost {
    cpu: Cpu,
    done: f64,
}

impl Cost {
    pub(crate) fn add(&mut self, cpu: Cpu, done: f64) {
        self.cpu.add(&cpu);
        self.done += done;
    }

    /// Milliseconds for one, by part.
    fn text(&self) -> String {
        let each = |seconds: f64| seconds * 1_000.0 / self.done;
        let whole: f64 = self.cpu.parts().iter().map(|(_, seconds)| each(*seconds)).sum();
        let parts = self.cpu.parts().iter().map(|(part, seconds)| (part, each(*seconds)));
        let parts: Vec<_> = parts
            .filter(|(_, cost)| *cost >= 0.000_5)
            .map(|(part, cost)| format!("{part} {cost:.3}"))
            .collect();
        format!("{whole:.3} = {}", parts.join(" + "))
    }
}

impl Row {
    pub(crate) fn new(name: String, clients: usize) -> Self {
        Self {
            name,
            clients,
            theirs: Vec::new(),
            theirs_cost: Cost::default(),
            ours: Measured::default(),
            drains: Vec::new(),
            ours_cost: Cost::default(),
        }
    }

    fn line(&self) -> String {
        let rounds = self.theirs.len() as f64;
        let pgbench = self.theirs.iter().map(|round| round.per_second).sum::<f64>() / rounds;
        let average = self.theirs.iter().map(|round| round.average.as_secs_f64()).sum::<f64>() / rounds;
        let drain = self.drains.iter().map(Duration::as_secs_f64).sum::<f64>() / rounds;
        let (p50, p99) = (self.ours.percentile(0.50).as_secs_f64(), self.ours.percentile(0.99).as_secs_f64());
        let ours = self.ours.per_second();
        format!(
            "| {} | {} | {pgbench:.0}/s | {:.1} ms | {ours:.0}/s | {:.2} | {:.1} ms | {:.1} ms | {:.1} ms | {:.0} % |",
            self.name,
            self.clients,
            average * 1_000.0,
            ours / pgbench,
            p50 * 1_000.0,
            p99 * 1_000.0,
            drain * 1_000.0,
            self.ours_cost.cpu.others() * 100.0,
        )
    }
}

pub(crate) fn show(report: &Report) {
    let Report { title, unit, rows } = report;
    say(&format!("\n{title}, release builds, fsync on\n"));
    say(
        "| what | clients | pgbench | its average | Waybill | ratio | p50 | p99 | outboxes empty after | machine used by others |",
    );
    say("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for row in rows {
        say(&row.line());
    }
    say(&format!("\nProcessor time per {unit}, in milliseconds\n"));
    for row in rows {
        let Row { name, clients, .. } = row;
        say(&format!("{name}, {clients} clients: {}", row.ours_cost.text()));
        say(&format!("    beside pgbench: {}", row.theirs_cost.text()));
    }
}
