//! The test's own Prometheus, from the system's packages: on its own port, with its data in the stack's folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, ensure};
use demo::clients::Api;
use demo::eventually;
use local_stack::Stack;
use reqwest::Method;
use serde_json::Value;
use tokio::process::{Child, Command};
use waybill_tests::PATIENCE;

const MISSING: &str =
    "Prometheus is missing: sh crates/local-stack/install-system-packages.sh prometheus installs it";

pub(crate) struct Prometheus {
    api: Api,
    process: Child,
}

impl Prometheus {
    /// Scrapes the services that `stack.json` names, every second, with all rules of `deploy/alerts`.
    pub(crate) async fn start(stack: &Stack) -> anyhow::Result<Self> {
        let folder = stack.directory().join("prometheus");
        fs::create_dir_all(&folder)?;
        let file = folder.join("prometheus.yml");
        fs::write(&file, configuration(stack)?)?;
        let port = local_stack::free_port()?;
        let log = fs::File::create(stack.directory().join("logs/prometheus.log"))?;
        let process = Command::new("setpriv")
            // It must not outlive the test.
            .args([
                "--pdeathsig",
                "KILL",
                "prometheus",
                "--log.level=warn",
                "--storage.tsdb.retention.time=1h",
            ])
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        let api = Api::new(format!("http://127.0.0.1:{port}"))?;
        let mut started = Self { api, process };
        eventually("Prometheus to be ready", PATIENCE, || {
            let request = started.api.request(Method::GET, "/-/ready");
            let (api, ended) = (&started.api, started.process.try_wait());
            async move {
                ensure!(ended?.is_none(), "{MISSING}, or its log says more");
                Ok(api.send(request).await.ok().filter(|reply| reply.status.is_success()))
            }
        })
        .await?;
        Ok(started)
    }

    pub(crate) async fn get(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Value> {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        let reply = self.api.send(self.api.request(Method::GET, &format!("{path}?{query}"))).await?;
        ensure!(reply.body["status"] == "success", "{path}?{query}: {}", reply.text);
        Ok(reply.body["data"].clone())
    }

    /// The current series of an expression.
    pub(crate) async fn query(&self, expression: &str) -> anyhow::Result<Vec<Value>> {
        let data = self.get("/api/v1/query", &[("query", expression)]).await?;
        data["result"].as_array().cloned().with_context(|| format!("no list: {expression}"))
    }

    /// Every alert, by name and state: `inactive`, `pending` or `firing`.
    pub(crate) async fn alerts(&self) -> anyhow::Result<Vec<Value>> {
        let data = self.get("/api/v1/rules", &[("type", "alert")]).await?;
        let groups = data["groups"].as_array().cloned().unwrap_or_default();
        Ok(groups.iter().flat_map(|group| group["rules"].as_array().cloned().unwrap_or_default()).collect())
    }

    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        self.process.kill().await.context("Prometheus cannot be stopped")
    }
}

/// The files of a folder of the repository with this extension.
pub(crate) fn files(folder: &str, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).canonicalize()?;
    let paths = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = paths.collect::<anyhow::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|found| found == ending));
    files.sort();
    ensure!(!files.is_empty(), "{} is empty", folder.display());
    Ok(files)
}

fn configuration(stack: &Stack) -> anyhow::Result<String> {
    let description: Value = serde_json::from_slice(&fs::read(stack.directory().join("stack.json"))?)?;
    let management =
        description["management"].as_object().context("stack.json names the services' metrics")?;
    let targets: Vec<&str> =
        management.values().filter_map(|url| url.as_str()?.strip_prefix("http://")).collect();
    let rules = files("deploy/alerts", "yaml")?;
    // JSON is also YAML.
    let configuration = serde_json::json!({
        "global": { "scrape_interval": "1s", "evaluation_interval": "1s" },
        "rule_files": rules,
        "scrape_configs": [
            { "job_name": "waybill", "honor_labels": true, "static_configs": [{ "targets": targets }] }
        ],
    });
    Ok(serde_json::to_string_pretty(&configuration)?)
}
