//! A service's `/metrics`, compared with `proto-docs/METRICS.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;

/// Labels that every series has, or that belong to its type.
const GIVEN: [&str; 3] = ["service", "le", "quantile"];

/// A metric, exposed or documented.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Metric {
    pub(crate) kind: String,
    pub(crate) labels: BTreeSet<String>,
}

/// A line of the document's tables.
pub(crate) struct Documented {
    pub(crate) metric: Metric,
    /// The services that have it, by name; `all` for all.
    of: BTreeSet<String>,
    /// Whether it exists from the start.
    pub(crate) from_the_start: bool,
}

impl Documented {
    pub(crate) fn is_of(&self, service: &str) -> bool {
        self.of.contains("all") || self.of.contains(service)
    }
}

/// Waybill's metrics, by name.
pub(crate) fn documented() -> anyhow::Result<BTreeMap<String, Documented>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto-docs/METRICS.md");
    let text = fs::read_to_string(file)?;
    let (ours, _) =
        text.split_once("## Other systems").context("METRICS.md has a section about other systems")?;
    let rows = ours.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, kind, labels, of, from, _] = cells.as_slice() else {
            anyhow::bail!("not six columns: {row}")
        };
        let words = |cell: &str| {
            let words = cell.split(',').map(|word| word.trim().trim_matches('`').to_owned());
            words.filter(|word| !word.is_empty()).collect()
        };
        let metric = Metric { kind: (*kind).to_owned(), labels: words(labels) };
        let line = Documented { metric, of: words(of), from_the_start: *from == "start" };
        Ok((name.trim_matches('`').to_owned(), line))
    })
    .collect()
}

/// The metrics of a page in the text format.
pub(crate) fn read(page: &str) -> anyhow::Result<BTreeMap<String, Metric>> {
    let mut metrics: BTreeMap<String, Metric> = BTreeMap::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').context("a TYPE has a name and a type")?;
        let metric = Metric { kind: kind.to_owned(), labels: BTreeSet::new() };
        anyhow::ensure!(metrics.insert(name.to_owned(), metric).is_none(), "{name} is exposed twice");
    }
    for line in page.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (name, rest) = line.split_once('{').with_context(|| format!("no label service: {line}"))?;
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part));
        let known = base.filter(|base| metrics.contains_key(*base)).unwrap_or(name);
        let metric = metrics.get_mut(known).with_context(|| format!("no TYPE: {line}"))?;
        let (labels, _) = rest.rsplit_once('}').with_context(|| format!("not closed: {line}"))?;
        let names = labels.split("\",").filter_map(|label| label.split('=').next());
        metric.labels.extend(names.map(str::to_owned).filter(|name| !GIVEN.contains(&name.as_str())));
    }
    Ok(metrics)
}
