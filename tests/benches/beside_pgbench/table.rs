//! `proto-docs/BENCHMARKS.md`: what `make bench` found as a whole, on which machine, and how to repeat it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use domain::Clock;
use local_stack::{Service, say};

use crate::figure::{HEAD, Section};

/// On the way, a section at a time.
pub(crate) fn show(section: &Section) {
    say(&text(section));
}

/// Replaces the page.
pub(crate) fn write(sections: &[Section]) -> anyhow::Result<()> {
    let sections: Vec<_> = sections.iter().map(text).collect();
    let page = format!(
        "{}\n\n{}\n",
        include_str!("page.md").trim_end().replace("{run}", &run()?),
        sections.join("\n\n")
    );
    let path = repository().join("proto-docs/BENCHMARKS.md");
    fs::write(&path, page).with_context(|| path.display().to_string())?;
    say(&format!("Written to {}", path.display()));
    Ok(())
}

fn text(section: &Section) -> String {
    let rows: Vec<_> = section.figures.iter().map(|figure| figure.line()).collect();
    format!("## {}\n\n{HEAD}\n{}", section.title, rows.join("\n"))
}

/// When, of what and where.
fn run() -> anyhow::Result<String> {
    let cpu = fs::read_to_string("/proc/cpuinfo")?;
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let memory = fs::read_to_string("/proc/meminfo")?;
    let kilobytes = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")).context("no MemTotal")?;
    let kilobytes: f64 = kilobytes.trim().trim_end_matches("kB").trim().parse()?;
    let lines = [
        ("date", Clock::system().now().format("%Y-%m-%d").to_string()),
        ("commit", said("git", &["rev-parse", "--short", "HEAD"])?),
        (
            "machine",
            format!(
                "{} cores of {}, {:.0} GiB of memory, Linux {}",
                std::thread::available_parallelism()?,
                model.trim_start_matches([' ', '\t', ':']),
                kilobytes / 1_048_576.0,
                fs::read_to_string("/proc/sys/kernel/osrelease")?.trim(),
            ),
        ),
        (
            "everything on it",
            format!(
                "{} with fsync on, RabbitMQ, {} services in release builds, the callers and the receivers",
                said(&local_stack::postgres_program("postgres")?.to_string_lossy(), &["--version"])?,
                Service::ALL.len()
            ),
        ),
    ];
    Ok(lines.map(|(name, value)| format!("| {name} | {value} |")).join("\n"))
}

/// The first line that a program prints.
fn said(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(arguments).current_dir(repository()).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().next().with_context(|| format!("{program} says nothing"))?.to_owned())
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}
