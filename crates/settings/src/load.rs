//! Loads the layers and rejects invalid settings.

use std::collections::HashMap;

use config::Config;

use crate::describe::{Placeholder, Setting, Settings, describe};
use crate::errors::{SettingErrors, SettingsError};
use crate::file_contents::FILE_SUFFIX;
use crate::files::read_files;
use crate::layers::{Layers, read};
use crate::sections::Environment;
use crate::server_parts;
use crate::settings_file::SettingsFile;

/// Names a TOML file with settings.
const FILE_VARIABLE: &str = "WAYBILL_SETTINGS_FILE";

/// Reads the settings of this process.
///
/// # Errors
/// When a setting is missing, has the wrong type, or is invalid.
pub fn load<S: Settings>() -> Result<S, SettingsError> {
    load_from(std::env::vars().collect())
}

/// Loads settings from the given environment variables; [`load`] passes those of the process.
///
/// # Errors
/// As [`load`].
pub fn load_from<S: Settings>(variables: HashMap<String, String>) -> Result<S, SettingsError> {
    let known = describe::<S>()?;
    let mut errors = SettingErrors::default();
    let mut variables = read_files(without_empty(variables, &known), &known, &mut errors);
    let file = variables.remove(FILE_VARIABLE).map(|path| SettingsFile::read(&path)).transpose();
    let is_file_broken = file.is_err();
    let file = file.unwrap_or_else(|error| {
        errors.add(FILE_VARIABLE, error);
        None
    });
    let layers = Layers { file, variables: without_empty(variables, &known) };
    server_parts::check(&layers.given()?, &known, &mut errors);
    let mut invalid: Vec<&Setting> = layers.missing(&known)?;
    for setting in invalid.iter().filter(|_| !is_file_broken) {
        let example = setting.example.as_deref().unwrap_or_default();
        errors.add(&setting.variable, format!("is missing; set it, for example to {example}"));
    }
    // Each round finds one value of the wrong type and replaces it by a placeholder.
    for _ in 0..=known.len() {
        let given = layers.build(invalid.iter().map(|setting| Placeholder::example(setting)))?;
        match read::<S>(given.clone()) {
            Ok(settings) => {
                let mut found = validate(&settings, &known, &given)?;
                if is_file_broken {
                    // Values without a variable may be in the unreadable file.
                    found.retain(|variable| layers.variables.contains_key(variable));
                }
                errors.add_further(found);
                return if errors.is_empty() { Ok(settings) } else { Err(SettingsError::Invalid(errors)) };
            }
            Err(type_error) => match known.iter().find(|setting| setting.key() == type_error.key) {
                Some(setting) => {
                    errors
                        .add(&setting.variable, setting.allowed().unwrap_or_else(|| type_error.to_string()));
                    invalid.push(setting);
                }
                None => return Err(type_error.into_error()),
            },
        }
    }
    Err(SettingsError::Invalid(errors))
}

/// Treats empty variables as unset (Compose passes unset ones as empty).
fn without_empty(mut variables: HashMap<String, String>, known: &[Setting]) -> HashMap<String, String> {
    let counts =
        |name: &str| known.iter().any(|setting| setting.variable == name && setting.must_not_be_empty());
    variables.retain(|name, value| !value.is_empty() || counts(name));
    variables
}

/// As [`load`]; additionally, an unknown name within a section of `S` is an error. A start only warns about unknown
/// names: services share settings, and a rolled-back release does not know the newest.
///
/// # Errors
/// As [`load`].
pub fn check<S: Settings>() -> Result<(), SettingsError> {
    check_from::<S>(std::env::vars().collect())
}

pub(crate) fn check_from<S: Settings>(variables: HashMap<String, String>) -> Result<(), SettingsError> {
    let known = describe::<S>()?;
    let mut unknown = unknown_names(&known, &variables);
    unknown.retain(|name| is_of_a_section(name, &known));
    let mut errors = match load_from::<S>(variables) {
        Ok(_) => SettingErrors::default(),
        Err(SettingsError::Invalid(errors)) => errors,
        Err(error) => return Err(error),
    };
    for name in unknown {
        errors.add(&name, "is not a setting of this service; check the spelling");
    }
    if errors.is_empty() { Ok(()) } else { Err(SettingsError::Invalid(errors)) }
}

/// The names of Waybill settings, from variables or the file, that `S` does not have: misspelt, or meant for another
/// service.
///
/// # Errors
/// When the settings' types are invalid.
pub fn unknown_variables<S: Settings>() -> Result<Vec<String>, SettingsError> {
    Ok(unknown_names(&describe::<S>()?, &std::env::vars().collect()))
}

fn unknown_names(known: &[Setting], variables: &HashMap<String, String>) -> Vec<String> {
    let is_known = |name: &String| {
        name == FILE_VARIABLE
            || known.iter().any(|known| {
                *name == known.variable || name.strip_suffix(FILE_SUFFIX) == Some(known.variable.as_str())
            })
    };
    // An unreadable file is reported elsewhere.
    let file = variables.get(FILE_VARIABLE).and_then(|path| SettingsFile::read(path).ok());
    // A shared file may contain sections of other services.
    let by_file =
        file.into_iter().flat_map(|file| file.variables).filter(|name| is_of_a_section(name, known));
    let of_process = variables.keys().filter(|name| name.starts_with("WAYBILL_")).cloned();
    let mut unknown: Vec<String> = of_process.chain(by_file).filter(|name| !is_known(name)).collect();
    unknown.sort();
    unknown.dedup();
    unknown
}

fn is_of_a_section(name: &str, known: &[Setting]) -> bool {
    let section = |name: &str| name.split_once("__").map(|(section, _)| section.to_owned());
    section(name).is_some_and(|of| known.iter().any(|known| section(&known.variable).as_ref() == Some(&of)))
}

/// Validates the values, first by their schemas and then by the settings' own rules.
fn validate<S: Settings>(
    settings: &S,
    known: &[Setting],
    given: &Config,
) -> Result<SettingErrors, SettingsError> {
    let values = serde_json::to_value(settings)?;
    let production = serde_json::to_value(Environment::Production)?;
    let is_production = values.get("environment") == Some(&production);
    let mut found = SettingErrors::default();
    for setting in known {
        let text = given.get_string(&setting.key()).ok();
        if let Some(error) = setting.error(&values, text.as_deref(), is_production) {
            found.add(&setting.variable, error);
        }
    }
    settings.check(&mut found);
    Ok(found)
}

/// The search path (`PATH`), for tools that start programs with a separate environment.
pub fn search_path() -> std::ffi::OsString {
    std::env::var_os("PATH")
        .unwrap_or_else(|| "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into())
}
