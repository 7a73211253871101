//! The built pages of the portal, loaded into memory at start. Requests look up the loaded files only, so that no path can
//! escape the folder.

use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// The pages are a few hundred KiB in a few dozen files. Much more means that the setting names a wrong folder.
const FILES_MAX: usize = 2_000;
const BYTES_MAX: u64 = 64 * 1024 * 1024;
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
                digest: digest(&plain),
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

/// All files below the folder. Ignores symbolic links and names that start with a dot.
fn read_all(folder: &Path) -> anyhow::Result<HashMap<String, Bytes>> {
    let mut contents = HashMap::new();
    let mut total_bytes = 0;
    let mut folders = vec![(folder.to_owned(), String::from("/"))];
    let mut seen = 0;
    while let Some((folder, prefix)) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            seen += 1;
            ensure!(seen <= FILES_MAX, "the folder of the pages contains more than {FILES_MAX} files");
            let Some(name) = plain_name(&entry) else { continue };
            let (path, kind): (PathBuf, _) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                folders.push((path, format!("{prefix}{name}/")));
            } else if kind.is_file() {
                total_bytes += entry.metadata()?.len();
                ensure!(
                    total_bytes <= BYTES_MAX,
                    "the folder of the pages contains more than {BYTES_MAX} bytes"
                );
                let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
                contents.insert(format!("{prefix}{name}"), Bytes::from(bytes));
            }
        }
    }
    Ok(contents)
}

fn plain_name(entry: &DirEntry) -> Option<String> {
    entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'))
}

fn is_compressed(name: &str) -> bool {
    name.ends_with(".br") || name.ends_with(".gz")
}

fn digest(content: &[u8]) -> String {
    Sha256::digest(content)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Covers the file types of a build. All others are served as bytes, which browsers do not execute.
fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
