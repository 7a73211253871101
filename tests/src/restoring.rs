//! Restores databases from dumps to earlier moments, and runs the services' `reconcile`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use local_stack::{Service, Stack, postgres_program};
use serde_json::{Value, json};

use crate::text;

pub const ALL: [Service; 5] = [
    Service::OrderApi,
    Service::Wallet,
    Service::KeyManagement,
    Service::PortalApi,
    Service::WebhookDispatcher,
];

/// Dumps each database while nothing is in progress.
pub fn dump(stack: &Stack, name: &str) -> anyhow::Result<PathBuf> {
    let folder = stack.directory().join(name);
    std::fs::create_dir_all(&folder)?;
    for service in ALL {
        let file = file_of(&folder, service);
        run(Command::new(postgres_program("pg_dump")?)
            .args(["--format=custom", "--no-owner"])
            .arg(format!("--file={}", file.display()))
            .arg(format!("--dbname={}", stack.database_url(service))))?;
    }
    Ok(folder)
}

fn file_of(folder: &Path, service: Service) -> PathBuf {
    folder.join(format!("{service:?}.dump"))
}

/// Stops the services, restores their databases from the dumps, and starts them again.
pub async fn restore(stack: &Stack, from: &Path, services: &[Service]) -> anyhow::Result<()> {
    for service in services {
        stack.stop(*service).await?;
    }
    for service in services {
        stack.query(*service, "DROP SCHEMA public CASCADE; CREATE SCHEMA public").await?;
        run(Command::new(postgres_program("pg_restore")?)
            .args(["--no-owner", "--exit-on-error"])
            .arg(format!("--dbname={}", stack.database_url(*service)))
            .arg(file_of(from, *service)))?;
    }
    for service in services {
        stack.bring_up(*service).await?;
    }
    for service in services {
        stack.ready(*service).await?;
    }
    Ok(())
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The findings of the service's `reconcile`, as `check subject`. Asserts its exit code.
pub async fn differences(stack: &Stack, service: Service, code: i32) -> anyhow::Result<BTreeSet<String>> {
    let output = stack.run(service, &["reconcile", "--json", "--patience", "0"]).await?;
    let printed = String::from_utf8(output.stdout)?;
    ensure!(output.status.code() == Some(code), "{printed}");
    let report: Value = serde_json::from_str(&printed)?;
    ensure!((&report["complete"], &report["underWay"]) == (&json!(true), &json!(0)), "{report}");
    let findings = report["findings"].as_array().context("findings")?;
    ensure!(report["total"] == findings.len(), "{report}");
    let named = findings.iter().map(|one| Ok(format!("{} {}", text(one, "check")?, text(one, "subject")?)));
    named.collect()
}
