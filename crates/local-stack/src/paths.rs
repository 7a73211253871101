//! Paths: the checkout, its built programs, and private directories.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use crate::account::Account;

/// The directory of the local stack that `make run` starts.
pub fn local_stack_directory() -> PathBuf {
    target().join("local-stack")
}

/// The directory for the servers of a test process.
pub(crate) fn test_directory() -> PathBuf {
    target().join("test-stacks")
}

/// The directory of the portal's pages, if they are built.
pub(crate) fn built_pages() -> Option<PathBuf> {
    let pages = checkout().join("services/portal-web/dist");
    pages.join("index.html").is_file().then_some(pages)
}

/// The directory of the documentation, if it is built.
pub(crate) fn built_docs() -> Option<PathBuf> {
    let site = checkout().join("proto-docs/site/dist");
    site.join("index.html").is_file().then_some(site)
}

/// The directory of the packages for integrators, if they are packed.
pub(crate) fn packed_clients() -> Option<PathBuf> {
    let packed = target().join("sdk");
    packed.is_dir().then_some(packed)
}

fn target() -> PathBuf {
    checkout().join("target")
}

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."))
}

/// A program of this workspace, built with the same profile as the running one.
///
/// # Errors
/// When the program is not built.
pub fn built_program(name: &str) -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe().context("finding this program's own path")?;
    let mut directory = this.parent().context("this program has no directory")?;
    if directory.ends_with("deps") {
        // Cargo puts test programs one level below the others.
        directory = directory.parent().context("deps has no parent")?;
    }
    let program = directory.join(name);
    ensure!(program.is_file(), "{} is not built; run `cargo build -p {name}`", program.display());
    Ok(program)
}

/// Creates the directory of a pair of servers. Other accounts may traverse it, as PostgreSQL's account must, but not
/// list it.
pub(crate) fn stack_directory(path: &Path) -> anyhow::Result<()> {
    directory_with_mode(path, 0o711)?;
    fs::create_dir_all(path.join("logs"))?;
    fs::set_permissions(path.join("logs"), fs::Permissions::from_mode(0o700))?;
    Ok(())
}

/// Creates a directory that only we can read, or accepts an existing one if we own it.
pub(crate) fn private_directory(path: &Path) -> anyhow::Result<()> {
    directory_with_mode(path, 0o700)
}

/// A directory for the data of a server that runs as `account`: inside `directory` if the account can reach it, or else
/// among the machine's variable data, as when the checkout is in a closed home directory.
pub(crate) fn directory_for(account: Option<Account>, directory: &Path) -> anyhow::Result<PathBuf> {
    let Some(account) = account else {
        return Ok(directory.to_owned());
    };
    if account.can_reach(directory)? {
        return Ok(directory.to_owned());
    }
    let elsewhere = outside(directory)?;
    directory_with_mode(&elsewhere, 0o711)?;
    Ok(elsewhere)
}

/// The directory that [`directory_for`] uses when `directory` is out of reach.
pub(crate) fn outside(directory: &Path) -> anyhow::Result<PathBuf> {
    let mut hash = DefaultHasher::new();
    fs::canonicalize(directory)?.hash(&mut hash);
    let uid = rustix::process::geteuid().as_raw();
    Ok(PathBuf::from(format!("/var/tmp/waybill-{uid}-{:016x}", hash.finish())))
}

/// Deletes a stack's data, wherever it is. Keeps the lock, because the caller holds it.
pub(crate) fn remove_stack_data(directory: &Path) -> anyhow::Result<()> {
    if let Ok(elsewhere) = fs::read_link(directory.join("postgres"))
        && elsewhere.parent().is_some_and(is_outside)
    {
        let elsewhere = elsewhere.parent().unwrap_or(&elsewhere);
        remove_all(elsewhere)?;
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_all(&path)?;
        } else if entry.file_name() != "lock" {
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    Ok(())
}

/// Deletes a stack's data and its directory.
pub(crate) fn remove_stack_directory(directory: &Path) -> anyhow::Result<()> {
    remove_stack_data(directory)?;
    remove_all(directory)
}

fn remove_all(directory: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", directory.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether the directory can be one of [`outside`]: nothing else outside the checkout is ever deleted.
fn is_outside(directory: &Path) -> bool {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let ours = fs::symlink_metadata(directory)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw());
    directory.parent() == Some(Path::new("/var/tmp")) && name.starts_with("waybill-") && ours
}

/// Writes a private file atomically.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let unfinished = path.with_extension("unfinished");
    let mut file =
        fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&unfinished)?;
    file.write_all(bytes).with_context(|| format!("writing {}", path.display()))?;
    fs::rename(&unfinished, path).with_context(|| format!("writing {}", path.display()))
}

fn directory_with_mode(path: &Path, mode: u32) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
    }
    match fs::DirBuilder::new().mode(mode).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // In a directory that others can write to, another account may own the name.
            let metadata = fs::symlink_metadata(path)?;
            let ours = metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw();
            if !ours {
                bail!("{} exists, but it is not a directory that we own", path.display());
            }
        }
        Err(error) => return Err(error).with_context(|| format!("creating {}", path.display())),
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    Ok(())
}
