//! What each process of the stack costs: the processor time of its whole tree, as the kernel counts it.

use std::collections::HashMap;
use std::fs;

use local_stack::{Part, Service, Stack};

/// The kernel counts in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor seconds so far, by part.
pub(crate) struct Cpu(Vec<(&'static str, f64)>);

impl Cpu {
    pub(crate) fn of(stack: &Stack) -> Self {
        let processes = processes();
        let services = Service::ALL.into_iter().map(Part::from);
        let parts = [Part::Postgres, Part::RabbitMq].into_iter().chain(services);
        let seconds = |part: Part| stack.pid(part).map_or(0.0, |pid| tree(&processes, pid));
        let mut listed: Vec<_> = parts.map(|part| (part.name(), seconds(part))).collect();
        listed.push(("caller", processes.get(&std::process::id()).map_or(0.0, |process| process.own)));
        Self(listed)
    }

    /// Milliseconds per order, by part.
    pub(crate) fn per_order_since(&self, before: &Self, orders: f64) -> Vec<(&'static str, f64)> {
        let pairs = self.0.iter().zip(&before.0);
        pairs.map(|((part, now), (_, then))| (*part, (now - then) * 1_000.0 / orders)).collect()
    }
}

struct Process {
    parent: u32,
    /// Without its children.
    own: f64,
    /// Children that ended.
    ended: f64,
}

fn tree(processes: &HashMap<u32, Process>, root: u32) -> f64 {
    let children = processes.iter().filter(|(_, process)| process.parent == root).map(|(pid, _)| *pid);
    let own = processes.get(&root).map_or(0.0, |process| process.own + process.ended);
    own + children.map(|child| tree(processes, child)).sum::<f64>()
}

fn processes() -> HashMap<u32, Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, process(&fs::read_to_string(entry.path().join("stat")).ok()?)?))
        })
        .collect()
}

/// The name, which stands in brackets, may hold blanks; what follows it does not.
fn process(stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    let seconds = |user: usize, system: usize| Some((ticks(user)? + ticks(system)?) / TICKS_PER_SECOND);
    Some(Process { parent: fields.get(1)?.parse().ok()?, own: seconds(11, 12)?, ended: seconds(13, 14)? })
}
