//! The built pages of the portal, loaded into memory at start. Requests look up the loaded files only, so that no path can
//! escape the folder.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use bytes::Bytes;
use web::{FolderLimits, content_tag, content_type, files_below};

/// The pages are a few hundred KiB in a few dozen files.
const LIMITS: FolderLimits = FolderLimits { what: "the pages", files: 2_000, bytes: 64 * 1024 * 1024 };
/// The single-page application: it renders all pages.
const INDEX: &str = "/index.html";
/// Names of files in this folder contain a digest of their content.
const HASHED: &str = "/assets/";
/// Paths of APIs, which are never pages.
const API_PREFIXES: [&str; 3] = ["/v1", "/health", "/metrics"];

/// The files by their path, which starts with `/`.
#[derive(Debug)]
pub(super) struct PageFiles(HashMap<String, PageFile>);

#[derive(Debug)]
pub(super) struct PageFile {
    pub(super) content_type: &'static str,
    /// Whether the content of this name never changes.
    pub(super) immutable: bool,
    pub(super) plain: Bytes,
    /// Compressed at build time to `.br` and `.gz` files.
    pub(super) brotli: Option<Bytes>,
    pub(super) gzip: Option<Bytes>,
    /// Of the plain content, for the ETag.
    pub(super) digest: String,
}

impl PageFiles {
    /// Loads the folder; `None` if it contains no built pages.
    ///
    /// # Errors
    /// When a file cannot be read, or the folder is too large.
    pub(super) fn load(folder: &Path) -> anyhow::Result<Option<Self>> {
        if !folder.join("index.html").is_file() {
            return Ok(None);
        }
        let mut contents = read_all(folder)?;
        let names: Vec<String> = contents.keys().filter(|name| !is_compressed(name)).cloned().collect();
        let mut files = HashMap::with_capacity(names.len());
        for name in names {
            let Some(plain) = contents.remove(&name) else { continue };
            let file = PageFile {
                content_type: content_type(&name),
                immutable: name.starts_with(HASHED),
                brotli: contents.remove(&format!("{name}.br")),
                gzip: contents.remove(&format!("{name}.gz")),
                digest: content_tag(&plain),
                plain,
            };
            files.insert(name, file);
        }
        Ok(Some(Self(files)))
    }

    /// Whether a file has this path, so that it is not a page of the application.
    pub(super) fn is_file(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// The file of a path. Paths without a file extension are pages, which `index.html` renders.
    pub(super) fn find(&self, path: &str) -> Option<&PageFile> {
        if API_PREFIXES.iter().any(|prefix| path.starts_with(prefix)) {
            return None;
        }
        let names_a_file = path.rsplit('/').next().is_some_and(|last| last.contains('.'));
        match self.0.get(path) {
            Some(file) => Some(file),
            None if names_a_file => None,
            None => self.0.get(INDEX),
        }
    }
}

fn read_all(folder: &Path) -> anyhow::Result<HashMap<String, Bytes>> {
    let read = |(name, path): (String, PathBuf)| {
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        Ok((format!("/{name}"), Bytes::from(bytes)))
    };
    files_below(folder, LIMITS)?.into_iter().map(read).collect()
}

fn is_compressed(name: &str) -> bool {
    name.ends_with(".br") || name.ends_with(".gz")
}
