//! The processor time of each part of the stack, with all its child processes, as the kernel counts it.

use std::collections::HashMap;
use std::fs;

use anyhow::Context;
use local_stack::{Part, Service, Stack, say};

/// The kernel counts in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// The maximum number of repeated reads, because on a busy machine some process always ends.
const REPEATED_READS_MAX: u32 = 50;

/// Processor seconds, by part.
pub(crate) struct Cpu {
    parts: Vec<(&'static str, f64)>,
    /// Of all processes of the machine.
    busy: f64,
    /// Of all processors, busy or idle.
    passed: f64,
}

impl Cpu {
    /// Since the start of each process.
    pub(crate) fn of(stack: &Stack) -> Self {
        Self::with_child(stack, None)
    }

    /// Includes a child of this process, by its name and id.
    pub(crate) fn with_child(stack: &Stack, child: Option<(&'static str, u32)>) -> Self {
        let processes = processes();
        let services = Service::ALL.into_iter().map(Part::from);
        let parts = [Part::Postgres, Part::RabbitMq].into_iter().chain(services);
        let seconds = |part: Part| stack.pid(part).map_or(0.0, |pid| tree(&processes, pid));
        let mut parts: Vec<_> = parts.map(|part| (part.name(), seconds(part))).collect();
        let ourselves = processes.get(&std::process::id());
        // Tools that this process ran and waited for: pgbench and psql.
        parts.push(("caller", ourselves.map_or(0.0, |process| process.own)));
        parts.push(("tools", ourselves.map_or(0.0, |process| process.ended)));
        parts.extend(child.map(|(name, pid)| (name, tree(&processes, pid))));
        let (busy, passed) = machine();
        Self { parts, busy, passed }
    }

    /// A part that did not run then counts from its start.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let pairs = self.parts.iter().zip(&before.parts);
        Self {
            parts: pairs.map(|((part, now), (_, then))| (*part, now - then)).collect(),
            busy: self.busy - before.busy,
            passed: self.passed - before.passed,
        }
    }

    /// Of all parts.
    pub(crate) fn sum(&self) -> f64 {
        self.parts.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Seconds per 1,000 of `done`, by part. Omits negligible parts.
    pub(crate) fn text(&self, done: f64) -> String {
        let each = self.parts.iter().map(|(part, seconds)| (part, seconds * 1_000.0 / done.max(1.0)));
        let shown = each.filter(|(_, each)| *each >= 0.000_5).map(|(part, each)| format!("{part} {each:.3}"));
        shown.collect::<Vec<_>>().join(" + ")
    }

    /// The share of the machine that other processes used.
    pub(crate) fn others_text(&self) -> String {
        let others = (self.busy - self.sum()) / self.passed;
        format!("others used {:.0} % of the machine", others.max(0.0) * 100.0)
    }
}

/// Memory in megabytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Memory {
    /// All that is in memory.
    pub(crate) resident: f64,
    /// Without pages of files, which the kernel can drop and processes of one program share.
    pub(crate) anonymous: f64,
}

impl Memory {
    /// Of a process and its children.
    pub(crate) fn of(pid: u32) -> anyhow::Result<Self> {
        let processes = read_processes();
        let own = Self::of_one(pid)?;
        // An ended process has none.
        Ok(children(&processes, pid).filter_map(|child| Self::of(child).ok()).fold(own, Self::plus))
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { resident: self.resident + other.resident, anonymous: self.anonymous + other.anonymous }
    }

    fn of_one(pid: u32) -> anyhow::Result<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let megabytes = |name: &str| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .with_context(|| format!("no {name}"))?;
            let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
            anyhow::Ok(kilobytes * 1_024.0 / 1_000_000.0)
        };
        Ok(Self { resident: megabytes("VmRSS:")?, anonymous: megabytes("RssAnon:")? })
    }
}

struct Process {
    parent: u32,
    /// Without its children.
    own: f64,
    /// Ended children.
    ended: f64,
}

fn tree(processes: &HashMap<u32, Process>, root: u32) -> f64 {
    let own = processes.get(&root).map_or(0.0, |process| process.own + process.ended);
    own + children(processes, root).map(|child| tree(processes, child)).sum::<f64>()
}

fn children(processes: &HashMap<u32, Process>, parent: u32) -> impl Iterator<Item = u32> {
    processes.iter().filter(move |(_, process)| process.parent == parent).map(|(pid, _)| *pid)
}

/// Reads all processes again if one of them ended meanwhile. Its parent is usually read before it, so its time would be
/// counted nowhere.
fn processes() -> HashMap<u32, Process> {
    let mut seen = read_processes();
    for _ in 0..REPEATED_READS_MAX {
        let before = std::mem::replace(&mut seen, read_processes());
        if before.keys().all(|pid| seen.contains_key(pid)) {
            return seen;
        }
    }
    say("Some process ended during every read: processor times may lack the time of processes that ended");
    seen
}

fn read_processes() -> HashMap<u32, Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, read_process(pid)?))
        })
        .collect()
}

/// Nothing if it has ended.
fn read_process(pid: u32) -> Option<Process> {
    process(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name, in parentheses, may contain spaces; later fields do not.
fn process(stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    let seconds = |user: usize, system: usize| Some((ticks(user)? + ticks(system)?) / TICKS_PER_SECOND);
    Some(Process { parent: fields.get(1)?.parse().ok()?, own: seconds(11, 12)?, ended: seconds(13, 14)? })
}

/// Busy seconds and all seconds of all processors.
fn machine() -> (f64, f64) {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<f64> =
        line.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
    let all: f64 = ticks.iter().sum();
    // The fourth and fifth fields are idle time and idle time while waiting for a disk.
    let idle: f64 = ticks.iter().skip(3).take(2).sum();
    ((all - idle) / TICKS_PER_SECOND, all / TICKS_PER_SECOND)
}
