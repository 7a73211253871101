//! Reading the layers, and refusing what a service must not start with.

use std::collections::HashMap;

use serde::de::DeserializeOwned;

use crate::Faults;

/// What a service's settings can say about themselves once they are read.
pub trait Settings: DeserializeOwned {
    /// Names every fault that the types alone cannot see; in production also every default secret still in place.
    fn check(&self, faults: &mut Faults);
}

/// Why a service cannot start with these settings. Names every fault at once.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings cannot be read: {0}")]
    Unreadable(#[from] config::ConfigError),
    #[error("the settings are not usable:\n{0}")]
    Faulty(Faults),
}

/// Reads the settings of this process.
///
/// # Errors
/// When a setting is missing, is of another type, or fails its check.
pub fn load<S: Settings>() -> Result<S, SettingsError> {
    load_from(std::env::vars().collect())
}

/// Reads settings from the given environment variables; [`load`] hands in those of the process.
///
/// # Errors
/// As [`load`].
pub fn load_from<S: Settings>(variables: HashMap<String, String>) -> Result<S, SettingsError> {
    let file = variables.get("WAYBILL_SETTINGS_FILE").cloned();
    let environment = config::Environment::with_prefix("WAYBILL")
        .prefix_separator("_")
        .separator("__")
        .source(Some(variables));
    let mut layers = config::Config::builder();
    if let Some(path) = file {
        layers = layers.add_source(config::File::new(&path, config::FileFormat::Toml));
    }
    let settings: S = layers.add_source(environment).build()?.try_deserialize()?;
    let mut faults = Faults::default();
    settings.check(&mut faults);
    if faults.is_empty() { Ok(settings) } else { Err(SettingsError::Faulty(faults)) }
}

/// Where programs are looked for (`PATH`), for tools that start others in an environment of their own.
pub fn search_path() -> std::ffi::OsString {
    std::env::var_os("PATH")
        .unwrap_or_else(|| "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into())
}
