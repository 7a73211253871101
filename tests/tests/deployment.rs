//! What operators are given beside the programs: alerts and dashboards ask only for metrics that the code has, and every alert
//! says what to do.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "where a file cannot be read, the test has failed"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What Prometheus itself tells of a target.
const OF_PROMETHEUS: &[&str] = &["up"];
/// Words of its language that stand where a metric could.
const WORDS: &[&str] = &["and", "or", "unless", "by", "without", "on", "ignoring", "bool", "offset"];
/// What a histogram is exported as.
const PARTS: [&str; 3] = ["_bucket", "_sum", "_count"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the repository").to_owned()
}

/// The files of a folder of `deploy/`, by name.
fn files(folder: &str) -> BTreeMap<String, String> {
    let folder = root().join("deploy").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries.map(|entry| entry.unwrap());
    let found: BTreeMap<_, _> = files
        .map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            (name, fs::read_to_string(file.path()).unwrap())
        })
        // By which Kubernetes takes the others.
        .filter(|(name, _)| name != "kustomization.yaml")
        .collect();
    assert!(!found.is_empty(), "{} is empty", folder.display());
    found
}

/// Every metric that a macro of the `metrics` crate records, anywhere in crates and services.
fn recorded() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders = vec![root().join("crates"), root().join("services")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("node_modules") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                names.extend(recorded_in(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(names.len() > 20, "only {names:?} found; is the search broken?");
    names
}

fn recorded_in(source: &str) -> Vec<String> {
    let macros = ["counter!(", "gauge!(", "histogram!("];
    let calls = macros.iter().flat_map(|name| source.split(name).skip(1));
    let first = calls.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    first.map(str::to_owned).collect()
}

/// The metrics that an expression asks for.
fn asked(expression: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = without_labels(expression);
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        let word_on = &rest[start..];
        let end = word_on.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (word, after) = word_on.split_at(end.unwrap_or(word_on.len()));
        let before = rest[..start].chars().next_back();
        let is_function = after.trim_start().starts_with('(');
        // `5m` and `1e6` are numbers.
        let is_number = before.is_some_and(|letter| letter.is_ascii_digit() || letter == '$');
        if !is_function && !is_number && !WORDS.contains(&word) {
            names.insert(word.to_owned());
        }
        rest = after.to_owned();
    }
    names
}

/// Without what stands in braces, brackets and quotes, and without the labels that results are grouped by.
fn without_labels(expression: &str) -> String {
    let mut text = expression.to_owned();
    for (open, close) in [('"', '"'), ('{', '}'), ('[', ']')] {
        while let Some((before, rest)) = text.split_once(open) {
            let (_, after) =
                rest.split_once(close).unwrap_or_else(|| panic!("{open} is not closed: {expression}"));
            text = format!("{before} {after}");
        }
    }
    for word in ["by", "without", "on", "ignoring"] {
        while let Some((before, rest)) = text.split_once(&format!(" {word} (")) {
            let (_, after) = rest.split_once(')').unwrap_or_else(|| panic!("( is not closed: {expression}"));
            text = format!("{before} {after}");
        }
    }
    text
}

fn is_known(name: &str, recorded: &BTreeSet<String>) -> bool {
    let of_histogram = PARTS.iter().filter_map(|part| name.strip_suffix(part));
    OF_PROMETHEUS.contains(&name)
        || recorded.contains(name)
        || of_histogram.into_iter().any(|base| recorded.contains(base))
}

/// The values under a key in a YAML file of rules, on one line or folded over several.
fn values(yaml: &str, key: &str) -> Vec<String> {
    let lines: Vec<&str> = yaml.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start().trim_start_matches("- ");
        let Some(value) = trimmed.strip_prefix(key).and_then(|rest| rest.strip_prefix(':')) else { continue };
        let indent = line.len() - line.trim_start().len();
        let deeper = |line: &&&str| line.len() - line.trim_start().len() > indent;
        let folded = lines[index + 1..].iter().take_while(deeper).map(|line| line.trim());
        let value = value.trim();
        found.push(if value == ">-" { folded.collect::<Vec<_>>().join(" ") } else { value.to_owned() });
    }
    found
}

