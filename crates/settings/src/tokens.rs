//! Tokens of callers that are changed without a refused call.

use crate::{Secret, SettingErrors};

/// The token that callers have, and the previous one, which is accepted while they change to the new one.
#[derive(Clone, Debug)]
pub struct Tokens {
    pub current: Secret,
    previous: Option<Secret>,
}

impl Tokens {
    pub fn new(current: &Secret, previous: Option<&Secret>) -> Self {
        Self { current: current.clone(), previous: previous.cloned() }
    }

    /// All that are accepted.
    pub fn accepted(&self) -> impl Iterator<Item = &Secret> {
        [&self.current].into_iter().chain(&self.previous)
    }

    /// Refuses a previous token that is the current one: its holders would keep access after the change.
    pub fn check(&self, previous: &str, errors: &mut SettingErrors) {
        if self.previous.as_ref() == Some(&self.current) {
            errors.add(previous, "must differ from the token; remove it when no caller uses it");
        }
    }
}
