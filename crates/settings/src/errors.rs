//! Collects all errors of the settings.

use std::fmt;

use config::ConfigError;

use crate::file_contents::FILE_SUFFIX;

/// The errors of the settings, by variable.
#[derive(Debug, Default)]
pub struct SettingErrors(Vec<(String, String)>);

impl SettingErrors {
    pub fn add(&mut self, variable: &str, error: impl Into<String>) {
        self.0.push((variable.to_owned(), error.into()));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn names(&self, variable: &str) -> bool {
        self.0.iter().any(|(named, _)| named.strip_suffix(FILE_SUFFIX).unwrap_or(named) == variable)
    }

    /// Removes the errors of other variables.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.0.retain(|(variable, _)| is_kept(variable));
    }

    /// Adds the first error of each variable that has no error yet, because the placeholder of an invalid value must
    /// not be validated.
    pub(crate) fn add_further(&mut self, further: Self) {
        for (variable, error) in further.0 {
            if !self.names(&variable) {
                self.0.push((variable, error));
            }
        }
    }
}

impl fmt::Display for SettingErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (variable, error) in &self.0 {
            writeln!(f, "  {variable}: {error}")?;
        }
        Ok(())
    }
}

/// Why a service cannot start with these settings. Names every error.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings cannot be read: {0}")]
    Unreadable(#[from] ConfigError),
    #[error("the settings are invalid:\n{0}")]
    Invalid(SettingErrors),
    #[error("the settings cannot be shown: {0}")]
    Unprintable(#[from] serde_json::Error),
}
