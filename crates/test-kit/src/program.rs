//! A service's program as a child process.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use serde_json::Value;
use settings::{Broker, Database};
use url::Url;

use crate::{is_ready, until};

/// A running program, killed at the end of the test.
pub struct Program {
    child: Child,
    addresses: Receiver<Url>,
    /// Reads the whole log, so that the program never blocks on its output.
    log: Option<JoinHandle<String>>,
}

impl Program {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let log = child.stdout.take().expect("its log");
        let (listening, addresses) = mpsc::channel();
        Self { child, addresses, log: Some(thread::spawn(move || read(log, &listening))) }
    }

    /// The address in the next log line about a listener: public (where there is one), internal, management.
    pub fn next_address(&self) -> Url {
        self.addresses.recv().expect("the program listens before it ends")
    }

    /// Waits until the program serves without a public listener. Returns the internal and management addresses.
    pub async fn serves(&self) -> (Url, Url) {
        let (internal, management) = (self.next_address(), self.next_address());
        until("the program is ready", async || is_ready(&management).await).await;
        (internal, management)
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().expect("the program runs");
        self.child.wait().expect("the program ends");
    }

    /// `TERM`, `STOP`, `CONT` and so on.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().expect("kill runs").success());
    }

    /// SIGTERM. Asserts that the program succeeds, and returns its log.
    pub fn stop(mut self) -> String {
        self.signal("TERM");
        let status = self.child.wait().expect("the program ends");
        let log = self.log.take().expect("the log is taken once").join().expect("a log in UTF-8");
        assert!(status.success(), "{status}: {log}");
        log
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn read(log: ChildStdout, listening: &Sender<Url>) -> String {
    let mut read = String::new();
    for line in BufReader::new(log).lines() {
        let line = line.expect("a log line");
        if let Some(address) = listener(&line) {
            // An error means that the test is not interested.
            let _unread = listening.send(address);
        }
        read.push_str(&line);
        read.push('\n');
    }
    read
}

fn listener(line: &str) -> Option<Url> {
    let line: Value = serde_json::from_str(line).ok()?;
    let address = (line["message"] == "listening").then(|| line["address"].as_str()).flatten()?;
    Url::parse(&format!("http://{address}/")).ok()
}

/// `program argument` on this database and broker, with listeners on free ports.
pub fn service_command(program: &str, argument: &str, database: &Database, broker: &Broker) -> Command {
    let mut command = Command::new(program);
    command
        .arg(argument)
        .env("WAYBILL_DATABASE__URL", database.url.expose())
        .env("WAYBILL_BROKER__URL", broker.url.expose())
        .env("WAYBILL_HTTP__INTERNAL", "127.0.0.1:0")
        .env("WAYBILL_HTTP__MANAGEMENT", "127.0.0.1:0");
    command
}
