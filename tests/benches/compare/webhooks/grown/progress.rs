//! The progress of the large-table run, stored with the data for the next run.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Mode;
use serde::{Deserialize, Serialize};

use super::measure::Figures;
use crate::webhooks::Endpoint;

#[derive(Default)]
pub(super) struct Progress {
    path: PathBuf,
    pub(super) endpoints: Vec<Endpoint>,
    /// The measurements on the small table, one of each round.
    pub(super) small: Vec<Figures>,
}

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    /// Id, business and path of each.
    endpoints: Vec<(String, String, String)>,
    small: Vec<Figures>,
}

impl Progress {
    pub(super) fn load(directory: &Path) -> anyhow::Result<Self> {
        let path = directory.join("bench.json");
        let kept: Kept = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Kept::default(),
            Err(error) => return Err(error.into()),
        };
        let endpoints = kept.endpoints.into_iter().map(|(id, business, path)| {
            Ok(Endpoint { id: id.parse()?, business: business.parse()?, mode: Mode::Test, path })
        });
        Ok(Self { path, endpoints: endpoints.collect::<anyhow::Result<_>>()?, small: kept.small })
    }

    pub(super) fn save(&self) -> anyhow::Result<()> {
        let endpoints = self
            .endpoints
            .iter()
            .map(|endpoint| (endpoint.id.to_string(), endpoint.business.to_string(), endpoint.path.clone()));
        let kept = Kept { endpoints: endpoints.collect(), small: self.small.clone() };
        Ok(fs::write(&self.path, serde_json::to_vec_pretty(&kept)?)?)
    }
}
