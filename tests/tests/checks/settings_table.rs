//! Checks that the settings table matches the programs, and that it contains every setting in `deploy/`.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "an unreadable file or a failed start fails the test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use local_stack::built_program;
use waybill_tests::settings_table::{PROGRAMS, Setting, settings_of};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository").to_owned()
}

#[test]
fn the_table_is_current() {
    let kept = fs::read_to_string(root().join("proto-docs/SETTINGS.md")).unwrap();
    assert!(kept == waybill_tests::settings_table::render().unwrap(), "run `make settings`");
}

#[test]
fn deploy_names_only_variables_that_a_program_reads() {
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
                // The checks of deploy/ use unknown names on purpose.
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

fn run(program: &str, words: &[&str], variables: &[(&str, &str)]) -> Output {
    let program = built_program(program).unwrap();
    Command::new(program).args(words).env_clear().envs(variables.iter().copied()).output().unwrap()
}

/// The program's errors in production with these values, and otherwise minimal valid settings.
fn setting_errors<'a>(program: &str, known: &'a [Setting], values: &[(&'a str, &'a str)]) -> String {
    let examples = known.iter().filter(|setting| setting.required);
    let mut variables: Vec<(&str, &str)> = vec![("WAYBILL_ENVIRONMENT", "production")];
    variables
        .extend(examples.map(|setting| (setting.variable.as_str(), setting.example.as_deref().unwrap())));
    variables.extend(values);
    let output = run(program, &["settings", "--check"], &variables);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("the settings are invalid:"), "{program}: {said}");
    said
}

fn assert_named(program: &str, settings: &[&Setting], said: &str) {
    for setting in settings {
        let line = format!("\n  {}: ", setting.variable);
        assert_eq!(said.matches(&line).count(), 1, "{program}: {} in {said}", setting.variable);
    }
}

#[test]
fn no_secret_of_any_program_may_be_empty_weak_or_published() {
    let mut seen = 0;
    for program in PROGRAMS {
        let known = settings_of(program).unwrap();
        let secrets: Vec<&Setting> = known.iter().filter(|setting| setting.secret).collect();
        seen += secrets.len();
        let all = |value: &'static str| -> Vec<(&str, &str)> {
            secrets.iter().map(|setting| (setting.variable.as_str(), value)).collect()
        };
        for weak in ["x", "secret", "         x         "] {
            let said = setting_errors(program, &known, &all(weak));
            assert_named(program, &secrets, &said);
            assert!(!said.contains(&format!("\"{weak}\"")), "{said}");
        }
        let wanted = |setting: &&Setting| {
            setting.required || setting.default.as_deref().is_some_and(|default| !default.is_empty())
        };
        let wanted: Vec<&Setting> = secrets.iter().copied().filter(wanted).collect();
        assert_named(program, &wanted, &setting_errors(program, &known, &all("")));
        let published: Vec<&Setting> = wanted.iter().copied().filter(|setting| !setting.required).collect();
        assert_named(program, &published, &setting_errors(program, &known, &[]));
    }
    assert!(seen > 15, "only {seen} found; is the search broken?");
}

#[test]
fn every_url_and_every_number_of_any_program_is_validated_at_once() {
    for program in PROGRAMS {
        let known = settings_of(program).unwrap();
        let is_number =
            |kind: &str| kind.split_once(" to ").is_some_and(|(least, _)| least.parse::<f64>().is_ok());
        let judged: Vec<&Setting> = known
            .iter()
            .filter(|setting| {
                setting.kind == "URL" || is_number(&setting.kind) || setting.variable.ends_with("__FILTER")
            })
            .collect();
        for bad in ["ftp://w", "garbage=,", "nan", "postgres://u:TOLD@[bad/x"] {
            let values: Vec<_> = judged.iter().map(|setting| (setting.variable.as_str(), bad)).collect();
            let said = setting_errors(program, &known, &values);
            // Only one of these is an invalid filter: a target may have nearly any name.
            let is_bad =
                |setting: &&Setting| bad.starts_with("postgres") || !setting.variable.ends_with("__FILTER");
            let bad_ones: Vec<&Setting> = judged.iter().copied().filter(is_bad).collect();
            assert_named(program, &bad_ones, &said);
            let servers = ["  WAYBILL_DATABASE__URL: ", "  WAYBILL_BROKER__URL: "];
            let secrets = said.lines().filter(|line| servers.iter().any(|server| line.starts_with(server)));
            assert!(
                secrets.clone().count() == 2 && !secrets.into_iter().any(|line| line.contains("TOLD")),
                "{said}"
            );
        }
    }
}

#[test]
fn commands_require_only_the_settings_that_they_use() {
    for program in PROGRAMS {
        for words in [&["--help"][..], &["help"], &["migrate", "--help"], &["--version"]] {
            let output = run(program, words, &[]);
            let said = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success() && said.contains(program), "{words:?}: {said}");
        }
        let output = run(program, &["migrate"], &[]);
        let said = String::from_utf8(output.stdout).unwrap();
        // A line of the log.
        assert!(said.contains("\\n  WAYBILL_DATABASE__URL: is missing"), "{program}: {said}");
        assert_eq!(said.matches("  WAYBILL_").count(), 1, "{program}: {said}");
    }
}

/// Texts that look like one of our variables, with a section and a name.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let is_part =
        |character: char| character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_';
    let words = text.split(move |character| !is_part(character));
    words.filter(|word| word.starts_with("WAYBILL_") && word.contains("__") && !word.ends_with('_'))
}
