//! Retired names and dangling references.

use std::collections::BTreeSet;
use std::path::Path;

use super::{none, root, sources};

const TEXTS: &[&str] = &["rs", "md", "sql", "toml", "yaml", "yml", "json", "ts", "tsx", "py", "sh", "html"];

/// Retired names and their replacements. They are written in two halves, so that this file does not report itself.
const RETIRED: &[(&str, &str)] = &[
    (concat!("Door", "bell"), "Outbox"),
    (concat!("door", "bell"), "outbox"),
    (concat!("Good", "Key"), "AuthenticatedKey"),
    (concat!("Driv", "en"), "Settlement"),
    (concat!("Amb", "ient"), "Unit, or a context"),
    (concat!("Key", "Verdicts"), "KeyCache"),
    (concat!("Ordering", "Verdicts"), "LiveAccessCache"),
    (concat!("verd", "icts"), "cache"),
    (concat!("Test", "ers"), "FirstTestOrderCache"),
    (concat!("Fault", "List"), "FieldErrors"),
    (concat!("Susp", "ects"), "Candidates"),
    (concat!("in_", "hand"), "in_flight"),
    (concat!("In", "Hand"), "InFlight"),
    (concat!("stepped ", "aside"), "skipped"),
    (concat!("parked_", "events"), "held_back_events"),
    (concat!("Books", "Wrong"), "LedgerInconsistent"),
    (concat!("Disk", "Fills"), "DiskFillingUp"),
    (concat!("Files", "Scarce"), "FileDescriptorsLow"),
    (concat!("Mails", "GivenUp"), "MailDeliveryFailed"),
    (concat!("back ", "end"), "backend"),
    (concat!("back-", "end"), "backend"),
];

/// Exempt, because it is a queue's name on the broker.
const ON_THE_WIRE: &str = concat!("order-api.verd", "icts");

/// Exempt: the changelog lists renamed things, and recorded releases keep their names.
const HISTORY: &[&str] = &["proto-docs/operators/changelog.md", "tests/releases/"];

fn is_word(text: &str, at: usize, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric();
    !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
}

#[test]
fn retired_names_stay_retired() {
    let mut breaches = Vec::new();
    for (path, text) in sources(TEXTS) {
        if HISTORY.iter().any(|history| path.starts_with(history)) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            let line = line.replace(ON_THE_WIRE, "");
            let found = RETIRED
                .iter()
                .filter(|(name, _)| line.match_indices(name).any(|(at, _)| is_word(&line, at, name)));
            breaches.extend(found.map(|(name, now)| format!("{path}:{}: {name}; use {now}", index + 1)));
        }
    }
    none(breaches, "Use the replacements of these names:");
}

/// Every cited section of the specification exists.
#[test]
fn citations_resolve() {
    let foreign = [concat!("`spec", ".md`"), concat!("design", ".md"), concat!("house", ".md")];
    let specification =
        std::fs::read_to_string(root().join("proto-docs/SPECIFICATION.md")).expect("it exists");
    let sections: BTreeSet<&str> = specification
        .lines()
        .filter_map(|line| line.strip_prefix("##")?.trim_start_matches('#').split_whitespace().next())
        .map(|number| number.trim_end_matches('.'))
        .collect();
    let mut breaches = Vec::new();
    for (path, text) in sources(TEXTS) {
        for (index, line) in text.lines().enumerate() {
            let place = || format!("{path}:{}: {}", index + 1, line.trim());
            if foreign.iter().any(|name| line.contains(name)) {
                breaches.push(place());
            }
            let cited =
                line.match_indices(concat!("SPECIFICATION", " §")).map(|(at, mark)| &line[at + mark.len()..]);
            let numbers = cited
                .map(|rest| rest.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default());
            // The last number may be that of an item in a section's list.
            let is_known = |number: &str| {
                let number = number.trim_end_matches('.');
                sections.contains(number)
                    || number.split_once('.').is_some_and(|(section, _)| matches!(section, "1" | "14"))
            };
            if numbers.into_iter().any(|number| !is_known(number)) {
                breaches.push(place());
            }
        }
    }
    none(breaches, "Cite a section of proto-docs/SPECIFICATION.md (`SPECIFICATION §4.2`):");
}

#[test]
fn links_resolve() {
    let pages = sources(&["md"]);
    let mut breaches = Vec::new();
    for (path, text) in &pages {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        for target in links(text) {
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = if file.is_empty() { path.clone() } else { normal(&folder.join(file)) };
            if !root().join(&to).exists() {
                breaches.push(format!("{path} → {target}"));
            } else if !anchor.is_empty() && pages.get(&to).is_some_and(|page| !anchors(page).contains(anchor))
            {
                breaches.push(format!("{path} → {target}: no such heading"));
            }
        }
    }
    none(breaches, "These links have no target:");
}

/// The relative targets of a page's links, except those in code.
fn links(page: &str) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in page.lines() {
        in_code ^= line.trim_start().starts_with("```");
        if in_code {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("` `");
        for (at, mark) in prose.match_indices("](") {
            let rest = &prose[at + mark.len()..];
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            let is_relative =
                !target.contains("://") && !target.starts_with("mailto:") && !target.starts_with('/');
            if is_relative && !target.is_empty() {
                found.push(target.to_owned());
            }
        }
    }
    found
}

/// The headings of a page as GitHub names them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings =
        page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let name = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
    };
    headings.map(name).collect()
}

fn normal(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(parts.pop()),
            std::path::Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}
