//! The files of a folder that a service serves. It finds them at start, so that no path of a request can escape the folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};

/// More files or bytes mean that a setting names a wrong folder.
#[derive(Clone, Copy, Debug)]
pub struct FolderLimits {
    /// What the folder contains, for errors.
    pub what: &'static str,
    pub files: usize,
    pub bytes: u64,
}

/// All files below the folder, by their path in it, such as `assets/app.js`. Ignores symbolic links and names that start with a
/// dot.
///
/// # Errors
/// When the folder cannot be read, or is too large.
pub fn files_below(folder: &Path, limits: FolderLimits) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let FolderLimits { what, files: files_max, bytes: bytes_max } = limits;
    let mut files = Vec::new();
    let (mut seen, mut total_bytes) = (0, 0);
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let entry = entry?;
            seen += 1;
            ensure!(seen <= files_max, "the folder of {what} contains more than {files_max} files");
            let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'));
            let Some(name) = name else { continue };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push((entry.path(), format!("{prefix}{name}/")));
            } else if kind.is_file() {
                total_bytes += entry.metadata()?.len();
                ensure!(
                    total_bytes <= bytes_max,
                    "the folder of {what} contains more than {bytes_max} bytes"
                );
                files.push((format!("{prefix}{name}"), entry.path()));
            }
        }
    }
    Ok(files)
}

/// The content of an `ETag`.
pub fn content_tag(content: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(content)[..16])
}

/// Covers the file types of a build. All others are served as bytes, which browsers do not execute.
pub fn content_type(name: &str) -> &'static str {
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
        "md" => "text/markdown; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
