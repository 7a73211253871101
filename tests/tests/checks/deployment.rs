//! Checks the operators' files: `proto-docs/METRICS.md` lists the metrics of the code, alerts and dashboards query only
//! listed metrics, every alert has a test, and every alert has a runbook.
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "an unreadable file fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Metrics that no macro records by name: those of the kernel, and those with names from other systems.
const NOT_BY_NAME: &[&str] = &["process_", "portal_order_streams", "portal_status_streams"];
/// The sections of every runbook.
const SECTIONS: &[&str] =
    &["## Meaning", "## Impact", "## First steps", "## Causes", "## Fix", "## Escalation"];
/// PromQL keywords and functions.
const WORDS: &[&str] = &["and", "or", "unless", "by", "without", "on", "ignoring", "bool", "offset"];
/// PromQL keywords with labels in parentheses.
const GROUPING: &[&str] = &["by", "without", "on", "ignoring"];
/// The suffixes of a histogram.
const PARTS: [&str; 3] = ["_bucket", "_sum", "_count"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository").to_owned()
}

/// The files of a folder with this extension, by name.
fn files(folder: &str, ending: &str) -> BTreeMap<String, String> {
    let folder = root().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries
        .map(|entry| entry.unwrap())
        .filter(|file| file.path().extension().is_some_and(|found| found == ending));
    let found: BTreeMap<_, _> = files
        .map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            (name, fs::read_to_string(file.path()).unwrap())
        })
        .collect();
    assert!(!found.is_empty(), "{} is empty", folder.display());
    found
}

/// All metrics that macros of the `metrics` crate record in crates and services.
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

/// The metrics in an expression.
fn queried(expression: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = without_labels(expression);
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        let word_on = &rest[start..];
        let end = word_on.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (word, after) = word_on.split_at(end.unwrap_or(word_on.len()));
        let before = rest[..start].chars().next_back();
        let is_function = after.trim_start().starts_with('(');
        // Skip numbers such as `5m` and `1e6`.
        let is_number = before.is_some_and(|letter| letter.is_ascii_digit() || letter == '$');
        if !is_function && !is_number && !WORDS.contains(&word) {
            names.insert(word.to_owned());
        }
        rest = after.to_owned();
    }
    names
}

/// Removes text in braces, brackets and quotes, and the labels of groupings.
fn without_labels(expression: &str) -> String {
    let mut text = expression.to_owned();
    for (open, close) in [('"', '"'), ('{', '}'), ('[', ']')] {
        while let Some((before, rest)) = text.split_once(open) {
            let (_, after) =
                rest.split_once(close).unwrap_or_else(|| panic!("{open} is not closed: {expression}"));
            text = format!("{before} {after}");
        }
    }
    for word in GROUPING {
        while let Some((before, rest)) = text.split_once(&format!(" {word} (")) {
            let (_, after) = rest.split_once(')').unwrap_or_else(|| panic!("( is not closed: {expression}"));
            text = format!("{before} {after}");
        }
    }
    text
}

/// The metrics in the document, including those of other systems.
fn documented() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("proto-docs/METRICS.md")).unwrap();
    let names: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let unique: BTreeSet<_> = names.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(unique.len(), names.len(), "METRICS.md lists a metric twice");
    unique
}

/// The metrics of other systems.
fn of_others() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("proto-docs/METRICS.md")).unwrap();
    let (_, others) =
        text.split_once("## Other systems").expect("METRICS.md has a section about other systems");
    others.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).map(str::to_owned).collect()
}

fn is_known(name: &str, documented: &BTreeSet<String>) -> bool {
    let of_histogram = PARTS.iter().filter_map(|part| name.strip_suffix(part));
    documented.contains(name) || of_histogram.into_iter().any(|base| documented.contains(base))
}

/// The values of a key in a YAML file of rules, on one line or folded.
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

/// The queries of a dashboard.
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

/// The expressions of alerts and dashboards, each with its file.
fn expressions() -> Vec<(String, String)> {
    let mut expressions = Vec::new();
    for (name, text) in files("deploy/alerts", "yaml") {
        let found = values(&text, "expr");
        assert_eq!(found.len(), values(&text, "alert").len(), "{name}: each alert has an expression");
        expressions.extend(found.into_iter().map(|expression| (format!("alerts/{name}"), expression)));
    }
    for (name, text) in files("deploy/dashboards", "json") {
        let dashboard = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut found = Vec::new();
        queries(&dashboard, &mut found);
        assert!(!found.is_empty(), "{name} has no queries");
        expressions.extend(found.into_iter().map(|expression| (format!("dashboards/{name}"), expression)));
    }
    expressions
}

