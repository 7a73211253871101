//! `proto-docs/BENCHMARKS.md`: the results of `make bench`, the machine, and how to repeat it. Each bench has a
//! section; a bench that runs alone replaces its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use domain::Clock;
use local_stack::{Service, say};
use waybill_tests::figure::{HEAD, Section};

use crate::ROUNDS;

/// Prints a section, and replaces the page's earlier section of the bench, unless there were too few rounds.
pub(crate) fn write(section: &Section, rounds: u32) -> anyhow::Result<()> {
    let found = text(section, rounds)?;
    say(&format!("## {found}"));
    if rounds < ROUNDS {
        return Ok(());
    }
    let path = repository().join("proto-docs/BENCHMARKS.md");
    // Without a page there is nothing to keep.
    let page = fs::read_to_string(&path).unwrap_or_default();
    let mut kept: Vec<&str> = page.split("\n## ").skip(1).map(str::trim_end).collect();
    match kept.iter().position(|kept| kept.lines().next() == Some(section.title.as_str())) {
        Some(position) => kept[position] = &found,
        None => kept.push(&found),
    }
    let page = format!("{}\n\n## {}\n", include_str!("page.md").trim_end(), kept.join("\n\n## "));
    fs::write(&path, page).with_context(|| path.display().to_string())
}

/// Without the heading's `#`.
fn text(section: &Section, rounds: u32) -> anyhow::Result<String> {
    let rows: Vec<_> = section.lines().collect();
    Ok(format!("{}\n\n{}\n\n{HEAD}\n{}", section.title, run(rounds)?, rows.join("\n")))
}

/// The date, the version, the machine and the rounds.
fn run(rounds: u32) -> anyhow::Result<String> {
    let cpu = fs::read_to_string("/proc/cpuinfo")?;
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let memory = fs::read_to_string("/proc/meminfo")?;
    let kilobytes = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")).context("no MemTotal")?;
    let kilobytes: f64 = kilobytes.trim().trim_end_matches("kB").trim().parse()?;
    Ok(format!(
        "{}, at `{}`, on {} cores of {}, {:.0} GiB of memory, Linux {}, {}, {} services in release builds, {rounds} {}.",
        Clock::system().now().format("%Y-%m-%d"),
        said("git", &["rev-parse", "--short", "HEAD"])?,
        std::thread::available_parallelism()?,
        model.trim_start_matches([' ', '\t', ':']),
        kilobytes / 1_048_576.0,
        fs::read_to_string("/proc/sys/kernel/osrelease")?.trim(),
        said(&local_stack::postgres_program("postgres")?.to_string_lossy(), &["--version"])?,
        Service::ALL.len(),
        if rounds == 1 { "round" } else { "rounds" },
    ))
}

/// The first line of a program's output.
fn said(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(arguments).current_dir(repository()).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().next().with_context(|| format!("{program} says nothing"))?.to_owned())
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}
