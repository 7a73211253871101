//! `local-stack with-servers` passes the servers to its command, returns its exit code, and leaves nothing behind.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use test_kit::until;

/// Starts the program with a shell script as its command.
fn with_servers(script: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_local-stack"))
        .args(["with-servers", "--", "sh", "-c", script])
        .env_remove("WAYBILL_TEST_SERVERS")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The directory of the servers that the process started, once it is there.
fn directory_of(process: &Child) -> Option<PathBuf> {
    let stacks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-stacks");
    let prefix = format!("{}-", process.id());
    let found = fs::read_dir(fs::canonicalize(stacks).ok()?).ok()?.flatten();
    found
        .map(|entry| entry.path())
        .find(|path| path.file_name().unwrap().to_string_lossy().starts_with(&prefix))
}

fn processes_of(directory: &Path) -> usize {
    let directory = directory.to_string_lossy().into_owned();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let words = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    words.filter(|words| String::from_utf8_lossy(words).contains(&directory)).count()
}

#[tokio::test]
async fn the_command_gets_the_servers_and_its_exit_code_is_returned() {
    let mut process = with_servers("grep -q postgres \"$WAYBILL_TEST_SERVERS\" && exit 7");
    until("the servers have a directory", async || directory_of(&process).is_some()).await;
    let directory = directory_of(&process).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(7));
    assert!(!directory.exists());
    until("the servers are gone", async || processes_of(&directory) == 0).await;
}

#[tokio::test]
async fn nothing_outlives_a_supervisor_that_is_killed() {
    let mut process = with_servers("touch \"$WAYBILL_TEST_SERVERS.seen\"; read -r _");
    let seen =
        || directory_of(&process).is_some_and(|directory| directory.join("servers.json.seen").exists());
    until("the command runs", async || seen()).await;
    let directory = directory_of(&process).unwrap();
    assert!(processes_of(&directory) > 0);
    process.kill().unwrap();
    process.wait().unwrap();
    until("the servers end", async || processes_of(&directory) == 0).await;
    until("the directory goes", async || !directory.exists()).await;
}
