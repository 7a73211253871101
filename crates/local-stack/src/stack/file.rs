//! `stack.json`, through which scripts and tests find a running stack.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::saved_state::Demo;
use crate::part::Part;
use crate::paths;
use crate::supervised::Notice;

/// The content of the file. Scripts rely on these fields.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    pub(super) order_api: String,
    pub(super) portal_api: String,
    pub(super) portal_web: String,
    /// The origin of the console's own listener. The console is at `portal_api` too.
    pub(super) operator_console: String,
    /// The management address of each service: health and metrics.
    pub(super) management: BTreeMap<&'static str, String>,
    pub(super) fleet_token: String,
    pub(super) operator_token: String,
    pub(super) databases: BTreeMap<&'static str, String>,
    pub(super) broker: String,
    /// The directory of the mails.
    pub(super) mails: PathBuf,
    pub(super) pids: BTreeMap<&'static str, u32>,
    pub(super) demo: Option<Demo>,
}

/// The file. It is written when everything is ready, and at each change afterwards.
pub(super) struct StackFile {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    content: Content,
    is_published: bool,
}

impl StackFile {
    /// Writes nothing yet, and removes the file of a killed run.
    pub(super) fn new(path: PathBuf) -> anyhow::Result<Self> {
        remove(&path)?;
        Ok(Self { path, state: Mutex::default() })
    }

    /// Sets everything except the process ids, which [`StackFile::note`] collects.
    pub(super) fn describe(&self, content: Content) {
        let mut state = self.state();
        let pids = std::mem::take(&mut state.content.pids);
        state.content = Content { pids, ..content };
    }

    /// Writes the file now and at each later change.
    pub(super) fn publish(&self) -> anyhow::Result<()> {
        let mut state = self.state();
        state.is_published = true;
        self.write(&state)
    }

    pub(super) fn set_demo(&self, demo: Option<Demo>) -> anyhow::Result<()> {
        let mut state = self.state();
        state.content.demo = demo;
        self.write(&state)
    }

    /// Keeps the process ids current. The entry of a dead process stays until its successor has started.
    pub(super) fn note(&self, notice: &Notice) -> anyhow::Result<()> {
        let Notice::Started { name, pid } = notice else { return Ok(()) };
        let Some(part) = Part::named(name) else { return Ok(()) };
        let mut state = self.state();
        state.content.pids.insert(part.name(), *pid);
        self.write(&state)
    }

    /// Removes the file, because the stack is gone.
    pub(super) fn withdraw(&self) -> anyhow::Result<()> {
        self.state().is_published = false;
        remove(&self.path)
    }

    fn write(&self, state: &State) -> anyhow::Result<()> {
        if !state.is_published {
            return Ok(());
        }
        paths::write_private(&self.path, &serde_json::to_vec_pretty(&state.content)?)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remove(path: &PathBuf) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_lists_the_current_processes() {
        let directory = std::env::temp_dir().join(format!("waybill-stack-file-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("stack.json");
        let pid_of = |name: &str| {
            let text = fs::read(&path).unwrap();
            serde_json::from_slice::<serde_json::Value>(&text).unwrap()["pids"][name].clone()
        };
        let started = |name: &str, pid| Notice::Started { name: name.into(), pid };

        let file = StackFile::new(path.clone()).unwrap();
        file.note(&started("wallet", 10)).unwrap();
        file.note(&started("epmd", 11)).unwrap();
        assert!(!path.exists());
        file.describe(Content { broker: "amqp://".into(), ..Content::default() });
        file.publish().unwrap();
        assert_eq!(pid_of("wallet"), 10);
        assert_eq!(pid_of("epmd"), serde_json::Value::Null);
        file.note(&started("wallet", 12)).unwrap();
        assert_eq!(pid_of("wallet"), 12);
        file.withdraw().unwrap();
        file.note(&started("wallet", 13)).unwrap();
        assert!(!path.exists());
        fs::remove_dir_all(&directory).unwrap();
    }
}
