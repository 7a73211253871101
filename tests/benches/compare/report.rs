//! Converts a comparison with pgbench to figures.

use std::time::Duration;

use waybill_tests::figure::{Figure, Target, Unit};

use crate::cpu::Cpu;
use crate::load::Measured;
use crate::pgbench::Pgbench;

/// One comparison.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) clients: usize,
    pub(crate) theirs: Pgbench,
    pub(crate) theirs_cost: Cost,
    pub(crate) ours: Measured,
    /// The time until the outboxes were empty.
    pub(crate) drain: Duration,
    pub(crate) ours_cost: Cost,
}

/// Processor time, and the work done in it.
pub(crate) struct Cost {
    pub(crate) cpu: Cpu,
    pub(crate) done: f64,
}

impl Cost {
    /// Seconds per 1,000, of all parts.
    fn whole(&self) -> f64 {
        self.cpu.parts().iter().map(|(_, seconds)| seconds).sum::<f64>() * 1_000.0 / self.done
    }
}

impl Row {
    /// The rate and the cost. `unit` is one piece of work.
    pub(crate) fn figures(&self, unit: &str, target: Option<Target>) -> [Figure; 2] {
        let millis = |part| self.ours.percentile(part).as_secs_f64() * 1_000.0;
        let clients =
            if self.clients == 1 { "1 client".to_owned() } else { format!("{} clients", self.clients) };
        let what = format!("{unit}s, {}, {clients}", self.name);
        let rate = Figure::new(what.clone(), self.ours.per_second(), Unit::PerSecond)
            .compared_with("pgbench, the same commits", self.theirs.per_second)
            .note(format!(
                "p50 {:.1} ms, p99 {:.1} ms; pgbench's average {:.1} ms",
                millis(0.5),
                millis(0.99),
                self.theirs.average.as_secs_f64() * 1_000.0
            ))
            .note(format!("outboxes empty after {:.0} ms", self.drain.as_secs_f64() * 1_000.0))
            .note(self.ours_cost.cpu.others_text());
        let cost =
            Figure::new(format!("{what}: processor time"), self.ours_cost.whole(), Unit::CpuSecondsPer1000)
                .compared_with("pgbench and its PostgreSQL", self.theirs_cost.whole())
                .note(self.ours_cost.cpu.text(self.ours_cost.done));
        [target.into_iter().fold(rate, Figure::target), cost]
    }
}
