//! The demo's own data, stored with the stack's data, so that a second run uses the same business.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// The demo business's webhook endpoint: its id and its secret, which the portal shows only once.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedEndpoint {
    pub(crate) id: String,
    pub(crate) secret: String,
}

fn path(directory: &Path) -> PathBuf {
    directory.join("demo-endpoint.json")
}

/// `None` before the first run has created the endpoint.
pub(crate) fn load(directory: &Path) -> anyhow::Result<Option<SavedEndpoint>> {
    match std::fs::read(path(directory)) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).context("demo-endpoint.json")?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Only the owner can read the file, because it contains a secret.
pub(crate) fn save(directory: &Path, endpoint: &SavedEndpoint) -> anyhow::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path(directory))?;
    file.write_all(&serde_json::to_vec_pretty(endpoint)?)?;
    Ok(())
}
