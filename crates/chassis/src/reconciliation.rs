//! What the commands have in common that hold what one service knows against what others know: what they are asked, how they
//! tell what they found, and how they end.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

/// Exit codes. What did not run is not clean.
const CLEAN: u8 = 0;
const FINDINGS: u8 = 1;
const COULD_NOT_CHECK: u8 = 2;

const PATIENCE_MAX_SECONDS: u64 = 3_600;
/// Printed for people; the rest is counted.
const PRINTED_MAX: usize = 100;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReconcileArguments {
    /// Only what is new since then.
    pub since: Option<DateTime<Utc>>,
    /// How long to wait for what may be under way.
    pub patience: Duration,
    /// For programs: an object, with every finding that is kept.
    pub json: bool,
}

impl ReconcileArguments {
    /// Reads `[--since <RFC 3339>] [--patience <seconds, up to 3600>] [--json]`.
    ///
    /// # Errors
    /// Tells how the command is used.
    pub fn read(arguments: &[String], patience: Duration, usage: &'static str) -> anyhow::Result<Self> {
        let mut wanted = Self { since: None, patience, json: false };
        let (flags, arguments): (Vec<_>, Vec<_>) =
            arguments.iter().partition(|argument| *argument == "--json");
        match flags.len() {
            0 => {}
            1 => wanted.json = true,
            _ => bail!(usage),
        }
        for pair in arguments.chunks(2) {
            match pair {
                [name, text] if *name == "--since" => {
                    let time =
                        DateTime::parse_from_rfc3339(text).with_context(|| format!("{text} is no time"))?;
                    wanted.since = Some(time.with_timezone(&Utc));
                }
                [name, text] if *name == "--patience" => {
                    let seconds = text.parse().ok().filter(|seconds| *seconds <= PATIENCE_MAX_SECONDS);
                    wanted.patience = seconds.map(Duration::from_secs).context(usage)?;
                }
                _ => bail!(usage),
            }
        }
        Ok(wanted)
    }
}

/// One thing that differs: which rule, what it is about, and in words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReconcileFinding {
    pub check: &'static str,
    pub subject: String,
    pub detail: String,
}

/// What came of it.
#[derive(Debug)]
pub struct ReconcileReport {
    pub wanted: ReconcileArguments,
    pub begun_at: DateTime<Utc>,
    pub took: Duration,
    /// How many rows were looked at, by what they are.
    pub rows: Vec<(String, i64)>,
    pub findings: Vec<ReconcileFinding>,
    /// Counts what is more than is kept, too.
    pub total: i64,
    /// Steps between the services that are not done and too young to be missed.
    pub under_way: i64,
    /// Why not everything was looked at.
    pub error: Option<String>,
}

impl ReconcileReport {
    /// Prints what came of a command, whether or not there is a report, and gives its exit code.
    pub fn conclude(outcome: anyhow::Result<Self>, out: &mut impl Write) -> ExitCode {
        let told = outcome.and_then(|report| {
            report.print(out)?;
            Ok(report.code())
        });
        ExitCode::from(told.unwrap_or_else(|error| {
            // Where not even this can be written, the exit code still tells.
            let _unheard = writeln!(out, "could not check: {error:#}");
            COULD_NOT_CHECK
        }))
    }

    fn code(&self) -> u8 {
        match (self.total, &self.error) {
            // What was found is not all there is to find.
            (_, Some(_)) => COULD_NOT_CHECK,
            (0, None) => CLEAN,
            (_, None) => FINDINGS,
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        if self.wanted.json {
            return writeln!(out, "{}", self.as_json());
        }
        let from = self.wanted.since.map_or_else(|| "the beginning".to_owned(), written);
        let (begun, took) = (written(self.begun_at), self.took.as_secs_f64());
        writeln!(out, "checked from {from} to {begun}, in {took:.1} s:")?;
        for (what, rows) in &self.rows {
            writeln!(out, "  {what}: {rows}")?;
        }
        for ReconcileFinding { check, subject, detail } in self.findings.iter().take(PRINTED_MAX) {
            writeln!(out, "{check} {subject}: {detail}")?;
        }
        if self.under_way > 0 {
            writeln!(out, "{} steps between the services are under way", self.under_way)?;
        }
        match &self.error {
            None if self.total == 0 => writeln!(out, "clean"),
            None => writeln!(out, "{} findings", self.total),
            Some(error) => {
                writeln!(out, "could not check everything: {error}; {} findings in what was", self.total)
            }
        }
    }

    fn as_json(&self) -> Value {
        let rows: Map<String, Value> =
            self.rows.iter().map(|(what, rows)| (what.clone(), json!(rows))).collect();
        let findings = self.findings.iter().map(
            |finding| json!({ "check": finding.check, "subject": finding.subject, "detail": finding.detail }),
        );
        json!({
            "since": self.wanted.since.map(written),
            "begunAt": written(self.begun_at),
            "rows": rows,
            "findings": findings.collect::<Vec<_>>(),
            "total": self.total,
            "underWay": self.under_way,
            "complete": self.error.is_none(),
            "error": self.error,
        })
    }
}

fn written(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_a_time_and_a_patience_or_nothing() {
        let patience = Duration::from_secs(65);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let read = |text: &str| ReconcileArguments::read(&words(text), patience, "usage");
        let all = ReconcileArguments { since: None, patience, json: false };
        assert_eq!(read("").unwrap(), all);
        let wanted = read("--patience 7 --since 2026-01-31T15:00:00+05:30").unwrap();
        assert_eq!(wanted.since.unwrap().to_rfc3339(), "2026-01-31T09:30:00+00:00");
        assert_eq!(wanted.patience, Duration::from_secs(7));
        assert_eq!(read("--json").unwrap(), ReconcileArguments { json: true, ..all });
        assert!(read("--patience 7 --json").unwrap().json);
        for bad in [
            "--json --json",
            "--since",
            "--since yesterday",
            "all",
            "--since 2026-01-31T15:00:00Z twice",
            "--patience 3601",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_did_not_run_is_not_clean() {
        let wanted = ReconcileArguments { since: None, patience: Duration::ZERO, json: false };
        let report = |total: i64, error: Option<&str>| ReconcileReport {
            wanted,
            begun_at: DateTime::UNIX_EPOCH,
            took: Duration::ZERO,
            rows: Vec::new(),
            findings: Vec::new(),
            total,
            under_way: 0,
            error: error.map(str::to_owned),
        };
        for (total, error, code, told) in [
            (0, None, CLEAN, "clean\n"),
            (2, None, FINDINGS, "2 findings\n"),
            (0, Some("away"), COULD_NOT_CHECK, "could not check everything: away; 0 findings in what was\n"),
            (1, Some("away"), COULD_NOT_CHECK, "could not check everything: away; 1 findings in what was\n"),
        ] {
            let (report, mut out) = (report(total, error), Vec::new());
            assert_eq!(report.code(), code, "{told}");
            report.print(&mut out).unwrap();
            assert!(String::from_utf8(out).unwrap().ends_with(told), "{told}");
        }
        let mut out = Vec::new();
        ReconcileReport::conclude(Err(anyhow::anyhow!("no settings")), &mut out);
        assert_eq!(out, b"could not check: no settings\n");
    }
}
