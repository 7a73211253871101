//! The table of all settings, `proto-docs/SETTINGS.md`, from what the programs say of themselves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context, ensure};
use local_stack::built_program;
use serde::Deserialize;

/// Those that have settings.
pub const PROGRAMS: [&str; 5] = ["order-api", "wallet", "key-management", "portal-api", "webhook-dispatcher"];

const HEAD: &str = "\
# Settings

What each program reads at its start, made from the code by `make settings`. `<program> settings` prints the same for one program, as
JSON.

- Values come from environment variables, or from the TOML file that `WAYBILL_SETTINGS_FILE` names (`[database] url = …`); variables win.
- With `_FILE` behind its name a variable names a file that holds the value, as platforms hand out secrets:
  `WAYBILL_DATABASE__URL_FILE=/run/secrets/database-url`. A line end after the value does not count.
- A variable or a file that is empty counts as not set, as Compose leaves them: the default holds. Only a secret that has a default for
  a local stack must not be set to nothing.
- A start with missing or bad settings ends at once and names every error; `<program> settings --check` does so without a start. A
  variable that a program does not know, or a name in a section of the file, is named in its log; `--check` refuses one of a section that
  the program has. `migrate` and `schema` read `WAYBILL_DATABASE__…` and
  `WAYBILL_TELEMETRY__…` alone.
- URLs of other services are http or https, with a host, and have neither a user, a query nor a fragment.
- **Secrets** are never logged or shown, and have 16 bytes or more unless said otherwise. The defaults shown here are for a local
  stack: with `WAYBILL_ENVIRONMENT=production` no program starts with one that begins with `local-`.
";

/// As the programs print them.
#[derive(Clone, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    pub variable: String,
    path: Vec<String>,
    /// What a value looks like.
    pub kind: String,
    pub default: Option<String>,
    pub example: Option<String>,
    pub required: bool,
    pub secret: bool,
    description: String,
}

/// # Errors
/// When a program is not built, or does not know its settings.
pub fn render() -> anyhow::Result<String> {
    let mut readers: BTreeMap<Setting, Vec<&str>> = BTreeMap::new();
    for program in PROGRAMS {
        for setting in settings_of(program)? {
            ensure!(!setting.description.is_empty(), "{} of {program} has no description", setting.variable);
            readers.entry(setting).or_default().push(program);
        }
    }
    let mut sections: BTreeMap<String, Vec<(Setting, Vec<&str>)>> = BTreeMap::new();
    for (setting, programs) in readers {
        let section = if setting.path.len() > 1 { setting.path[0].clone() } else { String::new() };
        sections.entry(section).or_default().push((setting, programs));
    }
    let mut text = HEAD.to_owned();
    for (section, settings) in sections {
        let title = if section.is_empty() { "everywhere" } else { &section };
        write!(text, "\n## {}\n\n", title.replace('_', " "))?;
        text.push_str("| variable | read by | value | default | |\n| --- | --- | --- | --- | --- |\n");
        for (setting, programs) in settings {
            text.push_str(&row(&setting, &programs)?);
        }
    }
    Ok(text)
}

/// # Errors
/// When it is not built, or does not know its settings.
pub fn settings_of(program: &str) -> anyhow::Result<Vec<Setting>> {
    let output = Command::new(built_program(program)?).arg("settings").env_clear().output()?;
    ensure!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).with_context(|| format!("what {program} prints"))
}

fn row(setting: &Setting, programs: &[&str]) -> anyhow::Result<String> {
    let read_by = if programs.len() == PROGRAMS.len() { "all".into() } else { programs.join(", ") };
    let value = if setting.secret { "secret" } else { &setting.kind };
    let default = match (&setting.default, &setting.example) {
        (Some(default), _) if !default.is_empty() => format!("`{default}`"),
        (_, Some(example)) if setting.required => format!("**required**, such as `{example}`"),
        _ => "none".into(),
    };
    let mut text = String::new();
    writeln!(text, "| `{}` | {read_by} | {value} | {default} | {} |", setting.variable, setting.description)?;
    Ok(text)
}
