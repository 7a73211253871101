//! Values in files: `WAYBILL_DATABASE__URL_FILE` names a file that holds the value of `WAYBILL_DATABASE__URL`, because
//! platforms mount secrets as files.

use std::collections::HashMap;
use std::path::Path;

use crate::file_contents::{FILE_SUFFIX, contents};
use crate::{Setting, SettingErrors};

/// Longer than any setting.
const VALUE_MAX_BYTES: u64 = 64 * 1024;

/// Replaces each variable that names a file by the variable with the file's contents.
pub(crate) fn read_files(
    variables: HashMap<String, String>,
    known: &[Setting],
    errors: &mut SettingErrors,
) -> HashMap<String, String> {
    let (mut named, mut read) = (variables, HashMap::new());
    for setting in known {
        let variable = setting.variable.clone();
        let by_file = format!("{variable}{FILE_SUFFIX}");
        let Some(path) = named.remove(&by_file) else { continue };
        if named.contains_key(&variable) {
            errors.add(&by_file, format!("is set together with {variable}; set only one of them"));
            continue;
        }
        match contents(Path::new(&path), VALUE_MAX_BYTES) {
            Ok(value) => drop(read.insert(variable, value)),
            Err(error) => {
                errors.add(&by_file, format!("names {path}, which cannot be read: {error}"));
                // Prevents a second error that calls the value missing.
                read.insert(
                    variable,
                    setting.example.clone().or(setting.default.clone()).unwrap_or_default(),
                );
            }
        }
    }
    named.extend(read);
    named
}
