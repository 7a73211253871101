//! The table of the webhooks' figures.

use local_stack::say;

use super::calibrate::Calibration;
use super::received::Received;
use crate::cpu::Cpu;

/// Those whose processor time a webhook costs; what callers, the receiver and the other services use stands apart.
const COUNTED: [&str; 3] = ["webhook-dispatcher", "postgres", "rabbitmq"];
/// Those that do nothing for Waybill.
const BESIDE: [&str; 3] = ["receiver", "caller", "tools"];

/// One figure.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) found: String,
    pub(crate) target: &'static str,
    /// What it cost, and how many webhooks that was for.
    pub(crate) cost: Option<(Cpu, usize)>,
    pub(crate) received: Option<Received>,
}

impl Row {
    /// A figure without cost and without webhooks to be checked.
    pub(crate) fn plain(what: impl Into<String>, found: String, target: &'static str) -> Self {
        Self { what: what.into(), found, target, cost: None, received: None }
    }

    pub(crate) fn is_wrong(&self) -> bool {
        self.received.is_some_and(|received| !received.is_right())
    }

    /// Processor seconds for 1,000 webhooks, of the dispatcher, the database and the broker.
    pub(crate) fn counted_cost(&self) -> f64 {
        let Some((cpu, count)) = &self.cost else { return 0.0 };
        let counted = cpu.parts().iter().filter(|(part, _)| COUNTED.contains(part));
        counted.map(|(_, seconds)| seconds).sum::<f64>() * 1_000.0 / (*count).max(1) as f64
    }

    pub(crate) fn line(&self) -> String {
        let cost = self.cost.as_ref().map_or(" | | ".to_owned(), |(cpu, count)| cost_text(cpu, *count));
        let received = self.received.as_ref().map(Received::text).unwrap_or_default();
        format!("| {} | {} | {} | {cost} | {received} |", self.what, self.found, self.target)
    }
}

fn cost_text(cpu: &Cpu, count: usize) -> String {
    let each = |seconds: f64| seconds * 1_000.0 / count.max(1) as f64;
    let list = |wanted: &dyn Fn(&str) -> bool| {
        let parts: Vec<_> = cpu.parts().iter().filter(|(part, _)| wanted(part)).collect();
        let sum: f64 = parts.iter().map(|(_, seconds)| each(*seconds)).sum();
        let shown = parts.iter().filter(|(_, seconds)| each(*seconds) >= 0.000_5);
        let shown: Vec<_> = shown.map(|(part, seconds)| format!("{part} {:.3}", each(*seconds))).collect();
        (sum, shown.join(" + "))
    };
    let (counted, of) = list(&|part| COUNTED.contains(&part));
    let (services, of_services) = list(&|part| !COUNTED.contains(&part) && !BESIDE.contains(&part));
    let (_, beside) = list(&|part| BESIDE.contains(&part));
    let whole = counted + services;
    let services =
        if of_services.is_empty() { String::new() } else { format!("; with {of_services}: {whole:.3}") };
    format!("{counted:.3} = {of}{services} | {beside} | {:.0} %", cpu.others() * 100.0)
}

pub(crate) fn show(calibration: &Calibration, rows: &[Row]) {
    say("\nWebhooks, release builds, fsync on, all on this machine\n");
    say(&calibration.text());
    say(
        "\n| what | found | target | CPU s per 1,000 webhooks: dispatcher + database + broker | besides | machine used by others | received |",
    );
    say("| --- | --- | --- | --- | --- | --- | --- |");
    rows.iter().for_each(|row| say(&row.line()));
}

/// The value below which this part of them lies.
pub(crate) fn percentile(sorted: &[f64], part: f64) -> f64 {
    sorted.get((sorted.len() as f64 * part) as usize).copied().unwrap_or_default()
}
