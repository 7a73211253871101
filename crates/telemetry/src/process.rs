//! Process metrics from the kernel, under Prometheus' standard names. Read at each scrape. Systems without `/proc` have
//! none.

use std::fmt::Write as _;
use std::fs;
use std::sync::OnceLock;

/// Read once, because the kernel adjusts its boot time.
static STARTED_AT: OnceLock<Option<f64>> = OnceLock::new();
/// The number of the first field after the program's name in `/proc/self/stat`. The name may contain any character.
const FIRST_FIELD: usize = 3;
const USER_TICKS: usize = 14;
const SYSTEM_TICKS: usize = 15;
const START_TICKS: usize = 22;

/// Appends the metrics in the text format. Omits unreadable ones.
pub(crate) fn append(service: &str, text: &mut String) {
    let mut tell = |name: &str, kind: &str, value: Option<f64>| {
        if let Some(value) = value {
            // Writing to a string does not fail.
            let _written = writeln!(text, "# TYPE {name} {kind}\n{name}{{service=\"{service}\"}} {value}\n");
        }
    };
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    tell("process_cpu_seconds_total", "counter", cpu_seconds(&stat));
    tell("process_resident_memory_bytes", "gauge", resident_bytes());
    tell("process_open_fds", "gauge", open_files());
    tell("process_max_fds", "gauge", files_max());
    tell("process_start_time_seconds", "gauge", *STARTED_AT.get_or_init(|| started_at(&stat)));
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    Some(seconds(field(stat, USER_TICKS)? + field(stat, SYSTEM_TICKS)?))
}

fn started_at(stat: &str) -> Option<f64> {
    let system = fs::read_to_string("/proc/stat").ok()?;
    let booted: f64 = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(booted + seconds(field(stat, START_TICKS)?))
}

fn field(stat: &str, number: usize) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(number - FIRST_FIELD)?.parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "a hundred ticks a second, or a thousand")]
fn seconds(ticks: f64) -> f64 {
    ticks / rustix::param::clock_ticks_per_second() as f64
}

#[expect(clippy::cast_precision_loss, reason = "a page has a few thousand bytes")]
fn resident_bytes() -> Option<f64> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    let resident: f64 = pages.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(resident * rustix::param::page_size() as f64)
}

fn open_files() -> Option<f64> {
    let open = fs::read_dir("/proc/self/fd").ok()?.count();
    // Reading the directory opens it too.
    u32::try_from(open.saturating_sub(1)).ok().map(f64::from)
}

fn files_max() -> Option<f64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_found_after_any_program_name() {
        let stat = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 13 14 15 16 17 18 9000 20";
        assert_eq!((field(stat, USER_TICKS), field(stat, SYSTEM_TICKS)), (Some(250.0), Some(50.0)));
        assert_eq!(field(stat, START_TICKS), Some(9_000.0));
        assert_eq!(field(stat, 99), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_metrics() {
        let mut text = String::new();
        append("test", &mut text);
        let value = |name: &str| {
            let line =
                text.lines().find_map(|line| line.strip_prefix(&format!("{name}{{service=\"test\"}} ")));
            line.unwrap_or_else(|| panic!("no {name} in {text}")).parse::<f64>().unwrap()
        };
        assert!(value("process_resident_memory_bytes") > 1e5);
        assert!((1.0..=value("process_max_fds")).contains(&value("process_open_fds")));
        assert!(value("process_start_time_seconds") > 1.6e9);
        assert!(value("process_cpu_seconds_total") >= 0.0);
    }
}
