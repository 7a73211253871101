//! Temporary directories of tests.

use std::path::Path;

use tempfile::TempDir;

/// Removed with its content at the end of the test.
///
/// New for each test: a service that outlives its test may write once more into a directory that was removed, so
/// that names by process id would hand its files to a later test.
pub struct Directory(TempDir);

impl Directory {
    pub fn new(name: &str) -> Self {
        let prefix = format!("waybill-{name}-");
        Self(TempDir::with_prefix(prefix).expect("a directory"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
