//! Certificates of authorities in PEM.

use std::path::Path;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::file_contents::contents;

/// Larger than a system's whole collection, which has a few hundred certificates.
const FILE_MAX_BYTES: u64 = 1024 * 1024;

/// One or more certificates in PEM, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline, with = "String")]
pub struct Certificates {
    pem: String,
    ders: Vec<CertificateDer<'static>>,
}

impl Certificates {
    /// # Errors
    /// Describes the problem of a text without certificates.
    pub fn parse(pem: String) -> Result<Self, String> {
        let ders = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>();
        let ders = ders.map_err(|error| format!("is not PEM: {error}"))?;
        if ders.is_empty() {
            return Err("contains no certificate (-----BEGIN CERTIFICATE-----)".into());
        }
        Ok(Self { pem, ders })
    }

    /// # Errors
    /// When the file cannot be read or contains no certificate. The error names the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = contents(path, FILE_MAX_BYTES)
            .map_err(|error| format!("{}, which cannot be read: {error}", path.display()))?;
        Self::parse(text).map_err(|error| format!("{}, which {error}", path.display()))
    }

    pub fn as_slice(&self) -> &[CertificateDer<'static>] {
        &self.ders
    }
}

impl TryFrom<String> for Certificates {
    type Error = String;

    fn try_from(pem: String) -> Result<Self, String> {
        Self::parse(pem)
    }
}

impl From<Certificates> for String {
    fn from(certificates: Certificates) -> Self {
        certificates.pem
    }
}