/// What the queries of a dashboard say.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| match value {
            Value::String(text) if name == "expr" => found.push(text.clone()),
            value => queries(value, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| queries(item, found)),
        _ => {}
    }
}

#[test]
fn alerts_and_dashboards_ask_for_metrics_that_exist() {
    let recorded = recorded();
    let mut expressions = Vec::new();
    for (name, text) in files("alerts") {
        let found = values(&text, "expr");
        assert_eq!(found.len(), values(&text, "alert").len(), "{name}: each alert has an expression");
        expressions.extend(found.into_iter().map(|expression| (format!("alerts/{name}"), expression)));
    }
    for (name, text) in files("dashboards") {
        let dashboard = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut found = Vec::new();
        queries(&dashboard, &mut found);
        assert!(!found.is_empty(), "{name} asks for nothing");
        expressions.extend(found.into_iter().map(|expression| (format!("dashboards/{name}"), expression)));
    }
    for (file, expression) in expressions {
        let asked = asked(&expression);
        assert!(!asked.is_empty(), "{file} asks for no metric: {expression}");
        for name in asked {
            assert!(is_known(&name, &recorded), "{file}: no code records {name}, as in {expression}");
        }
    }
}

#[test]
fn every_alert_says_what_to_do() {
    let readme = fs::read_to_string(root().join("deploy/README.md")).unwrap();
    let headings = readme.lines().filter(|line| line.starts_with('#'));
    let anchors: BTreeSet<String> = headings
        .map(|line| {
            line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-").replace([',', '.'], "")
        })
        .collect();
    for (file, text) in files("alerts") {
        let alerts = values(&text, "alert");
        for key in ["severity", "summary", "description", "runbook"] {
            assert_eq!(values(&text, key).len(), alerts.len(), "{file}: an alert without {key}");
        }
        for runbook in values(&text, "runbook") {
            let anchor = runbook.strip_prefix("deploy/README.md#").unwrap_or_default();
            assert!(anchors.contains(anchor), "{file}: {runbook} leads nowhere");
        }
    }
}

/// Each figure that an operator needs of webhooks has a panel.
#[test]
fn webhooks_are_on_a_panel_each() {
    let dashboard: Value = serde_json::from_str(&files("dashboards")["webhooks.json"]).unwrap();
    let mut found = Vec::new();
    queries(&dashboard, &mut found);
    let shown: BTreeSet<String> = found.iter().flat_map(|expression| asked(expression)).collect();
    for metric in [
        "webhook_oldest_due_seconds",
        "webhook_first_attempt_lag_seconds_bucket",
        "webhook_attempts_total",
        "webhook_breaker_endpoints",
        "webhook_in_flight",
    ] {
        assert!(shown.contains(metric), "no panel shows {metric}");
    }
}

#[test]
fn the_metrics_of_an_expression_are_found() {
    for (expression, metrics) in [
        ("max(a_total) > 0", vec!["a_total"]),
        ("max by (check) (findings{check=\"x{y\"}) > 5e3", vec!["findings"]),
        ("sum by (le) (rate(lag_seconds_bucket[5m])) / on (a, b) sum(up)", vec!["lag_seconds_bucket", "up"]),
        ("time() - max(a) > 14 * 86400 or absent(b) and c", vec!["a", "b", "c"]),
        ("rate(x[$__rate_interval])", vec!["x"]),
    ] {
        let found: Vec<_> = asked(expression).into_iter().collect();
        assert_eq!(found, metrics, "{expression}");
    }
    assert!(!is_known("nonsense_total", &recorded()));
    assert!(is_known("webhook_first_attempt_lag_seconds_bucket", &recorded()));
}
