//! Converts a comparison with pgbench to figures.

use std::time::Duration;

use crate::cpu::Cpu;
use crate::figure::{Figure, Target, Unit};
use crate::load::Measured;
use crate::pgbench::Pgbench;

/// One comparison.
pub(crate) struct Row {
    name: String,
    clients: usize,
    /// Of each round.
    pub(crate) theirs: Vec<Pgbench>,
    pub(crate) theirs_cost: Cost,
    pub(crate) ours: Measured,
    /// The time until the outboxes were empty, after each round.
    pub(crate) drains: Vec<Duration>,
    pub(crate) ours_cost: Cost,
}

/// Processor time, and the work done in it.
#[derive(Default)]
pub(crate) struct Cost {
    pub(crate) cpu: Cpu,
    done: f64,
}

impl Cost {
    pub(crate) fn add(&mut self, cpu: Cpu, done: f64) {
        self.cpu.add(&cpu);
        self.done += done;
    }

    /// Seconds per 1,000, of all parts.
    fn whole(&self) -> f64 {
        self.cpu.parts().iter().map(|(_, seconds)| seconds).sum::<f64>() * 1_000.0 / self.done
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

    /// The rate and the cost. `unit` is one piece of work.
    pub(crate) fn figures(&self, unit: &str, target: Option<Target>) -> [Figure; 2] {
        let rounds = self.theirs.len() as f64;
        let pgbench = self.theirs.iter().map(|round| round.per_second).sum::<f64>() / rounds;
        let average = self.theirs.iter().map(|round| round.average.as_secs_f64()).sum::<f64>() / rounds;
        let drain = self.drains.iter().map(Duration::as_secs_f64).sum::<f64>() / rounds;
        let millis = |part| self.ours.percentile(part).as_secs_f64() * 1_000.0;
        let clients =
            if self.clients == 1 { "1 client".to_owned() } else { format!("{} clients", self.clients) };
        let what = format!("{unit}s, {}, {clients}", self.name);
        let rate = Figure::new(what.clone(), self.ours.per_second(), Unit::PerSecond)
            .compared_with("pgbench, the same commits", pgbench)
            .note(format!(
                "p50 {:.1} ms, p99 {:.1} ms; pgbench's average {:.1} ms",
                millis(0.5),
                millis(0.99),
                average * 1_000.0
            ))
            .note(format!("outboxes empty after {:.0} ms", drain * 1_000.0))
            .note(self.ours_cost.cpu.others_text());
        let cost =
            Figure::new(format!("{what}: processor time"), self.ours_cost.whole(), Unit::CpuSecondsPer1000)
                .compared_with("pgbench and its PostgreSQL", self.theirs_cost.whole())
                .note(self.ours_cost.cpu.text(self.ours_cost.done));
        [target.into_iter().fold(rate, Figure::target), cost]
    }
}
