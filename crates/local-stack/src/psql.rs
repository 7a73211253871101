//! SQL by `psql`: for the stack's own housekeeping, and for tests that look into a service's database.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, ensure};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;
use url::Url;

const LIMIT: Duration = Duration::from_secs(60);

/// Runs SQL in the database of the URL and answers what it printed: a line per row, `|` between columns.
///
/// # Errors
/// When the server refuses a statement or cannot be reached; what follows the statement has then not been run.
pub async fn query(url: &str, sql: &str) -> anyhow::Result<String> {
    run(&crate::postgres::newest_psql()?, url, sql).await
}

pub(crate) async fn run(psql: &Path, url: &str, sql: &str) -> anyhow::Result<String> {
    let url = Url::parse(url).context("the database's URL")?;
    let mut command = Command::new(psql);
    command
        .env_clear()
        .envs([("LANG", "C.UTF-8"), ("PGCONNECT_TIMEOUT", "5")])
        // Not among the arguments, which every account of the machine can see.
        .env("PGPASSWORD", url.password().unwrap_or_default())
        .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--no-password"])
        .args(["--set=ON_ERROR_STOP=1", &format!("--username={}", url.username())])
        .args([&format!("--host={}", url.host_str().unwrap_or_default())])
        .args([&format!("--port={}", url.port().unwrap_or_default())])
        .args([&format!("--dbname={}", url.path().trim_start_matches('/'))])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut process = command.spawn().with_context(|| format!("starting {}", psql.display()))?;
    let mut input = process.stdin.take().context("psql has no input")?;
    let work = async {
        // A psql that could not connect does not read; its exit status and message say more than a broken pipe.
        let _written = input.write_all(sql.as_bytes()).await;
        drop(input);
        process.wait_with_output().await
    };
    let output = timeout(LIMIT, work).await.context("psql took too long")??;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", message.trim());
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}
