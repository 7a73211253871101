//! The portal's built pages, read whole when the service starts. What is asked for is looked up among the files that
//! were read and nowhere else, so that no path, however it is spelled, leaves their folder.

use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// The pages are a few hundred KiB in a few dozen files; more means that the setting names another folder.
const FILES_MAX: usize = 2_000;
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The page that draws all others.
const INDEX: &str = "/index.html";
/// Files in there have a digest of their content in their name.
const HASHED: &str = "/assets/";
/// Paths of programs, which are never a page.
const NO_PAGES: [&str; 3] = ["/v1", "/health", "/metrics"];

/// The files by their path, `/` in front.
#[derive(Debug)]
pub(crate) struct Pages(HashMap<String, PageFile>);

#[derive(Debug)]
pub(crate) struct PageFile {
    pub(crate) content_type: &'static str,
    /// Whether another content would have another name.
    pub(crate) immutable: bool,
    pub(crate) plain: Bytes,
    /// Compressed when they were built, beside the file as `.br` and `.gz`.
    pub(crate) brotli: Option<Bytes>,
    pub(crate) gzip: Option<Bytes>,
    /// Of the plain content, without quotation marks.
    pub(crate) digest: String,
}

impl Pages {
    /// Reads the folder; `None` when no pages have been built there.
    ///
    /// # Errors
    /// When a file cannot be read, or there is too much.
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
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

    /// The file of a path. A path that names no file is one of the pages, which `index.html` draws.
    pub(crate) fn find(&self, path: &str) -> Option<&PageFile> {
        if NO_PAGES.iter().any(|prefix| path.starts_with(prefix)) {
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

/// Every file below the folder. Links are not followed, and what begins with a dot is left out.
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
            ensure!(seen <= FILES_MAX, "there are more than {FILES_MAX} files in the pages' folder");
            let Some(name) = plain_name(&entry) else { continue };
            let (path, kind): (PathBuf, _) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                folders.push((path, format!("{prefix}{name}/")));
            } else if kind.is_file() {
                total_bytes += entry.metadata()?.len();
                ensure!(total_bytes <= BYTES_MAX, "the pages' folder holds more than {BYTES_MAX} bytes");
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

/// Of the kinds of file that a build of pages makes; any other is told to be bytes, which no browser runs.
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
