//! What the demo keeps beside the stack's data, so that a second run goes on with the same business.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// The demo business's webhook endpoint: its id, and the secret that was shown once.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptEndpoint {
    pub(crate) id: String,
    pub(crate) secret: String,
}

fn path(directory: &Path) -> PathBuf {
    directory.join("demo-endpoint.json")
}

/// None before the first run has registered it.
pub(crate) fn load(directory: &Path) -> anyhow::Result<Option<KeptEndpoint>> {
    match std::fs::read(path(directory)) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).context("demo-endpoint.json")?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Readable by the owner alone: it holds a secret.
pub(crate) fn save(directory: &Path, endpoint: &KeptEndpoint) -> anyhow::Result<()> {
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
