//! The long form of the fault tests, `make test-faults`: goes on from the round at which it stopped, until so many processes
//! were killed. Where it stands is in `target/faults/progress.json`.
//!
//! `test-faults [--kills N] [--seed N]`; another seed begins anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use domain::Entropy;
use local_stack::{local_stack_directory, say};
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};
use waybill_tests::faults::{Campaign, Tally};

const KILLS: u64 = 1_000;

#[derive(Debug, Serialize, Deserialize)]
struct Progress {
    seed: u64,
    next_round: u64,
    tally: Tally,
    /// Rounds after which something did not agree.
    failed: Vec<u64>,
}

#[derive(Debug)]
struct Wanted {
    kills: u64,
    seed: Option<u64>,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let wanted = Wanted::parse(std::env::args().skip(1))?;
    let file = progress_file()?;
    let mut progress = Progress::load(&file, wanted.seed)?;
    say(&format!("Seed {}, from round {}: {}", progress.seed, progress.next_round, progress.tally));
    if progress.tally.kills >= wanted.kills {
        say("So many were killed already; --kills asks for more, --seed begins anew.");
        return Ok(ExitCode::SUCCESS);
    }
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let campaign = Campaign::start(progress.seed).await?;
    while progress.tally.kills < wanted.kills {
        let round = tokio::select! {
            round = campaign.round(progress.next_round) => round,
            _ = interrupt.recv() => return Ok(ExitCode::SUCCESS),
            _ = terminate.recv() => return Ok(ExitCode::SUCCESS),
        };
        let number = progress.next_round;
        progress.next_round += 1;
        match round {
            Ok(tally) => progress.tally.add(&tally),
            Err(error) => {
                progress.failed.push(number);
                progress.save(&file)?;
                return Err(error);
            }
        }
        progress.save(&file)?;
        say(&format!("Round {number}: {}", progress.tally));
    }
    campaign.end().await?;
    say(&format!("Steps met: {:?}; failed rounds: {:?}", progress.tally.steps, progress.failed));
    Ok(if progress.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Wanted {
    fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut wanted = Self { kills: KILLS, seed: None };
        while let Some(word) = words.next() {
            let mut number = || words.next().context("a number is missing")?.parse().context("no number");
            match word.as_str() {
                "--kills" => wanted.kills = number()?,
                "--seed" => wanted.seed = Some(number()?),
                other => bail!("{other}: usage: test-faults [--kills N] [--seed N]"),
            }
        }
        Ok(wanted)
    }
}

impl Progress {
    /// Where the last run stopped; a new campaign where there was none, or another seed is wanted.
    fn load(file: &Path, seed: Option<u64>) -> anyhow::Result<Self> {
        let kept = match fs::read(file) {
            Ok(bytes) => Some(serde_json::from_slice::<Self>(&bytes).context("the progress kept")?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if let Some(kept) = kept.filter(|kept| seed.is_none_or(|seed| seed == kept.seed)) {
            return Ok(kept);
        }
        let seed =
            seed.map_or_else(|| Entropy::from_system().map(|chance| u64::from(chance.below(u32::MAX))), Ok)?;
        Ok(Self { seed, next_round: 0, tally: Tally::default(), failed: Vec::new() })
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
