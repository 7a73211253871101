//! Finds the PostgreSQL programs of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

const OLDEST_VERSION: u32 = 15;

/// The directory of PostgreSQL's programs: of the version that created the data, or else of the newest version.
pub(super) fn for_data(data: &Path) -> anyhow::Result<PathBuf> {
    let installed = installed();
    if let Ok(version) = fs::read_to_string(data.join("PG_VERSION")) {
        let version: u32 = version.trim().parse().context("reading PG_VERSION")?;
        if let Some((_, programs)) = installed.iter().find(|(installed, _)| *installed == version) {
            return Ok(programs.clone());
        }
        bail!(
            "the data in {} needs PostgreSQL {version}, which is not installed; install it, or delete the data with `make reset`",
            data.display()
        );
    }
    newest(installed)
}

/// A program of the newest PostgreSQL, such as `pgbench`.
///
/// # Errors
/// When no PostgreSQL that is new enough is installed.
pub fn postgres_program(name: &str) -> anyhow::Result<PathBuf> {
    Ok(newest(installed())?.join(name))
}

fn newest(installed: Vec<(u32, PathBuf)>) -> anyhow::Result<PathBuf> {
    match installed.into_iter().max() {
        Some((version, programs)) if version >= OLDEST_VERSION => Ok(programs),
        Some((version, _)) => bail!("PostgreSQL {version} is too old; install {OLDEST_VERSION} or newer"),
        None => bail!(
            "PostgreSQL is not installed; install {OLDEST_VERSION} or newer, with the server and its tools"
        ),
    }
}

/// The installed versions with their directories: Debian's, the packagers' own, and the search path.
fn installed() -> Vec<(u32, PathBuf)> {
    let mut found = Vec::new();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    for directory in versions.map(|entry| entry.path()) {
        let version = directory.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let Some(version) = version {
            found.push((version, directory.join("bin")));
        }
    }
    found.retain(|(_, programs)| programs.join("postgres").is_file() && programs.join("initdb").is_file());
    if found.is_empty() {
        let search_path = settings::search_path();
        found.extend(std::env::split_paths(&search_path).find_map(|programs| {
            let is_server = programs.join("postgres").is_file() && programs.join("initdb").is_file();
            if is_server { Some((version_of(&programs.join("postgres"))?, programs)) } else { None }
        }));
    }
    found
}

/// From `postgres (PostgreSQL) 16.4`.
fn version_of(program: &Path) -> Option<u32> {
    let output = std::process::Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split_whitespace().find_map(|word| word.split('.').next()?.parse().ok())
}
