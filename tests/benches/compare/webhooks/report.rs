//! Converts a run of webhooks to figures.

use waybill_tests::figure::{Figure, Target, Unit};

use super::calibrate::Calibration;
use super::received::Received;
use crate::cpu::Cpu;

/// The result of one run.
pub(crate) struct Row {
    pub(crate) figures: Vec<Figure>,
    received: Option<Received>,
}

impl Row {
    pub(crate) fn of(figures: impl IntoIterator<Item = Figure>) -> Self {
        Self { figures: figures.into_iter().collect(), received: None }
    }

    /// Adds the cost: the processor time of all parts of Waybill.
    pub(crate) fn cost(
        mut self,
        calibration: &Calibration,
        what: &str,
        cost: &Spent,
        target: Option<f64>,
    ) -> Self {
        let figure = Figure::new(
            format!("{what}: processor time of all parts"),
            cost.per_1000(),
            Unit::CpuSecondsPer1000,
        )
        .compared_with("the caller of the bare POSTs", calibration.post_cost)
        .note(cost.cpu.text(cost.count as f64))
        .note(cost.cpu.others_text());
        self.figures.push(target.map(Target::AtMost).into_iter().fold(figure, Figure::target));
        self
    }

    /// Adds the comparison of received with expected webhooks.
    pub(crate) fn received(mut self, received: Received) -> Self {
        if let Some(first) = self.figures.first_mut() {
            first.add_note(received.text());
        }
        self.received = Some(received);
        self
    }

    pub(crate) fn is_wrong(&self) -> bool {
        self.received.is_some_and(|received| !received.is_right())
    }
}

/// Processor time, and the number of webhooks.
pub(crate) struct Spent {
    pub(crate) cpu: Cpu,
    pub(crate) count: usize,
}

impl Spent {
    /// Seconds per 1,000, of all parts of Waybill.
    pub(crate) fn per_1000(&self) -> f64 {
        self.cpu.of_stack() * 1_000.0 / self.count.max(1) as f64
    }
}
