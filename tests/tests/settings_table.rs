//! The table of settings in the documents is what the programs read, and what `deploy/` sets is in it.
#![expect(clippy::expect_used, reason = "where a file cannot be read, the test has failed")]

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the repository").to_owned()
}

#[test]
fn the_table_is_current() {
    let kept = fs::read_to_string(root().join("proto-docs/SETTINGS.md")).unwrap();
    assert!(kept == waybill_tests::settings_table::render().unwrap(), "run `make settings`");
}

#[test]
fn deploy_names_no_variable_that_nobody_reads() {
    let table = fs::read_to_string(root().join("proto-docs/SETTINGS.md")).unwrap();
    let is_known = |variable: &str| {
        let plain = variable.strip_suffix("_FILE").unwrap_or(variable);
        variable == "WAYBILL_SETTINGS_FILE" || table.contains(&format!("| `{plain}` |"))
    };
    let (mut folders, mut seen) = (vec![root().join("deploy")], 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // The checks of deploy/ are tried with names that nobody reads.
                if !path.ends_with("deploy/tools") {
                    folders.push(path);
                }
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            for variable in variables(&text) {
                seen += 1;
                assert!(is_known(variable), "{} names {variable}", path.display());
            }
        }
    }
    assert!(seen > 5, "only {seen} found; is the search broken?");
}

/// What looks like one of our variables, with a section and a name.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let is_part =
        |character: char| character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_';
    let words = text.split(move |character| !is_part(character));
    words.filter(|word| word.starts_with("WAYBILL_") && word.contains("__") && !word.ends_with('_'))
}
