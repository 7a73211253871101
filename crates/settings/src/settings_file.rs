//! The TOML file with settings. Its errors do not show its text, which may contain secrets.

use std::path::Path;

use toml::de::DeTable;

use crate::file_contents::contents;

/// The size limit of the file.
const MAX_BYTES: u64 = 1024 * 1024;

/// A parsed TOML file.
pub(crate) struct SettingsFile {
    pub(crate) text: String,
    /// The variables that correspond to its names.
    pub(crate) variables: Vec<String>,
}

impl SettingsFile {
    /// # Errors
    /// Names the file that cannot be read, or the position where it is not TOML.
    pub(crate) fn read(path: &str) -> Result<Self, String> {
        let text = contents(Path::new(path), MAX_BYTES)
            .map_err(|error| format!("names {path}, which cannot be read: {error}"))?;
        let mut variables = Vec::new();
        match DeTable::parse(&text).map(|table| name_values(table.get_ref(), "WAYBILL_", &mut variables)) {
            Ok(()) => Ok(Self { text, variables }),
            Err(error) => {
                let (line, column) = place(&text, error.span().map_or(0, |span| span.start));
                Err(format!(
                    "names {path}, which is not TOML at line {line}, column {column}: {}",
                    error.message().replace('\n', "; ")
                ))
            }
        }
    }
}

fn name_values(table: &DeTable<'_>, prefix: &str, names: &mut Vec<String>) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref().to_uppercase());
        match value.get_ref().as_table() {
            Some(section) => name_values(section, &format!("{name}__"), names),
            None => names.push(name),
        }
    }
}

/// Line and column, counted from 1.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