#[test]
fn the_document_lists_the_recorded_metrics() {
    let (recorded, documented, of_others) = (recorded(), documented(), of_others());
    let undocumented: Vec<_> = recorded.difference(&documented).collect();
    assert!(undocumented.is_empty(), "not in METRICS.md: {undocumented:?}");
    let by_name = |name: &&String| !NOT_BY_NAME.iter().any(|other| name.starts_with(other));
    let ours = documented.difference(&of_others).filter(by_name);
    let gone: Vec<_> = ours.filter(|name| !recorded.contains(*name)).collect();
    assert!(gone.is_empty(), "METRICS.md lists metrics that no code records: {gone:?}");
}

#[test]
fn alerts_and_dashboards_query_existing_metrics() {
    let documented = documented();
    for (file, expression) in expressions() {
        let queried = queried(&expression);
        assert!(!queried.is_empty(), "{file} queries no metric: {expression}");
        for name in queried {
            assert!(is_known(&name, &documented), "{file}: METRICS.md has no {name}, as in {expression}");
        }
    }
}

/// Two installations may share a Prometheus and a Grafana.
#[test]
fn every_metric_is_queried_by_namespace() {
    for (file, expression) in expressions() {
        let value = if file.starts_with("alerts/") { ".*" } else { "$namespace" };
        // Hides the metrics that have the matcher: `queried` takes a name before a parenthesis for a function.
        let others = queried(&expression.replace(&format!("{{namespace=~\"{value}\""), "({"));
        assert!(others.is_empty(), "{file}: {others:?} without namespace=~\"{value}\", in {expression}");
    }
}

/// The Helm chart replaces the beginning of each uid.
#[test]
fn only_the_uid_of_a_dashboard_begins_with_waybill() {
    for (name, text) in files("deploy/dashboards", "json") {
        let uid = format!("\n  \"uid\": \"waybill-{}\",\n", name.trim_end_matches(".json"));
        assert!(text.contains(&uid), "{name} has another uid");
        assert_eq!(text.matches("\"uid\": \"waybill-").count(), 1, "{name}");
    }
}

#[test]
fn every_alert_has_its_runbook_and_every_runbook_its_alert() {
    let mut alerts = BTreeSet::new();
    for (file, text) in files("deploy/alerts", "yaml") {
        let names = values(&text, "alert");
        for key in ["severity", "summary", "description"] {
            assert_eq!(values(&text, key).len(), names.len(), "{file}: an alert without {key}");
        }
        let runbooks = values(&text, "runbook_url");
        assert_eq!(runbooks.len(), names.len(), "{file}: an alert without runbook_url");
        for (name, runbook) in names.iter().zip(&runbooks) {
            // The on-call engineer may have no access to the repository.
            let is_runbook = runbook.starts_with("https://") && runbook.ends_with(&format!("/{name}.md"));
            assert!(is_runbook, "{file}: the runbook of {name} is {runbook}");
        }
        for severity in values(&text, "severity") {
            assert!(["critical", "warning"].contains(&severity.as_str()), "{file}: {severity}");
        }
        for name in names {
            assert!(alerts.insert(name.clone()), "{name} is defined twice");
        }
    }
    let mut runbooks = files("proto-docs/runbooks", "md");
    // The other runbooks are for planned work.
    runbooks.retain(|file, _| file.starts_with("Waybill"));
    let of_runbooks: BTreeSet<_> =
        runbooks.keys().map(|file| file.trim_end_matches(".md").to_owned()).collect();
    assert_eq!(alerts, of_runbooks);
    for (file, text) in &runbooks {
        assert!(
            text.starts_with(&format!("# {}\n", file.trim_end_matches(".md"))),
            "{file} has another name"
        );
        for section in SECTIONS {
            let said =
                text.split_once(section).map(|(_, rest)| rest.split("\n## ").next().unwrap_or_default());
            assert!(said.is_some_and(|said| said.trim().len() > 5), "{file}: {section} is empty");
        }
        for (_, link) in text.match_indices("](").map(|(at, _)| text.split_at(at + 2)) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            let there = root().join("proto-docs/runbooks").join(target).exists();
            assert!(there || target.starts_with("http"), "{file}: {target} leads nowhere");
        }
    }
}

