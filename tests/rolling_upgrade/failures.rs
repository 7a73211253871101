//! What went wrong under way. Nothing may.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::ensure;

/// Calls that no instance answered or that were answered by a 5xx, and clients that gave up.
#[derive(Clone, Default)]
pub(crate) struct Failures(Arc<Mutex<Vec<String>>>);

impl Failures {
    pub(crate) fn note(&self, what: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// # Errors
    /// When there is one.
    pub(crate) fn are_none(&self) -> anyhow::Result<()> {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ensure!(failures.is_empty(), "{failures:#?}");
        Ok(())
    }
}
