//! Values that stand in files: `WAYBILL_DATABASE__URL_FILE` names a file that holds the value of `WAYBILL_DATABASE__URL`,
//! as platforms hand out secrets.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::{Setting, SettingErrors};

/// No setting is longer.
const VALUE_MAX_BYTES: u64 = 64 * 1024;
pub(crate) const FILE_SUFFIX: &str = "_FILE";

/// Puts the files' contents in the places of the variables that name them.
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
            errors.add(&by_file, format!("is given together with {variable}; give one of them"));
            continue;
        }
        match contents(Path::new(&path), VALUE_MAX_BYTES) {
            Ok(value) => drop(read.insert(variable, value)),
            Err(error) => {
                errors.add(&by_file, format!("names {path}, which cannot be read: {error}"));
                // So that its value is not called missing as well.
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

/// Without the line end that editors leave.
pub(crate) fn contents(path: &Path, max_bytes: u64) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(max_bytes + 1).read_to_string(&mut text)?;
    if text.len() as u64 > max_bytes {
        return Err(std::io::Error::other(format!("it is longer than {max_bytes} bytes")));
    }
    let end =
        text.strip_suffix('\n').map_or(text.len(), |line| line.strip_suffix('\r').unwrap_or(line).len());
    text.truncate(end);
    Ok(text)
}
