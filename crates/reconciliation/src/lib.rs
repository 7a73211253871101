//! The arguments, the report and the exit codes of the `reconcile` commands, which compare the data of a service with
//! that of other services.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

/// Exit codes. An incomplete check is not clean.
const CLEAN: u8 = 0;
const FINDINGS: u8 = 1;
const COULD_NOT_CHECK: u8 = 2;

const PATIENCE_MAX_SECONDS: u64 = 3_600;
/// The most findings that the text output lists. The JSON output lists all kept findings.
const PRINTED_MAX: usize = 100;

/// What to check, and how to print the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub struct Arguments {
    /// Check only what changed since this time (RFC 3339); the default is everything
    #[arg(long, value_parser = time)]
    pub since: Option<DateTime<Utc>>,
    #[command(flatten)]
    pub run: RunArguments,
}

/// The arguments of every reconcile command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub struct RunArguments {
    /// Seconds to wait for steps that may be in progress, before a difference is reported (0 to 3600)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=PATIENCE_MAX_SECONDS))]
    patience: Option<u64>,
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
}

impl RunArguments {
    pub fn patience(self, default: Duration) -> Duration {
        self.patience.map_or(default, Duration::from_secs)
    }
}

fn time(text: &str) -> Result<DateTime<Utc>, String> {
    let time = DateTime::parse_from_rfc3339(text).map_err(|error| error.to_string())?;
    Ok(time.with_timezone(&Utc))
}

/// One difference: the rule, its subject, and an explanation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub check: &'static str,
    pub subject: String,
    pub detail: String,
}

/// The result of one run.
#[derive(Debug)]
pub struct Report {
    pub since: Option<DateTime<Utc>>,
    pub begun_at: DateTime<Utc>,
    pub took: Duration,
    /// Rows checked, by kind.
    pub rows: Vec<(String, i64)>,
    pub findings: Vec<Finding>,
    /// The number of all findings, including those that `findings` omits.
    pub total: i64,
    /// Steps between the services that are in progress: too recent to be findings.
    pub under_way: i64,
    /// Why the check is incomplete.
    pub error: Option<String>,
}

impl Report {
    /// Prints the outcome of a command and returns its exit code.
    pub fn conclude(outcome: anyhow::Result<Self>, json: bool, out: &mut impl Write) -> ExitCode {
        let printed = outcome.and_then(|report| {
            report.print(json, out)?;
            Ok(report.code())
        });
        ExitCode::from(printed.unwrap_or_else(|error| {
            // If this line cannot be written either, the exit code still reports the failure.
            let _unwritten = writeln!(out, "could not check: {error:#}");
            COULD_NOT_CHECK
        }))
    }

    fn code(&self) -> u8 {
        match (self.total, &self.error) {
            (_, Some(_)) => COULD_NOT_CHECK,
            (0, None) => CLEAN,
            (_, None) => FINDINGS,
        }
    }

    fn print(&self, json: bool, out: &mut impl Write) -> std::io::Result<()> {
        if json {
            return writeln!(out, "{}", self.as_json());
        }
        let from = self.since.map_or_else(|| "the beginning".to_owned(), written);
        let (begun, took) = (written(self.begun_at), self.took.as_secs_f64());
        writeln!(out, "checked from {from} to {begun}, in {took:.1} s:")?;
        for (what, rows) in &self.rows {
            writeln!(out, "  {what}: {rows}")?;
        }
        for Finding { check, subject, detail } in self.findings.iter().take(PRINTED_MAX) {
            writeln!(out, "{check} {subject}: {detail}")?;
        }
        if self.under_way > 0 {
            writeln!(out, "{} steps between the services are in progress", self.under_way)?;
        }
        match &self.error {
            None if self.total == 0 => writeln!(out, "clean"),
            None => writeln!(out, "{} findings", self.total),
            Some(error) => {
                writeln!(
                    out,
                    "could not check everything: {error}; {} findings in the checked part",
                    self.total
                )
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
            "since": self.since.map(written),
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
    use clap::Parser as _;

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn arguments_are_parsed() {
        let default = Duration::from_secs(65);
        let read = |text: &str| {
            let words = std::iter::once("reconcile").chain(text.split_whitespace());
            Command::try_parse_from(words).map(|command| command.arguments)
        };
        let none = read("").unwrap();
        assert_eq!((none.since, none.run.patience(default), none.run.json), (None, default, false));
        let given = read("--patience 7 --json --since 2026-01-31T15:00:00+05:30").unwrap();
        assert_eq!(given.since.unwrap().to_rfc3339(), "2026-01-31T09:30:00+00:00");
        assert_eq!((given.run.patience(default), given.run.json), (Duration::from_secs(7), true));
        for bad in ["--json --json", "--since", "--since yesterday", "all", "--patience 3601"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_incomplete_check_is_not_clean() {
        let report = |total: i64, error: Option<&str>| Report {
            since: None,
            begun_at: DateTime::UNIX_EPOCH,
            took: Duration::ZERO,
            rows: Vec::new(),
            findings: Vec::new(),
            total,
            under_way: 0,
            error: error.map(str::to_owned),
        };
        for (total, error, code, last) in [
            (0, None, CLEAN, "clean\n"),
            (2, None, FINDINGS, "2 findings\n"),
            (
                0,
                Some("unreachable"),
                COULD_NOT_CHECK,
                "could not check everything: unreachable; 0 findings in the checked part\n",
            ),
            (
                1,
                Some("unreachable"),
                COULD_NOT_CHECK,
                "could not check everything: unreachable; 1 findings in the checked part\n",
            ),
        ] {
            let (report, mut out) = (report(total, error), Vec::new());
            assert_eq!(report.code(), code, "{last}");
            report.print(false, &mut out).unwrap();
            assert!(String::from_utf8(out).unwrap().ends_with(last), "{last}");
        }
        let mut out = Vec::new();
        Report::conclude(Err(anyhow::anyhow!("no settings")), false, &mut out);
        assert_eq!(out, b"could not check: no settings\n");
    }
}
