//! The packages for integrators, loaded into memory at start.

use std::fs;
use std::path::Path as Folder;

use actix_web::web::Bytes;
use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};

/// A few packages of some dozen KiB. Much more means that the setting names a wrong folder.
const FILES_MAX: usize = 100;
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The packages by name.
#[derive(Default)]
pub struct Packages(pub(super) Vec<Package>);

pub(super) struct Package {
    pub(super) name: String,
    pub(super) kind: &'static Kind,
    pub(super) bytes: Bytes,
    pub(super) sha256: String,
}

/// A kind of package, by the end of its file's name.
pub(super) struct Kind {
    suffix: &'static str,
    pub(super) content_type: &'static str,
    /// The command that installs it from its URL, if its package manager can.
    pub(super) install: Option<&'static str>,
}

const KINDS: [Kind; 3] = [
    Kind { suffix: ".tgz", content_type: "application/gzip", install: Some("npm install") },
    Kind { suffix: ".whl", content_type: "application/zip", install: Some("pip install") },
    Kind { suffix: ".crate", content_type: "application/gzip", install: None },
];

impl Packages {
    /// Loads the folder. If that fails, there are no packages, because orders matter more.
    pub fn load(folder: &Folder) -> Self {
        Self::read(folder).unwrap_or_else(|error| {
            let error = format!("{error:#}");
            tracing::error!(%error, "loading the packages failed, none are served; check WAYBILL_DOCS__DOWNLOADS");
            Self::default()
        })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|package| package.name.as_str())
    }

    /// Ignores symbolic links, folders, and files of other kinds.
    fn read(folder: &Folder) -> anyhow::Result<Self> {
        let mut packages = Vec::new();
        let mut total_bytes = 0;
        for (seen, entry) in
            fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?.enumerate()
        {
            ensure!(seen < FILES_MAX, "the folder of the packages contains more than {FILES_MAX} files");
            let entry = entry?;
            let name = entry.file_name().into_string().unwrap_or_default();
            let Some(kind) = kind(&name).filter(|_| entry.file_type().is_ok_and(|file| file.is_file()))
            else {
                continue;
            };
            total_bytes += entry.metadata()?.len();
            ensure!(
                total_bytes <= BYTES_MAX,
                "the folder of the packages contains more than {BYTES_MAX} bytes"
            );
            let bytes =
                fs::read(entry.path()).with_context(|| format!("reading {}", entry.path().display()))?;
            let sha256 = base16ct::lower::encode_string(&Sha256::digest(&bytes));
            packages.push(Package { name, kind, bytes: Bytes::from(bytes), sha256 });
        }
        packages.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self(packages))
    }

    /// In the format of `sha256sum --check`.
    pub(super) fn checksums(&self) -> String {
        self.0.iter().map(|package| format!("{}  {}\n", package.sha256, package.name)).collect()
    }
}

/// Of a name that needs no escaping in a URL, a header or a shell.
fn kind(name: &str) -> Option<&'static Kind> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    if name.starts_with(['.', '-']) || !name.chars().all(is_plain) {
        return None;
    }
    KINDS.iter().find(|kind| name.ends_with(kind.suffix))
}
