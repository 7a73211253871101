//! `wallet reconcile [--since <RFC 3339>] [--patience <seconds>] [--json]`: looks through the whole history, or through what is new
//! since then, tells what it looked at and what is wrong, and writes nothing.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use chrono::{DateTime, SecondsFormat, Utc};
use domain::Clock;
use postgres::Database;
use serde_json::{Map, Value, json};
use strum::VariantArray;

use super::examine::{ExamineError, Examiner};
use super::feed::Feed;
use super::turn::Tally;
use crate::settings::Settings;

/// Exit codes. What did not run is not clean.
const CLEAN: u8 = 0;
const FINDINGS: u8 = 1;
const COULD_NOT_CHECK: u8 = 2;

/// Longer than steps between the services may be under way, so that none is left unexplained.
const PATIENCE_DEFAULT: Duration = Duration::from_secs(65);
const PATIENCE_MAX_SECONDS: u64 = 3_600;
/// Printed; the rest is counted.
const PRINTED_MAX: usize = 100;

const USAGE: &str =
    "usage: wallet reconcile [--since <RFC 3339>] [--patience <seconds, up to 3600>] [--json]";

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    since: Option<DateTime<Utc>>,
    /// How long to wait for what may be under way.
    patience: Duration,
    /// For programs: an object, with every finding that is kept.
    json: bool,
}

/// Runs the command with what follows its name, and prints to `out`.
pub fn main(arguments: &[String], out: &mut impl Write) -> ExitCode {
    let outcome = read(arguments).and_then(|wanted| {
        chassis::command(async |settings: &Settings| reconcile(settings, wanted, out).await)
    });
    let code = outcome.unwrap_or_else(|error| {
        // Where not even this can be written, the exit code still tells.
        let _unheard = writeln!(out, "could not check: {error:#}");
        COULD_NOT_CHECK
    });
    ExitCode::from(code)
}

fn read(arguments: &[String]) -> anyhow::Result<Wanted> {
    let mut wanted = Wanted { since: None, patience: PATIENCE_DEFAULT, json: false };
    let (flags, arguments): (Vec<_>, Vec<_>) = arguments.iter().partition(|argument| *argument == "--json");
    match flags.len() {
        0 => {}
        1 => wanted.json = true,
        _ => bail!(USAGE),
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
                wanted.patience = seconds.map(Duration::from_secs).context(USAGE)?;
            }
            _ => bail!(USAGE),
        }
    }
    Ok(wanted)
}

async fn reconcile(settings: &Settings, wanted: Wanted, out: &mut impl Write) -> anyhow::Result<u8> {
    let clock = Clock::system();
    let examiner = Examiner::new(settings, Database::new(&settings.database)?, clock.clone())?;
    let (begun, started) = (clock.now(), Instant::now());
    let mut tally = Tally::default();
    let outcome = look_through(&examiner, wanted, &mut tally).await;

    let (total, error) = (tally.findings.total(), outcome.err());
    if wanted.json {
        writeln!(out, "{}", as_json(&wanted, begun, &tally, error.as_ref()))?;
    } else {
        tell(&wanted, begun, started.elapsed(), &tally, out)?;
        match &error {
            None if total == 0 => writeln!(out, "clean")?,
            None => writeln!(out, "{total} findings")?,
            Some(error) => {
                writeln!(out, "could not check everything: {error}; {total} findings in what was")?;
            }
        }
    }
    Ok(match (total, error) {
        (0, None) => CLEAN,
        (0, Some(_)) => COULD_NOT_CHECK,
        _ => FINDINGS,
    })
}

fn written(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn tell(
    wanted: &Wanted,
    begun: DateTime<Utc>,
    took: Duration,
    tally: &Tally,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let from = wanted.since.map_or_else(|| "the beginning".to_owned(), written);
    writeln!(out, "checked from {from} to {}, in {:.1} s:", written(begun), took.as_secs_f64())?;
    for (feed, rows) in &tally.rows {
        writeln!(out, "  {feed}: {rows}")?;
    }
    for finding in tally.findings.kept().take(PRINTED_MAX) {
        writeln!(out, "{} {}: {}", finding.check, finding.subject, finding.detail)?;
    }
    if tally.under_way > 0 {
        writeln!(out, "{} steps between the services are under way", tally.under_way)?;
    }
    Ok(())
}

/// `total` counts what is more than is kept, too.
fn as_json(wanted: &Wanted, begun: DateTime<Utc>, tally: &Tally, error: Option<&ExamineError>) -> Value {
    let rows: Map<String, Value> =
        tally.rows.iter().map(|(feed, rows)| (feed.to_string(), json!(rows))).collect();
    let findings = tally.findings.kept().map(
        |finding| json!({ "check": finding.check.as_str(), "subject": finding.subject, "detail": finding.detail }),
    );
    json!({
        "since": wanted.since.map(written),
        "begunAt": written(begun),
        "rows": rows,
        "findings": findings.collect::<Vec<_>>(),
        "total": tally.findings.total(),
        "underWay": tally.under_way,
        "complete": error.is_none(),
        "error": error.map(ToString::to_string),
    })
}

async fn look_through(
    examiner: &Examiner,
    Wanted { since, patience, .. }: Wanted,
    tally: &mut Tally,
) -> Result<(), ExamineError> {
    for feed in Feed::VARIANTS.iter().copied().filter(|feed| feed.has_sweep() || since.is_some()) {
        let mut place = Some(feed.start(since));
        while let Some(after) = place {
            let look = examiner.look(feed, &after).await?;
            place = tally.take(examiner, feed, look, patience).await?;
        }
    }
    tally.settle(examiner, patience).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_a_time_and_a_patience_or_nothing() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let all = Wanted { since: None, patience: PATIENCE_DEFAULT, json: false };
        assert_eq!(read(&[]).unwrap(), all);
        let wanted = read(&words("--patience 7 --since 2026-01-31T15:00:00+05:30")).unwrap();
        assert_eq!(wanted.since.unwrap().to_rfc3339(), "2026-01-31T09:30:00+00:00");
        assert_eq!(wanted.patience, Duration::from_secs(7));
        assert_eq!(read(&words("--json")).unwrap(), Wanted { json: true, ..all });
        assert!(read(&words("--patience 7 --json")).unwrap().json);
        for bad in [
            "--json --json",
            "--since",
            "--since yesterday",
            "all",
            "--since 2026-01-31T15:00:00Z twice",
            "--patience 3601",
        ] {
            assert!(read(&words(bad)).is_err(), "{bad}");
        }
    }
}
