//! Merges the settings file, the environment variables and placeholders into one configuration.

use std::collections::HashMap;

use config::builder::DefaultState;
use config::{Config, ConfigBuilder, ConfigError};
use serde::de::DeserializeOwned;

use crate::describe::{Placeholder, Setting};
use crate::errors::{SettingErrors, SettingsError};
use crate::server_parts;
use crate::settings_file::SettingsFile;

/// The sources of values; later ones override earlier ones.
#[derive(Default)]
pub(crate) struct Layers {
    pub(crate) file: Option<SettingsFile>,
    pub(crate) variables: HashMap<String, String>,
}

impl Layers {
    /// What the file and the variables contain.
    pub(crate) fn given(&self) -> Result<Config, ConfigError> {
        self.sources().build()
    }

    fn sources(&self) -> ConfigBuilder<DefaultState> {
        let mut layers = Config::builder();
        if let Some(file) = &self.file {
            layers = layers.add_source(config::File::from_str(&file.text, config::FileFormat::Toml));
        }
        let environment = config::Environment::with_prefix("WAYBILL")
            .prefix_separator("_")
            .separator("__")
            .source(Some(self.variables.clone()));
        layers.add_source(environment)
    }

    pub(crate) fn build(
        &self,
        placeholders: impl Iterator<Item = Placeholder>,
    ) -> Result<Config, ConfigError> {
        let mut layers = self.sources();
        for (key, url) in server_parts::urls(&self.given()?) {
            layers = layers.set_override(key, url)?;
        }
        for Placeholder { key, value } in placeholders {
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
pub(crate) struct TypeError {
    pub(crate) key: String,
    error: Box<ConfigError>,
}

impl From<TypeError> for SettingsError {
    fn from(type_error: TypeError) -> Self {
        (*type_error.error).into()
    }
}

impl TypeError {
    /// The error of a value at the position of a section. It omits the value, because it may be a secret.
    pub(crate) fn into_error(self) -> SettingsError {
        if !matches!(*self.error, ConfigError::Type { .. } | ConfigError::At { .. }) {
            return self.into();
        }
        let mut errors = SettingErrors::default();
        let variable = format!("WAYBILL_{}", self.key.replace('.', "__").to_uppercase());
        let error = format!("is a section, not a setting; its settings start with {variable}__");
        errors.add(&variable, error);
        SettingsError::Invalid(errors)
    }
}

pub(crate) fn read<S: DeserializeOwned>(config: Config) -> Result<S, TypeError> {
    serde_path_to_error::deserialize(config)
        .map_err(|error| TypeError { key: error.path().to_string(), error: Box::new(error.into_inner()) })
}
