//! A lock that allows one stack per directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, bail};

/// Held while a stack uses its directory. The system releases it when the process ends.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock.
    ///
    /// # Errors
    /// When another process holds it; the error names the process.
    pub(crate) fn take(directory: &Path) -> anyhow::Result<Self> {
        let path = directory.join("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).with_context(|| format!("opening {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder)?;
                bail!(
                    "a stack is already running in {} (process {}); stop it first with Ctrl-C in its terminal",
                    directory.display(),
                    holder.trim()
                );
            }
            Err(TryLockError::Error(error)) => return Err(error).context("locking"),
        }
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())?;
        Ok(Self { _file: file })
    }
}
