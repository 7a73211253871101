//! Failures during a rollout. There must be none.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::ensure;

/// Unanswered calls, 5xx responses, and failed clients.
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
