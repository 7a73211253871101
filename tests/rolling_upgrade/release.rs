//! The latest recorded release: its programs, and the migrations added after it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use local_stack::{Service, built_program};

pub(crate) struct Release {
    /// The directory of the programs that `tests/releases/build-former.sh` builds.
    programs: PathBuf,
    /// Its migrations, as paths in the repository.
    migrations: Vec<String>,
}

impl Release {
    pub(crate) fn latest() -> anyhow::Result<Self> {
        let releases = Path::new(env!("CARGO_MANIFEST_DIR")).join("releases");
        let latest = fs::read_dir(&releases)?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .max()
            .context("no release is recorded")?;
        let release = releases.join(latest.to_string());
        let commit = fs::read_to_string(release.join("commit"))?;
        let migrations = fs::read_to_string(release.join("migrations"))?;
        let built = built_program(Service::OrderApi.name())?;
        let target = built.ancestors().nth(2).context("programs are in a target folder")?;
        Ok(Self {
            programs: target.join("former").join(commit.trim()),
            migrations: migrations.lines().map(str::to_owned).collect(),
        })
    }

    pub(crate) fn program(&self, service: Service) -> anyhow::Result<PathBuf> {
        let program = self.programs.join(service.name());
        ensure!(program.is_file(), "{} is not built; run `make test-upgrade`", program.display());
        Ok(program)
    }

    /// Whether the service's new program has migrations that the release lacks.
    pub(crate) fn lacks_migrations_of(&self, service: Service) -> anyhow::Result<bool> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("tests/ is in the repository")?;
        let own = format!("services/{}/migrations", service.name());
        for folder in [own.as_str(), "crates/outbox/migrations"] {
            for migration in fs::read_dir(root.join(folder))? {
                let name = migration?.file_name();
                let path = format!("{folder}/{}", name.to_string_lossy());
                if !self.migrations.contains(&path) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
