//! Temporary directories of tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Removed with its content at the end of the test.
pub struct Directory(PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("waybill-{name}-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // The test may have removed it.
        let _gone = fs::remove_dir_all(&self.0);
    }
}
