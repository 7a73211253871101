//! `wallet reconcile [--since <RFC 3339>] [--patience <seconds>] [--json]`: looks through the whole history, or through what is new
//! since then, tells what it looked at and what is wrong, and writes nothing.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use chassis::{ReconcileArguments, ReconcileFinding, ReconcileReport};
use domain::Clock;
use postgres::Database;
use strum::VariantArray;

use super::examine::{ExamineError, Examiner};
use super::feed::Feed;
use super::turn::Tally;
use crate::settings::Settings;

/// Longer than steps between the services may be under way, so that none is left unexplained.
const PATIENCE_DEFAULT: Duration = Duration::from_secs(65);

const USAGE: &str =
    "usage: wallet reconcile [--since <RFC 3339>] [--patience <seconds, up to 3600>] [--json]";

/// Runs the command with what follows its name, and prints to `out`.
pub fn main(arguments: &[String], out: &mut impl Write) -> ExitCode {
    let outcome = ReconcileArguments::read(arguments, PATIENCE_DEFAULT, USAGE)
        .and_then(|wanted| chassis::command(async |settings: &Settings| reconcile(settings, wanted).await));
    ReconcileReport::conclude(outcome, out)
}

async fn reconcile(settings: &Settings, wanted: ReconcileArguments) -> anyhow::Result<ReconcileReport> {
    let clock = Clock::system();
    let examiner = Examiner::new(settings, Database::new(&settings.database)?, clock.clone())?;
    let (begun_at, started) = (clock.now(), Instant::now());
    let mut tally = Tally::default();
    let outcome = look_through(&examiner, wanted, &mut tally).await;
    let findings = tally.findings.kept().map(|finding| ReconcileFinding {
        check: finding.check.as_str(),
        subject: finding.subject,
        detail: finding.detail,
    });
    Ok(ReconcileReport {
        wanted,
        begun_at,
        took: started.elapsed(),
        rows: tally.rows.iter().map(|(feed, rows)| (feed.to_string(), *rows)).collect(),
        findings: findings.collect(),
        total: tally.findings.total(),
        under_way: tally.under_way,
        error: outcome.err().map(|error| error.to_string()),
    })
}

async fn look_through(
    examiner: &Examiner,
    ReconcileArguments { since, patience, .. }: ReconcileArguments,
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
