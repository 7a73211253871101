//! Reading the layers, and refusing what a service must not start with.

use std::collections::HashMap;

use config::{Config, ConfigError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Faults;
use crate::describe::{Setting, StandIn, describe};
use crate::files::{FILE_SUFFIX, read_files};

/// Names a TOML file with settings.
const FILE_VARIABLE: &str = "WAYBILL_SETTINGS_FILE";

/// What a service's settings can say about themselves once they are read. Their types say the rest: which there are, what
/// they are for (the fields' comments), the bounds of numbers (`schemars(range(…))`), and an example of each that has no
/// default.
pub trait Settings: DeserializeOwned + Serialize + JsonSchema {
    /// Names every fault that the types alone cannot see; in production also every default secret still in place.
    fn check(&self, faults: &mut Faults);
}

/// Why a service cannot start with these settings. Names every fault at once.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings cannot be read: {0}")]
    Unreadable(#[from] ConfigError),
    #[error("the settings are not usable:\n{0}")]
    Faulty(Faults),
    #[error("the settings cannot be shown: {0}")]
    Unprintable(#[from] serde_json::Error),
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
    let known = describe::<S>()?;
    let mut faults = Faults::default();
    let layers = Layers {
        file: variables.get(FILE_VARIABLE).cloned(),
        variables: read_files(variables, &known, &mut faults),
    };
    let mut faulty: Vec<&Setting> = layers.missing(&known)?;
    for setting in &faulty {
        let example = setting.example.as_deref().unwrap_or_default();
        faults.add(&setting.variable, format!("is missing; it looks like {example}"));
    }
    // Each round finds one value of the wrong type; then something else stands in its place.
    for _ in 0..=known.len() {
        match read::<S>(layers.build(faulty.iter().map(|setting| StandIn::example(setting)))?) {
            Ok(settings) => return judge(settings, &known, faults),
            Err(misfit) => match known.iter().find(|setting| setting.key() == misfit.key) {
                Some(setting) => {
                    faults.add(&setting.variable, misfit.to_string());
                    faulty.push(setting);
                }
                None => return Err(misfit.into()),
            },
        }
    }
    Err(SettingsError::Faulty(faults))
}

/// The variables of this process that are meant for Waybill and set nothing that `S` has: misspelt perhaps, or meant for
/// another service.
///
/// # Errors
/// When the settings' types are at fault.
pub fn unknown_variables<S: Settings>() -> Result<Vec<String>, SettingsError> {
    let known: Vec<String> = describe::<S>()?.into_iter().map(|setting| setting.variable).collect();
    let is_known = |name: &String| {
        name == FILE_VARIABLE
            || known
                .iter()
                .any(|known| name == known || name.strip_suffix(FILE_SUFFIX) == Some(known.as_str()))
    };
    let mut unknown: Vec<String> = std::env::vars()
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("WAYBILL_") && !is_known(name))
        .collect();
    unknown.sort();
    Ok(unknown)
}

/// Ranges, and what the settings say of themselves.
fn judge<S: Settings>(settings: S, known: &[Setting], mut faults: Faults) -> Result<S, SettingsError> {
    let values = serde_json::to_value(&settings)?;
    let mut found = Faults::default();
    for setting in known {
        if let Some(fault) = setting.out_of_range(&values) {
            found.add(&setting.variable, fault);
        }
    }
    settings.check(&mut found);
    faults.add_further(found);
    if faults.is_empty() { Ok(settings) } else { Err(SettingsError::Faulty(faults)) }
}

/// Where values come from; the later win.
#[derive(Default)]
pub(crate) struct Layers {
    file: Option<String>,
    variables: HashMap<String, String>,
}

impl Layers {
    pub(crate) fn build(&self, stand_ins: impl Iterator<Item = StandIn>) -> Result<Config, ConfigError> {
        let mut layers = Config::builder();
        if let Some(path) = &self.file {
            layers = layers.add_source(config::File::new(path, config::FileFormat::Toml));
        }
        let environment = config::Environment::with_prefix("WAYBILL")
            .prefix_separator("_")
            .separator("__")
            .source(Some(self.variables.clone()));
        layers = layers.add_source(environment);
        for StandIn { key, value } in stand_ins {
            layers = layers.set_override(key, value)?;
        }
        layers.build()
    }

    /// The settings that must be given and are not.
    fn missing<'a>(&self, known: &'a [Setting]) -> Result<Vec<&'a Setting>, ConfigError> {
        let given = self.build(std::iter::empty())?;
        let is_missing =
            |setting: &&Setting| setting.required && given.get::<config::Value>(&setting.key()).is_err();
        Ok(known.iter().filter(is_missing).collect())
    }
}

/// A value that is not of its setting's type.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(crate) struct Misfit {
    key: String,
    error: Box<ConfigError>,
}

impl From<Misfit> for SettingsError {
    fn from(misfit: Misfit) -> Self {
        (*misfit.error).into()
    }
}

pub(crate) fn read<S: DeserializeOwned>(config: Config) -> Result<S, Misfit> {
    serde_path_to_error::deserialize(config)
        .map_err(|error| Misfit { key: error.path().to_string(), error: Box::new(error.into_inner()) })
}

/// Where programs are looked for (`PATH`), for tools that start others in an environment of their own.
pub fn search_path() -> std::ffi::OsString {
    std::env::var_os("PATH")
        .unwrap_or_else(|| "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into())
}
