//! The long fault test, `make test-faults`. It continues at the round after the last finished one, which it keeps in
//! `target/faults/progress.json`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use domain::Entropy;
use local_stack::{local_stack_directory, say};
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};
use waybill_tests::faults::{Campaign, RoundReport};

#[derive(Debug, Serialize, Deserialize)]
struct Progress {
    seed: u64,
    next_round: u64,
    #[serde(alias = "tally")]
    report: RoundReport,
    /// Rounds whose final check failed.
    failed: Vec<u64>,
}

/// Kill processes while orders are placed, and check after each round that nothing is lost or charged twice
#[derive(Parser)]
struct Arguments {
    /// Processes to kill in all, previous runs included
    #[arg(long, default_value_t = 1_000)]
    kills: u64,
    /// Start a new campaign with this seed
    #[arg(long)]
    seed: Option<u64>,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let file = progress_file()?;
    let mut progress = Progress::load(&file, arguments.seed)?;
    say(&format!("Seed {}, from round {}: {}", progress.seed, progress.next_round, progress.report));
    if progress.report.kills >= arguments.kills {
        say("Previous runs killed that many. Use --kills for more, or --seed for a new campaign.");
        return Ok(ExitCode::SUCCESS);
    }
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let campaign = Campaign::start(progress.seed).await?;
    while progress.report.kills < arguments.kills {
        let round = tokio::select! {
            round = campaign.round(progress.next_round) => round,
            _ = interrupt.recv() => return Ok(ExitCode::SUCCESS),
            _ = terminate.recv() => return Ok(ExitCode::SUCCESS),
        };
        let number = progress.next_round;
        progress.next_round += 1;
        match round {
            Ok(report) => progress.report.add(&report),
            Err(error) => {
                progress.failed.push(number);
                progress.save(&file)?;
                return Err(error);
            }
        }
        progress.save(&file)?;
        say(&format!("Round {number}: {}", progress.report));
    }
    campaign.end().await?;
    let RoundReport { steps, missed_steps, .. } = &progress.report;
    say(&format!("Steps met: {steps:?}; not met: {missed_steps:?}; failed rounds: {:?}", progress.failed));
    Ok(if progress.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Progress {
    /// The progress of the last run. A new campaign if there is none, or if the arguments name another seed.
    fn load(file: &Path, seed: Option<u64>) -> anyhow::Result<Self> {
        let kept = match fs::read(file) {
            Ok(bytes) => Some(serde_json::from_slice::<Self>(&bytes).context("reading the progress file")?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if let Some(kept) = kept.filter(|kept| seed.is_none_or(|seed| seed == kept.seed)) {
            return Ok(kept);
        }
        let seed =
            seed.map_or_else(|| Entropy::from_system().map(|chance| u64::from(chance.below(u32::MAX))), Ok)?;
        Ok(Self { seed, next_round: 0, report: RoundReport::default(), failed: Vec::new() })
    }

    fn save(&self, file: &Path) -> anyhow::Result<()> {
        let new = file.with_extension("new");
        fs::write(&new, serde_json::to_vec_pretty(self)?)?;
        Ok(fs::rename(new, file)?)
    }
}

fn progress_file() -> anyhow::Result<PathBuf> {
    let target = local_stack_directory();
    let folder = target.parent().context("the target folder")?.join("faults");
    fs::create_dir_all(&folder)?;
    Ok(folder.join("progress.json"))
}
