//! The plans of the services' statements with their execution, from the log of PostgreSQL's `auto_explain`.

use std::collections::BTreeSet;

use anyhow::Context;
use local_stack::{Part, Service, Stack, query};
use serde_json::Value;
use url::Url;

const SETTINGS: [(&str, &str); 6] = [
    ("session_preload_libraries", "auto_explain"),
    ("auto_explain.log_min_duration", "0"),
    ("auto_explain.log_analyze", "on"),
    ("auto_explain.log_timing", "off"),
    // Including those of triggers and references.
    ("auto_explain.log_nested_statements", "on"),
    ("auto_explain.log_format", "json"),
];

/// An executed statement.
pub(super) struct Plan {
    /// Without quotation marks, and with single spaces.
    pub sql: String,
    root: Value,
}

impl Plan {
    /// The partitions of any table that were searched.
    pub(super) fn partitions(&self) -> BTreeSet<u32> {
        let scans = self.nodes().filter(|node| {
            let is_scan = node["Node Type"].as_str().is_some_and(|kind| kind.ends_with("Scan"));
            is_scan && node["Actual Loops"].as_f64().is_some_and(|loops| loops > 0.0)
        });
        scans.filter_map(|scan| partition(scan["Relation Name"].as_str()?)).collect()
    }

    /// Upserts: the table and the conflict action.
    pub(super) fn upserts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.nodes()
            .filter_map(|node| Some((node["Relation Name"].as_str()?, node["Conflict Resolution"].as_str()?)))
    }

    fn nodes(&self) -> impl Iterator<Item = &Value> {
        let mut waiting = vec![&self.root];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            waiting.extend(node["Plans"].as_array().into_iter().flatten());
            Some(node)
        })
    }
}

/// The number of the partition with this name.
pub(super) fn partition(name: &str) -> Option<u32> {
    name.rsplit_once("_p")?.1.parse().ok()
}

/// Effective from the service's next connection on.
pub(super) async fn log_plans(stack: &Stack, service: Service) -> anyhow::Result<()> {
    let role = Url::parse(stack.database_url(service))?.username().to_owned();
    let settings = SETTINGS.map(|(name, value)| format!("ALTER ROLE {role} SET {name} = {value};"));
    query(&stack.admin_url()?, &format!("LOAD 'auto_explain';{}", settings.concat())).await.map(drop)
}

/// Runs SQL in a service's database without logging its plan.
pub(super) async fn look(stack: &Stack, service: Service, sql: &str) -> anyhow::Result<String> {
    let mut url = Url::parse(&stack.admin_url()?)?;
    url.set_path(Url::parse(stack.database_url(service))?.path());
    query(url.as_str(), sql).await
}

/// The errors of the service's statements so far.
pub(super) fn errors(stack: &Stack, service: Service) -> anyhow::Result<Vec<String>> {
    let (log, whose) = (log(stack)?, whose(stack, service)?);
    let errors = log.lines().filter(|line| line.contains(&whose) && line.contains(" ERROR:  "));
    Ok(errors.map(str::to_owned).collect())
}

/// The plans of the service's statements so far.
pub(super) fn plans(stack: &Stack, service: Service) -> anyhow::Result<Vec<Plan>> {
    let (log, whose) = (log(stack)?, whose(stack, service)?);
    let mut plans = Vec::new();
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        if !(line.contains(&whose) && line.ends_with(" plan:")) {
            continue;
        }
        let mut json = String::new();
        // The lines of a message are indented.
        while let Some(line) = lines.next_if(|line| line.starts_with('\t')) {
            json.push_str(line);
        }
        let plan: Value = serde_json::from_str(&json)?;
        let sql = plan["Query Text"].as_str().context("a plan without its statement")?.replace('"', "");
        let sql = Vec::from_iter(sql.split_whitespace()).join(" ");
        plans.push(Plan { sql, root: plan["Plan"].clone() });
    }
    Ok(plans)
}

fn log(stack: &Stack) -> anyhow::Result<String> {
    Ok(std::fs::read_to_string(stack.log(Part::Postgres))?)
}

/// The service's name in the server's log.
fn whose(stack: &Stack, service: Service) -> anyhow::Result<String> {
    Ok(format!(" {}@", Url::parse(stack.database_url(service))?.username()))
}