#[test]
fn every_alert_has_a_test_of_each_of_its_states() {
    let (rules, tests) = (files("deploy/alerts", "yaml"), files("tests/alerts", "yaml"));
    assert_eq!(rules.keys().collect::<Vec<_>>(), tests.keys().collect::<Vec<_>>());
    for (file, rules) in &rules {
        let tests = &tests[file];
        let loads = format!("\n  - ../../deploy/alerts/{file}\n");
        assert!(tests.contains(&loads), "tests/alerts/{file} does not load the rules that it tests");
        for rule in rules.split("- alert: ").skip(1) {
            let name = rule.lines().next().unwrap_or_default();
            let mut outcomes = vec!["exp_samples: []", "alertstate=\"firing\""];
            if !values(rule, "for").is_empty() {
                outcomes.push("alertstate=\"pending\"");
            }
            let asks = format!("ALERTS{{alertname=\"{name}\"}}\n");
            let expectations: Vec<_> =
                tests.split("- expr: ").filter(|expectation| expectation.starts_with(&asks)).collect();
            for outcome in outcomes {
                let is_expected = expectations.iter().any(|expectation| expectation.contains(outcome));
                assert!(is_expected, "tests/alerts/{file} never expects {outcome} of {name}");
            }
        }
    }
}

#[test]
fn the_tests_of_alerts_pass() {
    let tests = files("tests/alerts", "yaml").into_keys();
    promtool(tests.map(|file| root().join("tests/alerts").join(file)));
}

/// With the rules that the Helm chart makes for the namespace `a`.
#[test]
fn the_alerts_of_two_installations_do_not_mix() {
    let folder = std::env::temp_dir().join(format!("waybill-alerts-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for (file, rules) in files("deploy/alerts", "yaml") {
        let rules = rules.replace(r#"namespace=~".*""#, r#"namespace="a""#);
        let rules = rules.replace("          severity:", "          namespace: a\n          severity:");
        fs::write(folder.join(file), rules).unwrap();
    }
    let test = folder.join("test.yaml");
    fs::copy(root().join("tests/alerts/namespaces/two-installations.yaml"), &test).unwrap();
    promtool([test]);
    fs::remove_dir_all(&folder).unwrap();
}

fn promtool(tests: impl IntoIterator<Item = PathBuf>) {
    let output = Command::new("promtool")
        .args(["test", "rules"])
        .args(tests)
        .output()
        .expect("promtool runs; sh crates/local-stack/install-system-packages.sh prometheus installs it");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

/// Every alert has a panel with its metric.
#[test]
fn each_metric_of_an_alert_is_on_a_dashboard() {
    let mut shown = BTreeSet::new();
    for text in files("deploy/dashboards", "json").values() {
        let mut found = Vec::new();
        queries(&serde_json::from_str(text).unwrap(), &mut found);
        shown.extend(found.iter().flat_map(|expression| queried(expression)));
    }
    let mut watched = BTreeSet::new();
    for text in files("deploy/alerts", "yaml").values() {
        watched.extend(values(text, "expr").iter().flat_map(|expression| queried(expression)));
    }
    let of_others = of_others();
    let missing: Vec<_> = watched.difference(&shown).filter(|name| !of_others.contains(*name)).collect();
    assert!(missing.is_empty(), "no panel shows {missing:?}");
}

/// Every webhook metric that operators need has a panel.
#[test]
fn every_webhook_metric_has_a_panel() {
    let dashboard: Value =
        serde_json::from_str(&files("deploy/dashboards", "json")["webhooks.json"]).unwrap();
    let mut found = Vec::new();
    queries(&dashboard, &mut found);
    let shown: BTreeSet<String> = found.iter().flat_map(|expression| queried(expression)).collect();
    for metric in [
        "webhook_oldest_due_age_seconds",
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
        ("a / ignoring (state) b", vec!["a", "b"]),
    ] {
        let found: Vec<_> = queried(expression).into_iter().collect();
        assert_eq!(found, metrics, "{expression}");
    }
    assert!(!is_known("nonsense_total", &documented()));
    assert!(is_known("webhook_first_attempt_lag_seconds_bucket", &documented()));
}
