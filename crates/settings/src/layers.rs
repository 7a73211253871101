//! Merges the settings file, the environment variables and stand-ins into one configuration.

use std::collections::HashMap;

use config::{Config, ConfigError};
use serde::de::DeserializeOwned;

use crate::describe::{Setting, StandIn};
use crate::errors::{SettingErrors, SettingsError};
use crate::settings_file::SettingsFile;

/// The sources of values; later ones override earlier ones.
#[derive(Default)]
pub(crate) struct Layers {
    pub(crate) file: Option<SettingsFile>,
    pub(crate) variables: HashMap<String, String>,
}

impl Layers {
    pub(crate) fn build(&self, stand_ins: impl Iterator<Item = StandIn>) -> Result<Config, ConfigError> {
        let mut layers = Config::builder();
        if let Some(file) = &self.file {
            layers = layers.add_source(config::File::from_str(&file.text, config::FileFormat::Toml));
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

    /// The required settings without a value.
    pub(crate) fn missing<'a>(&self, known: &'a [Setting]) -> Result<Vec<&'a Setting>, ConfigError> {
        let given = self.build(std::iter::empty())?;
        let is_missing =
            |setting: &&Setting| setting.required && given.get::<config::Value>(&setting.key()).is_err();
        Ok(known.iter().filter(is_missing).collect())
    }
}

/// A value of the wrong type.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(crate) struct Misfit {
    pub(crate) key: String,
    error: Box<ConfigError>,
}

impl From<Misfit> for SettingsError {
    fn from(misfit: Misfit) -> Self {
        (*misfit.error).into()
    }
}

impl Misfit {
    /// For a value in the place of a section. The error leaves the value out: it may be a secret.
    pub(crate) fn into_error(self) -> SettingsError {
        if !matches!(*self.error, ConfigError::Type { .. } | ConfigError::At { .. }) {
            return self.into();
        }
        let mut errors = SettingErrors::default();
        let variable = format!("WAYBILL_{}", self.key.replace('.', "__").to_uppercase());
        let error = format!("is no setting by itself; those of this section begin with {variable}__");
        errors.add(&variable, error);
        SettingsError::Faulty(errors)
    }
}

pub(crate) fn read<S: DeserializeOwned>(config: Config) -> Result<S, Misfit> {
    serde_path_to_error::deserialize(config)
        .map_err(|error| Misfit { key: error.path().to_string(), error: Box::new(error.into_inner()) })
}
